//! The records of the embedded gazetteer; `assets/gazetteer/build.py` tells how they were made.

use std::{collections::HashMap, io::Read};

use flate2::read::GzDecoder;

use crate::sources::geo::Point;

/// The cities of 15,000 inhabitants and more: GeoNames, CC BY 4.0.
pub(super) const EMBEDDED: &[u8] = include_bytes!("../../../../assets/gazetteer/places.tsv.gz");

/// A country or a first-level administrative division.
#[derive(Debug)]
pub(super) struct Area {
    /// `DE`, or `DE.02`.
    pub(super) code: Box<str>,
    pub(super) name: Box<str>,
    /// Other names and codes, separated by `|`.
    pub(super) others: Box<str>,
}

/// One city.
#[derive(Debug)]
pub(super) struct City {
    /// Its geonameid: stable, and never given to another place.
    pub(super) id: u32,
    pub(super) name: Box<str>,
    pub(super) point: Point,
    pub(super) country: u16,
    pub(super) division: Option<u16>,
    pub(super) population: u32,
    /// Other names, separated by `|`.
    pub(super) others: Box<str>,
}

/// All records.
#[derive(Debug, Default)]
pub(super) struct Records {
    pub(super) countries: Vec<Area>,
    pub(super) divisions: Vec<Area>,
    /// By descending population.
    pub(super) cities: Vec<City>,
}

/// Unpacks and reads records.
///
/// # Errors
/// The number of the first line that makes no sense, from 1, or what is wrong with the packing.
pub(super) fn read(packed: &[u8]) -> Result<Records, String> {
    let mut text = String::new();
    GzDecoder::new(packed).read_to_string(&mut text).map_err(|error| error.to_string())?;
    let mut records = Records::default();
    let (mut countries, mut divisions) = (HashMap::new(), HashMap::new());
    for (n, line) in text.lines().enumerate() {
        let fields: Vec<&str> = line.split('\t').collect();
        let known = match fields.as_slice() {
            ["C", code, name, others] => {
                u16::try_from(records.countries.len()).ok().map(|at| countries.insert(*code, at));
                records.countries.push(area(code, name, others));
                true
            }
            ["A", code, name, others] => {
                u16::try_from(records.divisions.len()).ok().map(|at| divisions.insert(*code, at));
                records.divisions.push(area(code, name, others));
                true
            }
            ["P", id, name, latitude, longitude, country, division, population, others] => {
                let city = (|| {
                    Some(City {
                        id: id.parse().ok()?,
                        name: (*name).into(),
                        point: Point::new(latitude.parse().ok()?, longitude.parse().ok()?)?,
                        country: *countries.get(country)?,
                        division: divisions.get(format!("{country}.{division}").as_str()).copied(),
                        population: population.parse().ok()?,
                        others: (*others).into(),
                    })
                })();
                city.map(|city| records.cities.push(city)).is_some()
            }
            _ => false,
        };
        if !known {
            return Err(format!("line {} cannot be read", n + 1));
        }
    }
    Ok(records)
}

fn area(code: &str, name: &str, others: &str) -> Area {
    Area { code: code.into(), name: name.into(), others: others.into() }
}
