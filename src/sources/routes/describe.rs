//! A route in words and in fields.

use std::{collections::HashMap, fmt::Write as _};

use serde_json::{Value, json};

use super::{
    ends::Waypoint,
    engine::{Leg, Route},
};
use crate::text::excerpt;

/// Roads named in a label.
const ROADS: usize = 2;
/// Share of the length from which a road is worth naming.
const WORTH: f64 = 0.1;
/// Metres of a mile.
const MILE: f64 = 1609.344;

impl Route {
    /// The roads most of the way is on, the longest first.
    pub(super) fn main_roads(&self) -> Vec<&str> {
        let mut lengths: HashMap<&str, f64> = HashMap::new();
        for step in self.legs.iter().flat_map(|leg| &leg.steps).filter(|step| !step.road.is_empty()) {
            *lengths.entry(&step.road).or_default() += step.distance;
        }
        let mut roads: Vec<(&str, f64)> =
            lengths.into_iter().filter(|(_, length)| *length >= WORTH * self.distance).collect();
        roads.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
        roads.into_iter().take(ROADS).map(|(road, _)| road).collect()
    }

    /// What tells it from other ways, in a line.
    pub(super) fn label(&self) -> String {
        let mut label = format!("{}, {}", duration(self.duration), distance(self.distance));
        let roads = self.main_roads();
        if !roads.is_empty() {
            let _ = write!(label, ", via {}", excerpt(&roads.join(" and "), 50));
        }
        if let Some(traffic) = self.traffic {
            let _ = write!(label, ", {} traffic", traffic.name());
        }
        match self.incidents {
            Some(1) => label.push_str(", 1 incident"),
            Some(n) => {
                let _ = write!(label, ", {n} incidents");
            }
            None => {}
        }
        label
    }

    /// The route in a sentence.
    pub(super) fn summary(&self, waypoints: &[Waypoint]) -> String {
        let names: Vec<&str> = waypoints.iter().map(|waypoint| waypoint.name.as_str()).collect();
        format!("{}: {}.", names.join(" → "), self.label())
    }

    /// Every step of it.
    pub(super) fn details(&self, waypoints: &[Waypoint]) -> String {
        let mut text = self.summary(waypoints);
        for (leg, to) in self.legs.iter().zip(waypoints.iter().skip(1)) {
            let _ =
                write!(text, "\nTo {} ({}, {}):", to.name, duration(leg.duration), distance(leg.distance));
            for (n, step) in leg.steps.iter().enumerate() {
                let _ = write!(text, "\n{}. {} ({})", n + 1, step.instruction, distance(step.distance));
            }
        }
        text
    }

    /// Its structured fields.
    pub(super) fn fields(&self, waypoints: &[Waypoint]) -> Value {
        let ends: Vec<Value> = waypoints
            .iter()
            .map(|waypoint| {
                let id = waypoint.spelled.strip_prefix('=');
                json!({"name": waypoint.name, "coordinates": waypoint.point, "place": id})
            })
            .collect();
        json!({
            "duration_s": self.duration,
            "distance_m": self.distance,
            "roads": self.main_roads(),
            "traffic": self.traffic,
            "incidents": self.incidents,
            "ends": ends,
            "legs": self.legs.iter().map(leg).collect::<Vec<_>>(),
            "polyline": self.line,
            "polyline_precision": 6,
        })
    }
}

fn leg(leg: &Leg) -> Value {
    json!({"duration_s": leg.duration, "distance_m": leg.distance, "steps": leg.steps.len(), "polyline": leg.line})
}

/// Hours and minutes.
fn duration(seconds: f64) -> String {
    // A float becomes the nearest integer, and saturates.
    let minutes = ((seconds / 60.0).round() as u64).max(1);
    match (minutes / 60, minutes % 60) {
        (0, minutes) => format!("{minutes} min"),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    }
}

/// Kilometres and miles.
fn distance(metres: f64) -> String {
    format!("{:.1} km ({:.1} mi)", metres / 1000.0, metres / MILE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::{
        geo::Point,
        routes::engine::{Step, Traffic},
    };

    fn route() -> Route {
        let step = |road: &str, distance: f64| Step {
            instruction: format!("Drive on {road}."),
            road: road.to_owned(),
            duration: 60.0,
            distance,
        };
        let steps = vec![step("Lane", 900.0), step("A 9", 8000.0), step("B 2", 1100.0)];
        Route {
            duration: 5999.0,
            distance: 10_000.0,
            legs: vec![Leg { duration: 5999.0, distance: 10_000.0, line: None, steps }],
            line: Some("abc".to_owned()),
            traffic: Some(Traffic::Heavy),
            incidents: Some(1),
        }
    }

    fn ends() -> Vec<Waypoint> {
        ["Here", "There"]
            .map(|name| Waypoint {
                point: Point { latitude: 1.0, longitude: 2.0 },
                name: name.into(),
                spelled: format!("={name}"),
            })
            .to_vec()
    }

    #[test]
    fn a_label_tells_ways_apart() {
        // 5999 s are 99.98 min; 10 000 m are 6.2137 mi; the lane is less than a tenth of the way.
        assert_eq!(
            route().label(),
            "1 h 40 min, 10.0 km (6.2 mi), via A 9 and B 2, heavy traffic, 1 incident"
        );
        let plain = Route { traffic: None, incidents: None, legs: vec![], duration: 10.0, ..route() };
        assert_eq!(plain.label(), "1 min, 10.0 km (6.2 mi)");
    }

    #[test]
    fn details_list_the_steps() {
        let text = route().details(&ends());
        assert!(text.starts_with("Here → There: 1 h 40 min, "), "{text}");
        assert!(
            text.contains(
                "\nTo There (1 h 40 min, 10.0 km (6.2 mi)):\n1. Drive on Lane. (0.9 km (0.6 mi))\n2. "
            ),
            "{text}"
        );
    }

    #[test]
    fn fields_are_in_seconds_and_metres() {
        let fields = route().fields(&ends());
        assert_eq!(
            (fields["duration_s"].as_f64(), fields["distance_m"].as_f64()),
            (Some(5999.0), Some(10_000.0))
        );
        assert_eq!(
            (fields["traffic"].as_str(), fields["ends"][1]["place"].as_str()),
            (Some("heavy"), Some("There"))
        );
        assert_eq!(fields["legs"][0]["steps"], 3);
    }
}
