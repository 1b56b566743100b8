//! Mapbox Geocoding v6: <https://docs.mapbox.com/api/search/geocoding/>. An id is looked up by
//! searching for it.

use serde_json::Value;

use super::{Ask, Dialect, bounds, number, text};
use crate::sources::{geo::Point, places::Place};

/// What can be a division, from small to large.
const DIVISIONS: [&str; 5] = ["neighborhood", "locality", "place", "district", "region"];
/// Results of one search at most, by the service's rules.
const MOST: usize = 10;

pub(super) struct Mapbox;

impl Dialect for Mapbox {
    fn name(&self) -> &'static str {
        "mapbox"
    }

    fn search(&self, ask: &mut Ask<'_>, text: &str, limit: usize) {
        ask.path("/search/geocode/v6/forward");
        ask.with("q", text);
        ask.with("limit", limit.min(MOST));
        common(ask);
    }

    fn reverse(&self, ask: &mut Ask<'_>, point: Point, _limit: usize) {
        ask.path("/search/geocode/v6/reverse");
        ask.with("latitude", point.latitude);
        ask.with("longitude", point.longitude);
        common(ask);
    }

    fn lookup(&self, ask: &mut Ask<'_>, id: &str) -> bool {
        self.search(ask, id, 1);
        (8..=256).contains(&id.len())
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-:=".contains(&byte))
    }

    fn read(&self, answer: &Value) -> Vec<Place> {
        answer.get("features").and_then(Value::as_array).into_iter().flatten().filter_map(place).collect()
    }
}

fn common(ask: &mut Ask<'_>) {
    ask.with("language", ask.language);
    if let Some(key) = ask.key {
        ask.with("access_token", key.reveal());
    }
}

fn place(feature: &Value) -> Option<Place> {
    let properties = feature.get("properties")?;
    let part = |key: &str| text(properties.get(key));
    let context = properties.get("context");
    let within = |key: &str, field: &str| text(context.and_then(|context| context.get(key)?.get(field)));
    let coordinates = properties.get("coordinates")?;
    let name = part("name")?;
    Some(Place {
        id: part("mapbox_id")?,
        kind: part("feature_type").unwrap_or_else(|| "place".to_owned()),
        admin: DIVISIONS
            .iter()
            .filter_map(|key| within(key, "name"))
            .filter(|division| *division != name)
            .collect(),
        country: within("country", "name"),
        country_code: within("country", "country_code").map(|code| code.to_uppercase()),
        address: part("full_address"),
        point: Point::new(number(coordinates.get("latitude"))?, number(coordinates.get("longitude"))?)?,
        // West, south, east, north.
        bounding_box: bounds(properties.get("bbox"), [1, 0, 3, 2]),
        population: None,
        other_names: Vec::new(),
        url: None,
        name,
    })
}
