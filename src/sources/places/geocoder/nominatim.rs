//! Nominatim: <https://nominatim.org/release-docs/latest/api/Overview/>.

use serde_json::Value;

use super::{Ask, Dialect, bounds, number, text};
use crate::sources::{geo::Point, places::Place};

/// What can be a division, from small to large.
const DIVISIONS: [&str; 8] =
    ["suburb", "village", "town", "city", "municipality", "county", "state_district", "state"];

pub(super) struct Nominatim;

impl Dialect for Nominatim {
    fn name(&self) -> &'static str {
        "nominatim"
    }

    fn search(&self, ask: &mut Ask<'_>, text: &str, limit: usize) {
        ask.path("/search");
        ask.with("q", text);
        ask.with("limit", limit);
        common(ask);
    }

    fn reverse(&self, ask: &mut Ask<'_>, point: Point, _limit: usize) {
        ask.path("/reverse");
        ask.with("lat", point.latitude);
        ask.with("lon", point.longitude);
        common(ask);
    }

    fn lookup(&self, ask: &mut Ask<'_>, id: &str) -> bool {
        let known = id.strip_prefix(['N', 'W', 'R']).is_some_and(|number| {
            (1..=20).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
        });
        ask.path("/lookup");
        ask.with("osm_ids", id);
        common(ask);
        known
    }

    fn read(&self, answer: &Value) -> Vec<Place> {
        match answer {
            Value::Array(results) => results.iter().filter_map(place).collect(),
            one => place(one).into_iter().collect(),
        }
    }
}

fn common(ask: &mut Ask<'_>) {
    ask.with("format", "jsonv2");
    ask.with("addressdetails", 1);
    ask.with("accept-language", ask.language);
}

fn place(result: &Value) -> Option<Place> {
    let letter = match result.get("osm_type")?.as_str()? {
        "node" => 'N',
        "way" => 'W',
        "relation" => 'R',
        _ => return None,
    };
    let display = text(result.get("display_name"));
    let name = text(result.get("name"))
        .or_else(|| display.as_ref()?.split(',').next().map(|first| first.trim().to_owned()))?;
    let address = result.get("address");
    let part = |key: &str| text(address.and_then(|address| address.get(key)));
    let admin = DIVISIONS.iter().filter_map(|key| part(key)).filter(|division| *division != name).collect();
    let id = format!("{letter}{}", result.get("osm_id")?.as_u64()?);
    let kind = text(result.get("addresstype")).or_else(|| text(result.get("type")));
    Some(Place {
        url: None,
        kind: kind.unwrap_or_else(|| "place".to_owned()),
        admin,
        country: part("country"),
        country_code: part("country_code").map(|code| code.to_uppercase()),
        address: display,
        point: Point::new(number(result.get("lat"))?, number(result.get("lon"))?)?,
        // South, north, west, east.
        bounding_box: bounds(result.get("boundingbox"), [0, 2, 1, 3]),
        population: None,
        other_names: Vec::new(),
        id,
        name,
    })
}
