//! OSRM's route service, version 1: <https://project-osrm.org/docs/v5.24.0/api/#route-service>; Mapbox
//! Directions and others speak it, too.

use reqwest::Url;
use serde_json::Value;

use super::{Leg, Options, Route, Step, Traffic, amount, list, shown};
use crate::sources::geo::Point;

/// The address to ask at.
pub(super) fn address(options: &Options, points: &[Point]) -> Option<Url> {
    let mut url = options.url.clone();
    let coordinates: Vec<String> =
        points.iter().map(|point| format!("{:.6},{:.6}", point.longitude, point.latitude)).collect();
    let mut segments = url.path_segments_mut().ok()?;
    segments.pop_if_empty().extend(["route", "v1"]).extend(options.profile.split('/'));
    segments.push(&coordinates.join(";"));
    drop(segments);
    {
        let mut query = url.query_pairs_mut();
        query.append_pair("alternatives", &options.alternatives.to_string());
        query
            .append_pair("steps", "true")
            .append_pair("overview", "full")
            .append_pair("geometries", "polyline6");
        if options.congestion {
            query
                .append_pair("annotations", "congestion,distance")
                .append_pair("language", &options.language);
        }
        if let Some(key) = &options.key {
            query.append_pair("access_token", key.reveal());
        }
    }
    Some(url)
}

/// Reads an answer: the routes, or none where there is no way.
pub(super) fn read(status: u16, answer: &Value) -> Result<Vec<Route>, String> {
    match answer.get("code").and_then(Value::as_str) {
        Some("Ok") => Ok(list(answer.get("routes")).filter_map(route).collect()),
        Some("NoRoute" | "NoSegment") => Ok(Vec::new()),
        _ => Err(format!("answered with status {status}")),
    }
}

fn route(route: &Value) -> Option<Route> {
    let (mut all, mut moderate, mut heavy) = (0.0, 0.0, 0.0);
    let (mut known, mut incidents) = (false, None);
    let mut legs = Vec::new();
    for leg in list(route.get("legs")) {
        let annotation = leg.get("annotation");
        let lengths = list(annotation.and_then(|a| a.get("distance")));
        for (congestion, length) in list(annotation.and_then(|a| a.get("congestion"))).zip(lengths) {
            let length = amount(Some(length)).unwrap_or(0.0);
            all += length;
            match congestion.as_str() {
                Some("heavy" | "severe") => heavy += length,
                Some("moderate") => moderate += length,
                Some("low") => {}
                _ => continue,
            }
            known = true;
        }
        if let Some(met) = leg.get("incidents").and_then(Value::as_array) {
            *incidents.get_or_insert(0) += met.len();
        }
        legs.push(Leg {
            duration: amount(leg.get("duration"))?,
            distance: amount(leg.get("distance"))?,
            line: None,
            steps: list(leg.get("steps")).filter_map(step).collect(),
        });
    }
    Some(Route {
        duration: amount(route.get("duration"))?,
        distance: amount(route.get("distance"))?,
        traffic: known.then(|| Traffic::of(moderate, heavy, all)),
        legs,
        line: route.get("geometry").and_then(Value::as_str).map(str::to_owned),
        incidents,
    })
}

/// OSRM gives no sentences, only what to do and which way.
fn step(step: &Value) -> Option<Step> {
    let maneuver = step.get("maneuver");
    let part = |key: &str| shown(maneuver.and_then(|maneuver| maneuver.get(key)));
    let road = shown(step.get("name"));
    let instruction = match part("instruction") {
        said if !said.is_empty() => said,
        _ => {
            let on = if road.is_empty() { String::new() } else { format!("on {road}") };
            [part("type"), part("modifier"), on].join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
        }
    };
    Some(Step {
        instruction,
        road,
        duration: amount(step.get("duration"))?,
        distance: amount(step.get("distance"))?,
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{search::remote::Secret, sources::routes::engine::Dialect};
    use serde_json::json;

    fn leg(congestion: &[(&str, f64)]) -> Value {
        let (names, lengths): (Vec<_>, Vec<_>) = congestion.iter().copied().unzip();
        json!({
            "duration": 60.0, "distance": 1000.0, "incidents": [{"type": "accident"}, {"type": "construction"}],
            "annotation": {"congestion": names, "distance": lengths},
            "steps": [
                {"name": "A 9", "duration": 50.0, "distance": 900.0, "maneuver": {"type": "turn", "modifier": "left"}},
                {"name": "", "duration": 10.0, "distance": 100.0, "maneuver": {"type": "arrive"}},
            ],
        })
    }

    fn answer(congestion: &[(&str, f64)]) -> Value {
        let route =
            json!({"duration": 60.0, "distance": 1000.0, "geometry": "abc", "legs": [leg(congestion)]});
        json!({"code": "Ok", "routes": [route]})
    }

    #[test]
    fn reads_a_route() {
        let routes = read(200, &answer(&[("low", 1000.0)])).unwrap();
        let route = &routes[0];
        assert_eq!((route.duration, route.distance, route.incidents), (60.0, 1000.0, Some(2)));
        assert_eq!(route.line.as_deref(), Some("abc"));
        let said: Vec<&str> = route.legs[0].steps.iter().map(|step| step.instruction.as_str()).collect();
        assert_eq!(said, ["turn left on A 9", "arrive"]);
    }

    #[test]
    fn traffic_is_a_matter_of_length() {
        let of = |congestion: &[(&str, f64)]| read(200, &answer(congestion)).unwrap()[0].traffic;
        assert_eq!(
            of(&[("low", 80.0), ("heavy", 15.0), ("severe", 5.0)]),
            Some(Traffic::Light),
            "a fifth is not more"
        );
        assert_eq!(of(&[("low", 79.0), ("heavy", 15.0), ("severe", 6.0)]), Some(Traffic::Heavy));
        assert_eq!(of(&[("low", 70.0), ("moderate", 20.0), ("heavy", 10.0)]), Some(Traffic::Moderate));
        assert_eq!(of(&[("unknown", 100.0)]), None);
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn no_way_is_an_answer_and_trouble_is_none() {
        assert_eq!(read(400, &json!({"code": "NoRoute"})), Ok(vec![]));
        assert!(read(400, &json!({"code": "InvalidQuery"})).is_err());
        assert!(read(200, &json!(null)).is_err());
        let broken =
            json!({"code": "Ok", "routes": [{"duration": -1.0, "distance": 1.0, "legs": []}, {}, 3]});
        assert_eq!(read(200, &broken), Ok(vec![]));
    }

    #[test]
    fn asks_as_documented() {
        let options = Options {
            dialect: Dialect::Osrm,
            url: "http://localhost:5000/base/".parse().unwrap(),
            key: Some(Secret::new("k".to_owned())),
            timeout: Duration::from_secs(1),
            profile: "driving".to_owned(),
            alternatives: 2,
            language: "en".to_owned(),
            congestion: false,
        };
        let points = [Point { latitude: 1.5, longitude: 2.25 }, Point { latitude: -3.0, longitude: 4.0 }];
        assert_eq!(
            address(&options, &points).unwrap().as_str(),
            "http://localhost:5000/base/route/v1/driving/2.250000,1.500000;4.000000,-3.000000\
             ?alternatives=2&steps=true&overview=full&geometries=polyline6&access_token=k"
        );
    }
}
