//! Photon: <https://github.com/komoot/photon>. It has no way to look an id up, so ids carry the point
//! the place is found again by.

use serde_json::Value;

use super::{Ask, Dialect, bounds, text};
use crate::sources::{geo::Point, places::Place};

/// What can be a division, from small to large.
const DIVISIONS: [&str; 5] = ["district", "locality", "city", "county", "state"];
/// How many places around its point one is looked for among.
const AROUND: usize = 20;

pub(super) struct Photon;

impl Dialect for Photon {
    fn name(&self) -> &'static str {
        "photon"
    }

    fn search(&self, ask: &mut Ask<'_>, text: &str, limit: usize) {
        ask.path("/api");
        ask.with("q", text);
        ask.with("limit", limit);
        ask.with("lang", ask.language);
    }

    fn reverse(&self, ask: &mut Ask<'_>, point: Point, limit: usize) {
        ask.path("/reverse");
        ask.with("lat", point.latitude);
        ask.with("lon", point.longitude);
        ask.with("limit", limit);
        ask.with("lang", ask.language);
    }

    fn lookup(&self, ask: &mut Ask<'_>, id: &str) -> bool {
        let Some(point) = id.split_once('@').and_then(|(_, point)| Point::read(point)) else { return false };
        self.reverse(ask, point, AROUND);
        true
    }

    fn read(&self, answer: &Value) -> Vec<Place> {
        answer.get("features").and_then(Value::as_array).into_iter().flatten().filter_map(place).collect()
    }
}

fn place(feature: &Value) -> Option<Place> {
    let properties = feature.get("properties")?;
    let part = |key: &str| text(properties.get(key));
    let coordinates = feature.get("geometry")?.get("coordinates")?;
    let point = Point::new(coordinates.get(1)?.as_f64()?, coordinates.get(0)?.as_f64()?)?;
    let street =
        || Some([part("street")?, part("housenumber").unwrap_or_default()].join(" ").trim().to_owned());
    let name = part("name").or_else(street)?;
    let admin: Vec<String> =
        DIVISIONS.iter().filter_map(|key| part(key)).filter(|division| *division != name).collect();
    Some(Place {
        id: format!(
            "{}{}@{:.5},{:.5}",
            part("osm_type")?,
            properties.get("osm_id")?.as_u64()?,
            point.latitude,
            point.longitude
        ),
        kind: part("type").or_else(|| part("osm_value")).unwrap_or_else(|| "place".to_owned()),
        country: part("country"),
        country_code: part("countrycode").map(|code| code.to_uppercase()),
        address: None,
        // West, north, east, south.
        bounding_box: bounds(properties.get("extent"), [3, 0, 1, 2]),
        population: None,
        other_names: Vec::new(),
        url: None,
        admin,
        point,
        name,
    })
}
