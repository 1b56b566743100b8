//! A place in words and in fields.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::Place;
use crate::text::excerpt;

/// Other names given with a hit.
const NAMES: usize = 5;
/// Other names given with all details.
const ALL_NAMES: usize = 60;

impl Place {
    /// The divisions and the country it lies in, joined by commas.
    pub(super) fn context(&self) -> String {
        let mut parts: Vec<&str> = self.admin.iter().map(String::as_str).collect();
        parts.extend(self.country.as_deref());
        parts.dedup();
        parts.join(", ")
    }

    /// Name and address in one line.
    pub(super) fn label(&self) -> String {
        match (&self.address, self.context()) {
            (Some(address), _) if address.starts_with(&self.name) => excerpt(address, 110),
            (Some(address), _) => excerpt(&format!("{}, {address}", self.name), 110),
            (None, context) if context.is_empty() => excerpt(&self.name, 110),
            (None, context) => excerpt(&format!("{}, {context}", self.name), 110),
        }
    }

    /// What it is and where, in a sentence or two.
    pub(super) fn summary(&self) -> String {
        let mut text = format!("{}: {}", self.label(), self.kind);
        if let Some(population) = self.population {
            let _ = write!(text, " of {} inhabitants", grouped(population));
        }
        let _ = write!(text, " at {:.5}, {:.5}.", self.point.latitude, self.point.longitude);
        self.names(&mut text, NAMES);
        text
    }

    /// All that is known of it, and what is near.
    pub(super) fn details(&self, near: &[Place]) -> String {
        let mut text = self.summary();
        if self.other_names.len() > NAMES {
            text = self.summary().split("\nAlso called").next().unwrap_or_default().to_owned();
            self.names(&mut text, ALL_NAMES);
        }
        let chain: Vec<&str> = self.admin.iter().map(String::as_str).chain(self.country.as_deref()).collect();
        if !chain.is_empty() {
            let _ = write!(text, "\nLies in: {}.", chain.join(" › "));
        }
        if let Some([south, west, north, east]) = self.bounding_box {
            let _ = write!(text, "\nReaches from {south:.5}, {west:.5} to {north:.5}, {east:.5}.");
        }
        if !near.is_empty() {
            let near: Vec<String> =
                near.iter().map(|other| format!("{} ({})", other.name, self.away(other))).collect();
            let _ = write!(text, "\nNearby: {}.", near.join(", "));
        }
        text
    }

    /// How far another place is, in kilometres and miles.
    pub(super) fn away(&self, other: &Place) -> String {
        let metres = self.point.distance(other.point);
        format!("{:.1} km, {:.1} mi", metres / 1000.0, metres / 1609.344)
    }

    /// Its structured fields.
    pub(super) fn fields(&self) -> Value {
        let mut fields = json!({
            "id": self.id,
            "name": self.name,
            "kind": self.kind,
            "coordinates": self.point,
            "admin": self.admin,
        });
        let optional = [
            ("country", json!(self.country)),
            ("country_code", json!(self.country_code)),
            ("address", json!(self.address)),
            ("population", json!(self.population)),
            (
                "bounding_box",
                self.bounding_box.map_or(Value::Null, |[south, west, north, east]| {
                    json!({"south": south, "west": west, "north": north, "east": east})
                }),
            ),
        ];
        if let Some(fields) = fields.as_object_mut() {
            fields.extend(
                optional.into_iter().filter(|(_, value)| !value.is_null()).map(|(k, v)| (k.to_owned(), v)),
            );
        }
        fields
    }

    fn names(&self, text: &mut String, most: usize) {
        if self.other_names.is_empty() {
            return;
        }
        let names: Vec<&str> = self.other_names.iter().take(most).map(String::as_str).collect();
        let more = if self.other_names.len() > most { ", …" } else { "." };
        let _ = write!(text, "\nAlso called: {}{more}", names.join(", "));
    }
}

/// A number with its thousands set apart by commas.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::geo::Point;

    fn springfield() -> Place {
        Place {
            id: "4250542".to_owned(),
            name: "Springfield".to_owned(),
            kind: "city".to_owned(),
            admin: vec!["Illinois".to_owned()],
            country: Some("United States".to_owned()),
            country_code: Some("US".to_owned()),
            address: None,
            point: Point { latitude: 39.80172, longitude: -89.64371 },
            bounding_box: None,
            population: Some(1_114_394),
            other_names: vec!["Calhoun".to_owned()],
            url: None,
        }
    }

    #[test]
    fn reads_as_a_sentence() {
        assert_eq!(
            springfield().summary(),
            "Springfield, Illinois, United States: city of 1,114,394 inhabitants at 39.80172, -89.64371.\n\
             Also called: Calhoun."
        );
        let alone = Place {
            population: Some(999),
            other_names: vec![],
            admin: vec![],
            country: None,
            ..springfield()
        };
        assert_eq!(alone.summary(), "Springfield: city of 999 inhabitants at 39.80172, -89.64371.");
    }

    #[test]
    fn a_city_state_is_not_named_twice() {
        let place =
            Place { admin: vec!["Singapore".into()], country: Some("Singapore".into()), ..springfield() };
        assert_eq!(place.context(), "Singapore");
    }

    #[test]
    fn details_tell_what_is_near() {
        // One degree of latitude is 111.195 km, 69.093 mi.
        let near = Place {
            name: "North".into(),
            point: Point { latitude: 40.80172, longitude: -89.64371 },
            ..springfield()
        };
        let text = springfield().details(&[near]);
        assert!(
            text.ends_with("Lies in: Illinois › United States.\nNearby: North (111.2 km, 69.1 mi)."),
            "{text}"
        );
    }

    #[test]
    fn fields_leave_out_what_is_unknown() {
        let fields = springfield().fields();
        assert_eq!(fields["coordinates"], json!({"latitude": 39.80172, "longitude": -89.64371}));
        assert_eq!(fields["country_code"], "US");
        assert!(fields.get("bounding_box").is_none() && fields.get("address").is_none());
        let boxed = Place { bounding_box: Some([1.0, 2.0, 3.0, 4.0]), ..springfield() };
        assert_eq!(
            boxed.fields()["bounding_box"],
            json!({"south": 1.0, "west": 2.0, "north": 3.0, "east": 4.0})
        );
    }
}
