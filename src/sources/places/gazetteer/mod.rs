//! The gazetteer that comes with the program: the world's cities of 15,000 inhabitants and more.
//!
//! [`data`] reads its records, [`names`] finds a name among them, [`areas`] knows what qualifies one,
//! [`query`] reads what people type.

mod areas;
mod data;
mod fold;
mod names;
mod query;
#[cfg(test)]
mod tests;

use std::sync::{Arc, LazyLock};

use sha2::{Digest, Sha256};

use super::{Matches, Place};
use crate::{
    sources::{SourceError, geo::Point},
    text::hex,
};
use areas::Areas;
use data::{City, Records};
pub(super) use fold::fold;
use names::{Bearer, Names};
pub use query::How;
use query::Reading;

/// The embedded gazetteer, unpacked once in a process and shared: some 60 MB.
static SHARED: LazyLock<Result<Arc<Gazetteer>, String>> =
    LazyLock::new(|| Gazetteer::new(data::EMBEDDED).map(Arc::new));

/// Cities, by their names and by where they are.
pub struct Gazetteer {
    records: Records,
    names: Names,
    countries: Areas,
    divisions: Areas,
    /// Every word that can be part of what qualifies a name.
    qualifying: std::collections::HashSet<String>,
    /// Unit vectors towards the cities: a dot product orders by distance.
    vectors: Vec<[f32; 3]>,
    /// Indices of cities by id.
    by_id: std::collections::HashMap<u32, u32>,
    version: String,
}

impl Gazetteer {
    /// The embedded gazetteer. The first call unpacks it, which takes some tenths of a second.
    ///
    /// # Errors
    /// [`SourceError::Internal`] if the program was built with data that cannot be read.
    pub fn shared() -> Result<Arc<Self>, SourceError> {
        SHARED.as_ref().map(Arc::clone).map_err(|why| SourceError::internal("unpacking the gazetteer", why))
    }

    fn new(packed: &[u8]) -> Result<Self, String> {
        let records = data::read(packed)?;
        let mut names = Vec::new();
        let mut vectors = Vec::with_capacity(records.cities.len());
        for (n, city) in (0_u32..).zip(&records.cities) {
            names.push((fold(&city.name), Bearer { city: n, other: false }));
            let others = city.others.split('|').map(|name| (fold(name), Bearer { city: n, other: true }));
            names.extend(others);
            vectors.push(vector(city.point));
        }
        let (countries, divisions) = (Areas::new(&records.countries), Areas::new(&records.divisions));
        let qualifying = countries.words().chain(divisions.words()).chain(areas::BETWEEN).map(str::to_owned);
        Ok(Self {
            qualifying: qualifying.collect(),
            names: Names::new(names).map_err(|error| error.to_string())?,
            countries,
            divisions,
            vectors,
            by_id: (0_u32..).zip(&records.cities).map(|(n, city)| (city.id, n)).collect(),
            version: hex(&Sha256::digest(packed)).chars().take(12).collect(),
            records,
        })
    }

    /// What `text` can mean, best first, at most `limit` places. See [`How`] for what `lenient` adds.
    pub fn search(&self, text: &str, limit: usize, lenient: bool) -> Matches {
        if let Some(point) = Point::read(text) {
            return Matches { fitting: 1, how: How::Point, ..Matches::of(self.nearest(point, limit)) };
        }
        let Some(reading) = self.read(text, lenient) else { return Matches::of(Vec::new()) };
        let places = reading.cities.iter().take(limit).filter_map(|city| self.place(*city)).collect();
        let Reading { fitting, dominant, how, unknown, .. } = reading;
        Matches { places, fitting, dominant, how, unknown }
    }

    /// The places nearest to a point, the nearest first.
    pub fn nearest(&self, point: Point, limit: usize) -> Vec<Place> {
        let towards = vector(point);
        let closeness = |v: &[f32; 3]| v.iter().zip(towards).map(|(a, b)| a * b).sum::<f32>();
        let mut order: Vec<(f32, u32)> =
            self.vectors.iter().zip(0..).map(|(v, n)| (closeness(v), n)).collect();
        // Single precision cannot tell neighbours apart: take some more, and measure those.
        let shortlist = (limit + 32).min(order.len());
        if shortlist < order.len() {
            order.select_nth_unstable_by(shortlist, |a, b| b.0.total_cmp(&a.0));
        }
        order.truncate(shortlist);
        let mut near: Vec<(f64, u32)> =
            order.into_iter().filter_map(|(_, n)| Some((self.city(n)?.point.distance(point), n))).collect();
        near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        near.into_iter().take(limit).filter_map(|(_, n)| self.place(n)).collect()
    }

    /// The place with an id.
    pub fn get(&self, id: &str) -> Option<Place> {
        // One spelling only: "+5" and "05" are numbers too.
        let number: u32 = id.parse().ok().filter(|number: &u32| number.to_string() == id)?;
        self.place(*self.by_id.get(&number)?)
    }

    /// The largest places in the same division as the one with an id, without that one.
    pub fn beside(&self, id: &str, limit: usize) -> Vec<Place> {
        let this = id.parse().ok().and_then(|id: u32| self.by_id.get(&id)).copied();
        let Some(city) = this.and_then(|n| self.city(n)) else { return Vec::new() };
        // Records are ordered by population.
        (0_u32..)
            .zip(&self.records.cities)
            .filter(|(_, other)| (other.country, other.division) == (city.country, city.division))
            .filter(|(_, other)| other.id != city.id)
            .take(limit)
            .filter_map(|(n, _)| self.place(n))
            .collect()
    }

    /// How many places it holds.
    pub fn len(&self) -> usize {
        self.records.cities.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.records.cities.is_empty()
    }

    /// Identifies its data.
    pub fn version(&self) -> &str {
        &self.version
    }

    fn city(&self, n: u32) -> Option<&City> {
        self.records.cities.get(n as usize)
    }

    fn place(&self, n: u32) -> Option<Place> {
        let city = self.city(n)?;
        let country = self.records.countries.get(usize::from(city.country));
        let division = city.division.and_then(|division| self.records.divisions.get(usize::from(division)));
        Some(Place {
            id: city.id.to_string(),
            name: city.name.to_string(),
            kind: "city".to_owned(),
            admin: division.map(|division| division.name.to_string()).into_iter().collect(),
            country: country.map(|country| country.name.to_string()),
            country_code: country.map(|country| country.code.to_string()),
            address: None,
            point: city.point,
            bounding_box: None,
            population: (city.population > 0).then_some(u64::from(city.population)),
            other_names: city.others.split('|').filter(|name| !name.is_empty()).map(str::to_owned).collect(),
            url: Some(format!("https://www.geonames.org/{}", city.id)),
        })
    }
}

fn vector(point: Point) -> [f32; 3] {
    let (lat, lon) = (point.latitude.to_radians(), point.longitude.to_radians());
    [lat.cos() * lon.cos(), lat.cos() * lon.sin(), lat.sin()].map(|x| x as f32)
}
