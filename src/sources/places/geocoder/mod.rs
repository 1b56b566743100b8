//! Places of an outside geocoder: any service that speaks like Nominatim, Photon or Mapbox (v6).
//!
//! Each dialect says which address to ask and how to read what comes back; asking is the same for all.
//! What a service answers is data from outside: it is read field by field, and what does not make
//! sense is left out.

mod mapbox;
mod nominatim;
mod photon;
#[cfg(test)]
mod tests;

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use reqwest::Url;
use serde_json::Value;

use super::{How, Matches, Place, backend::Backend, gazetteer::fold};
use crate::{
    search::remote::Secret,
    sources::{Health, SourceError, geo::Point, outside::Outside},
    text::excerpt,
};

/// Places asked for at a time.
const MOST: usize = 20;
/// Two results of one name within this distance, in metres, are one place: a point and its boundary.
const SAME: f64 = 20_000.0;

/// How a service is asked and answers.
pub(super) trait Dialect: Send + Sync {
    /// What it is called in provenance.
    fn name(&self) -> &'static str;
    /// Asks for places called `text`.
    fn search(&self, ask: &mut Ask<'_>, text: &str, limit: usize);
    /// Asks for what is at a point.
    fn reverse(&self, ask: &mut Ask<'_>, point: Point, limit: usize);
    /// Asks for the place with an id; `false` if it is no id of this service.
    fn lookup(&self, ask: &mut Ask<'_>, id: &str) -> bool;
    /// Reads an answer to any of these.
    fn read(&self, answer: &Value) -> Vec<Place>;
}

/// An address being made.
pub(super) struct Ask<'a> {
    url: Url,
    language: &'a str,
    key: Option<&'a Secret>,
}

impl Ask<'_> {
    fn path(&mut self, path: &str) {
        let base = self.url.path().trim_end_matches('/').to_owned();
        self.url.set_path(&format!("{base}{path}"));
    }

    fn with(&mut self, name: &str, value: impl ToString) {
        self.url.query_pairs_mut().append_pair(name, &value.to_string());
    }
}

/// Where a geocoder is and how it is asked.
#[derive(Debug, Clone)]
pub(super) struct Options {
    pub(super) url: Url,
    pub(super) key: Option<Secret>,
    pub(super) timeout: Duration,
    pub(super) language: String,
}

/// A geocoder behind HTTP.
pub(super) struct Geocoder {
    outside: Outside,
    dialect: Box<dyn Dialect>,
    options: Options,
    /// Why it did not answer the last time it was asked.
    trouble: Mutex<Option<String>>,
}

impl Geocoder {
    pub(super) fn nominatim(options: Options) -> Result<Self, SourceError> {
        Self::new(Box::new(nominatim::Nominatim), options)
    }

    pub(super) fn photon(options: Options) -> Result<Self, SourceError> {
        Self::new(Box::new(photon::Photon), options)
    }

    pub(super) fn mapbox(options: Options) -> Result<Self, SourceError> {
        Self::new(Box::new(mapbox::Mapbox), options)
    }

    fn new(dialect: Box<dyn Dialect>, options: Options) -> Result<Self, SourceError> {
        let outside = Outside::new(options.timeout)?;
        Ok(Self { outside, dialect, options, trouble: Mutex::new(None) })
    }

    fn ask(&self) -> Ask<'_> {
        let Options { url, key, language, .. } = &self.options;
        Ask { url: url.clone(), language, key: key.as_ref() }
    }

    async fn places(&self, url: Url) -> Result<Vec<Place>, SourceError> {
        let result = self.answer(url).await;
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = result.as_ref().err().cloned();
        match result {
            Ok(answer) => Ok(self.dialect.read(&answer)),
            Err(why) => {
                tracing::warn!(geocoder = self.dialect.name(), why, "the geocoder did not answer");
                Err(SourceError::Unavailable(format!("the geocoder {why}; try again later")))
            }
        }
    }

