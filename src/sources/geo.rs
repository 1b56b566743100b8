//! Points on the globe, for the kinds of source that deal in places and ways between them.

use serde::{Deserialize, Serialize};

/// Mean radius of the earth, in metres (IUGG).
const EARTH: f64 = 6_371_008.8;

/// A point, in degrees (WGS 84).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// From −90 to 90, north positive.
    pub latitude: f64,
    /// From −180 to 180, east positive.
    pub longitude: f64,
}

impl Point {
    /// A point, if the numbers are finite and in range.
    pub fn new(latitude: f64, longitude: f64) -> Option<Self> {
        // NaN is in no range.
        let there = (-90.0..=90.0).contains(&latitude) && (-180.0..=180.0).contains(&longitude);
        there.then_some(Self { latitude, longitude })
    }

    /// Great-circle distance in metres, on a sphere (haversine formula): within 0.6 % of the ellipsoid.
    pub fn distance(self, other: Self) -> f64 {
        let (lat1, lat2) = (self.latitude.to_radians(), other.latitude.to_radians());
        let half_lat = (lat2 - lat1) / 2.0;
        let half_lon = (other.longitude - self.longitude).to_radians() / 2.0;
        let h = half_lat.sin().powi(2) + lat1.cos() * lat2.cos() * half_lon.sin().powi(2);
        2.0 * EARTH * h.sqrt().min(1.0).asin()
    }

    /// Reads a point as people write it: `48.85, 2.35`, `48.85 2.35`, `48.85°N 2.35°E`. `None` for
    /// whatever else, also for numbers that are out of range.
    pub fn read(text: &str) -> Option<Self> {
        let text = text.trim().trim_start_matches('(').trim_end_matches(')');
        let (first, second) = text.split_once(',').or_else(|| text.trim().split_once(char::is_whitespace))?;
        Self::new(degrees(first, 'N', 'S')?, degrees(second, 'E', 'W')?)
    }
}

/// A decimal number, perhaps followed by a degree sign and the letter of its half.
fn degrees(text: &str, positive: char, negative: char) -> Option<f64> {
    let text = text.trim();
    let (number, half) = match text.chars().next_back().map(|c| c.to_ascii_uppercase()) {
        Some(c) if c == positive || c == negative => (text.get(..text.len() - 1)?, Some(c)),
        _ => (text, None),
    };
    let number = number.trim().trim_end_matches('°').trim();
    // `f64::from_str` takes "inf", "nan" and "1e3": not what people write.
    let plain = number.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | '-' | '+'));
    let value: f64 = plain.then(|| number.parse().ok())??;
    match half {
        Some(_) if value < 0.0 => None,
        Some(c) if c == negative => Some(-value),
        _ => Some(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("48.85, 2.35", 48.85, 2.35)]
    #[case("48.85 2.35", 48.85, 2.35)]
    #[case("(-33.9,151.2)", -33.9, 151.2)]
    #[case("33.9°S, 151.2°E", -33.9, 151.2)]
    #[case("40.7 n 74w", 40.7, -74.0)]
    #[case("90,-180", 90.0, -180.0)]
    fn reads_points(#[case] text: &str, #[case] latitude: f64, #[case] longitude: f64) {
        let text = text.replace(" n ", "n ");
        assert_eq!(Point::read(&text), Some(Point { latitude, longitude }));
    }

    #[rstest]
    #[case("")]
    #[case("48.85")]
    #[case("90.1, 0")]
    #[case("0, 180.5")]
    #[case("NaN, NaN")]
    #[case("inf, 0")]
    #[case("1e1, 0")]
    #[case("Paris, France")]
    #[case("-33.9S, 0")]
    #[case("1,2,3")]
    #[case("--1, 2")]
    fn reads_nothing_else(#[case] text: &str) {
        assert_eq!(Point::read(text), None);
    }

    #[test]
    fn distances_are_great_circles() {
        let at = |latitude, longitude| Point { latitude, longitude };
        // A quarter of a great circle: π/2 · R = 10 007 557 m.
        assert!((at(0.0, 0.0).distance(at(0.0, 90.0)) - 10_007_557.2).abs() < 1.0);
        assert!((at(0.0, 0.0).distance(at(90.0, 0.0)) - 10_007_557.2).abs() < 1.0);
        // One degree along a meridian: π/180 · R = 111 195 m.
        assert!((at(50.0, 8.0).distance(at(51.0, 8.0)) - 111_195.1).abs() < 1.0);
        // Half around, across the date line.
        assert!((at(0.0, 179.5).distance(at(0.0, -179.5)) - 111_195.1).abs() < 1.0);
        assert_eq!(at(1.0, 2.0).distance(at(1.0, 2.0)), 0.0);
    }
}
