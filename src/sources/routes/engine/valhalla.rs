//! Valhalla's route service: <https://valhalla.github.io/valhalla/api/turn-by-turn/api-reference/>.

use reqwest::Url;
use serde_json::{Value, json};

use super::{Leg, Options, Route, Step, amount, list, shown};
use crate::sources::geo::Point;

/// Error codes that say there is no way: no edge near a point, points too far apart or not connected, no
/// path (<https://valhalla.github.io/valhalla/api/turn-by-turn/api-reference/#internal-error-codes-and-conditions>).
const NO_WAY: [u64; 4] = [154, 170, 171, 442];

/// The address and the body to ask with.
pub(super) fn request(options: &Options, points: &[Point]) -> (Url, Value) {
    let mut url = options.url.clone();
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().push("route");
    }
    let locations: Vec<Value> =
        points.iter().map(|point| json!({"lat": point.latitude, "lon": point.longitude})).collect();
    let body = json!({
        "locations": locations,
        "costing": options.profile,
        "alternates": options.alternatives,
        "units": "kilometers",
        "language": options.language,
    });
    (url, body)
}

/// Reads an answer: the routes, or none where there is no way.
pub(super) fn read(status: u16, answer: &Value) -> Result<Vec<Route>, String> {
    if answer.get("error_code").and_then(Value::as_u64).is_some_and(|code| NO_WAY.contains(&code)) {
        return Ok(Vec::new());
    }
    let Some(best) = answer.get("trip") else { return Err(format!("answered with status {status}")) };
    let others = list(answer.get("alternates")).filter_map(|other| other.get("trip"));
    Ok(std::iter::once(best).chain(others).filter_map(route).collect())
}

fn route(trip: &Value) -> Option<Route> {
    let summary = trip.get("summary")?;
    Some(Route {
        duration: amount(summary.get("time"))?,
        distance: 1000.0 * amount(summary.get("length"))?,
        legs: list(trip.get("legs")).map(leg).collect::<Option<Vec<_>>>()?,
        line: None,
        traffic: None,
        incidents: None,
    })
}

fn leg(leg: &Value) -> Option<Leg> {
    let summary = leg.get("summary")?;
    Some(Leg {
        duration: amount(summary.get("time"))?,
        distance: 1000.0 * amount(summary.get("length"))?,
        line: leg.get("shape").and_then(Value::as_str).map(str::to_owned),
        steps: list(leg.get("maneuvers")).filter_map(step).collect(),
    })
}

fn step(maneuver: &Value) -> Option<Step> {
    Some(Step {
        instruction: shown(maneuver.get("instruction")),
        road: shown(list(maneuver.get("street_names")).next()),
        duration: amount(maneuver.get("time"))?,
        distance: 1000.0 * amount(maneuver.get("length"))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trip(time: f64) -> Value {
        json!({"summary": {"time": time, "length": 1.5}, "legs": [{
            "summary": {"time": time, "length": 1.5}, "shape": "abc",
            "maneuvers": [{"instruction": "Drive north on A Street.", "street_names": ["A Street"], "time": time, "length": 1.5}],
        }]})
    }

    #[test]
    fn reads_all_ways_the_best_first() {
        let answer = json!({"trip": trip(60.0), "alternates": [{"trip": trip(90.0)}, {"trip": {}}]});
        let routes = read(200, &answer).unwrap();
        assert_eq!(routes.iter().map(|route| route.duration).collect::<Vec<_>>(), [60.0, 90.0]);
        assert_eq!((routes[0].distance, routes[0].legs[0].line.as_deref()), (1500.0, Some("abc")));
        assert_eq!(routes[0].legs[0].steps[0].road, "A Street");
    }

    #[test]
    fn no_way_is_an_answer_and_trouble_is_none() {
        assert_eq!(
            read(400, &json!({"error_code": 442, "error": "No path could be found for input"})),
            Ok(vec![])
        );
        assert!(read(400, &json!({"error_code": 100})).is_err());
        assert!(read(200, &json!([])).is_err());
    }
}