    async fn answer(&self, url: Url) -> Result<Value, String> {
        match self.outside.get(url).await? {
            (200..300, answer) => Ok(answer),
            (status, _) => Err(format!("answered with status {status}")),
        }
    }
}

#[async_trait]
impl Backend for Geocoder {
    async fn search(&self, text: &str, limit: usize, _lenient: bool) -> Result<Matches, SourceError> {
        if let Some(point) = Point::read(text) {
            let places = self.nearest(point, limit).await?;
            return Ok(Matches { how: How::Point, ..Matches::of(places) });
        }
        let mut ask = self.ask();
        self.dialect.search(&mut ask, text, limit.clamp(1, MOST));
        let places = distinct(self.places(ask.url).await?);
        let wanted = fold(text);
        let Some(first) = places.first().map(|place| fold(&place.name)) else {
            return Ok(Matches::of(places));
        };
        // The service has read what qualifies the name: those that share the first one's fit equally well.
        let named = !first.is_empty() && (wanted == first || wanted.starts_with(&format!("{first} ")));
        let (fit, rest): (Vec<_>, Vec<_>) =
            places.into_iter().partition(|place| named && fold(&place.name) == first);
        let fitting = if named { fit.len() } else { 1 };
        let how = if named { How::Exact } else { How::Similar(1) };
        let places = fit.into_iter().chain(rest).take(limit).collect();
        Ok(Matches { places, fitting, dominant: false, how, unknown: Vec::new() })
    }

    async fn nearest(&self, point: Point, limit: usize) -> Result<Vec<Place>, SourceError> {
        let mut ask = self.ask();
        self.dialect.reverse(&mut ask, point, limit.clamp(1, MOST));
        let mut places = self.places(ask.url).await?;
        places.sort_by(|a, b| a.point.distance(point).total_cmp(&b.point.distance(point)));
        places.truncate(limit);
        Ok(places)
    }

    async fn beside(&self, _place: &Place, _limit: usize) -> Result<Vec<Place>, SourceError> {
        // Geocoders cannot list a division.
        Ok(Vec::new())
    }

    async fn get(&self, id: &str) -> Result<Option<Place>, SourceError> {
        let mut ask = self.ask();
        if !self.dialect.lookup(&mut ask, id) {
            return Ok(None);
        }
        Ok(self.places(ask.url).await?.into_iter().find(|place| place.id == id))
    }

    fn version(&self) -> String {
        self.dialect.name().to_owned()
    }

    fn name(&self) -> &'static str {
        self.dialect.name()
    }

    fn count(&self) -> u64 {
        0
    }

    fn health(&self) -> Health {
        match &*self.trouble.lock().unwrap_or_else(PoisonError::into_inner) {
            None => Health::Healthy,
            Some(why) => Health::Unhealthy(format!("the geocoder {why}")),
        }
    }
}

/// Without results that are another form of an earlier one.
fn distinct(places: Vec<Place>) -> Vec<Place> {
    let mut kept: Vec<Place> = Vec::new();
    for place in places {
        let again = kept
            .iter()
            .any(|earlier| earlier.label() == place.label() && earlier.point.distance(place.point) < SAME);
        if !again {
            kept.push(place);
        }
    }
    kept
}

/// A text field that is there and not empty, fit to be shown.
fn text(value: Option<&Value>) -> Option<String> {
    let text = value?.as_str()?;
    let shown = excerpt(text, 300);
    (!shown.is_empty()).then_some(shown)
}

/// A number, also one that is written as a text.
fn number(value: Option<&Value>) -> Option<f64> {
    let value = value?;
    value.as_f64().or_else(|| value.as_str()?.parse().ok()).filter(|number| number.is_finite())
}

/// South, west, north and east from a list, by the places they have in it.
fn bounds(value: Option<&Value>, [south, west, north, east]: [usize; 4]) -> Option<[f64; 4]> {
    let list = value?.as_array()?;
    let at = |n: usize| number(list.get(n));
    Some([at(south)?, at(west)?, at(north)?, at(east)?])
}
