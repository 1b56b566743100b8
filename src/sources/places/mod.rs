//! The `places` kind: from a name or a point to places, several where several are meant.
//!
//! [`gazetteer`] is the data that comes with the program, [`geocoder`] asks an outside service. A [`Place`] is what any backend finds;
//! [`describe`] says it in words and fields, and [`source`] is the [`super::Source`].

mod backend;
mod describe;
pub mod gazetteer;
mod geocoder;
mod settings;
mod source;

use super::{
    geo::Point,
    registry::{Family, KindEntry},
};
pub use gazetteer::How;

/// The kind, as the registry knows it.
pub static KIND: KindEntry = KindEntry {
    name: "places",
    family: Family::Places,
    schema: settings::schema,
    check: settings::check,
    trust: settings::trust,
    open: source::open,
};

/// One place.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    /// Its stable id in the backend.
    pub id: String,
    /// What it is called.
    pub name: String,
    /// What it is, in a word: `city`, `street`, `house`, ….
    pub kind: String,
    /// The divisions it lies in, from small to large, without the country.
    pub admin: Vec<String>,
    /// The country's name.
    pub country: Option<String>,
    /// The country's two letters (ISO 3166-1), in capitals.
    pub country_code: Option<String>,
    /// The backend's own way to write the whole address, if it has one.
    pub address: Option<String>,
    /// Where it is.
    pub point: Point,
    /// South, west, north, east, in degrees.
    pub bounding_box: Option<[f64; 4]>,
    /// Inhabitants.
    pub population: Option<u64>,
    /// What else it is called.
    pub other_names: Vec<String>,
    /// Where a person can read more.
    pub url: Option<String>,
}

/// What a query can mean.
#[derive(Debug, Clone, PartialEq)]
pub struct Matches {
    /// Places, best first.
    pub places: Vec<Place>,
    /// How many of the first fit equally well, counting what a limit cut off.
    pub fitting: usize,
    /// Whether the first is far better known than all others that fit.
    pub dominant: bool,
    /// How they were found.
    pub how: How,
    /// Words of the query that say nothing here.
    pub unknown: Vec<String>,
}

impl Matches {
    /// Places found by what they are called, the first best.
    fn of(places: Vec<Place>) -> Self {
        Self { fitting: places.len().min(1), places, dominant: true, how: How::Exact, unknown: Vec::new() }
    }
}
