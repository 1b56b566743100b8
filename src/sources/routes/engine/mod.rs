//! Routing engines behind HTTP: those that speak like OSRM, and those that speak like Valhalla.

mod osrm;
mod valhalla;

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use reqwest::Url;
use serde_json::Value;

use crate::{
    search::remote::Secret,
    sources::{Health, SourceError, geo::Point, outside::Outside},
};

/// One way from start to destination.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Route {
    /// Seconds.
    pub(super) duration: f64,
    /// Metres.
    pub(super) distance: f64,
    /// From each end to the next.
    pub(super) legs: Vec<Leg>,
    /// The line, encoded by Google's algorithm with six digits after the point, if the engine gives it in
    /// one piece.
    pub(super) line: Option<String>,
    /// Where the engine knows the traffic.
    pub(super) traffic: Option<Traffic>,
    /// How many incidents are on the way, where the engine knows of any.
    pub(super) incidents: Option<usize>,
}

/// A part of a route between two ends.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Leg {
    pub(super) duration: f64,
    pub(super) distance: f64,
    /// Its line, as the route's, if the engine gives it leg by leg.
    pub(super) line: Option<String>,
    pub(super) steps: Vec<Step>,
}

/// What to do next.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Step {
    /// In words.
    pub(super) instruction: String,
    /// The road it is on; empty if it has no name.
    pub(super) road: String,
    pub(super) duration: f64,
    pub(super) distance: f64,
}

/// How dense the traffic is, roughly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Traffic {
    Light,
    Moderate,
    Heavy,
}

/// Share of the length from above which congestion colours the whole route.
const SHARE: f64 = 0.2;

impl Traffic {
    /// What lengths (in metres) in moderate, heavy or severe congestion, and all in all, come to: heavy when
    /// heavy and severe exceed a fifth of the length, moderate when they do together with moderate.
    pub(super) fn of(moderate: f64, heavy: f64, all: f64) -> Self {
        if heavy > SHARE * all {
            Self::Heavy
        } else if moderate + heavy > SHARE * all {
            Self::Moderate
        } else {
            Self::Light
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Moderate => "moderate",
            Self::Heavy => "heavy",
        }
    }
}

/// Where an engine is and how it is asked.
#[derive(Debug, Clone)]
pub(super) struct Options {
    pub(super) dialect: Dialect,
    pub(super) url: Url,
    pub(super) key: Option<Secret>,
    pub(super) timeout: Duration,
    /// `driving`, `auto`, …: what the engine calls it.
    pub(super) profile: String,
    /// Ways asked for besides the best.
    pub(super) alternatives: u32,
    /// Language of instructions.
    pub(super) language: String,
    /// Whether the engine knows the traffic.
    pub(super) congestion: bool,
}

/// How an engine is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Osrm,
    Valhalla,
}

/// A routing engine.
pub(super) struct Engine {
    outside: Outside,
    options: Options,
    /// Why it did not answer the last time.
    trouble: Mutex<Option<String>>,
}

impl Engine {
    pub(super) fn new(options: Options) -> Result<Self, SourceError> {
        Ok(Self { outside: Outside::new(options.timeout)?, options, trouble: Mutex::new(None) })
    }

    pub(super) fn name(&self) -> &'static str {
        match self.options.dialect {
            Dialect::Osrm => "osrm",
            Dialect::Valhalla => "valhalla",
        }
    }

    /// The ways through `points`, best first; none if there is none.
    ///
    /// # Errors
    /// [`SourceError::Unavailable`] if the engine does not answer, or not sensibly.
    pub(super) async fn routes(&self, points: &[Point]) -> Result<Vec<Route>, SourceError> {
        let result = match self.options.dialect {
            Dialect::Osrm => match osrm::address(&self.options, points) {
                Some(url) => {
                    self.outside.get(url).await.and_then(|(status, answer)| osrm::read(status, &answer))
                }
                None => Err("cannot be asked at its address".to_owned()),
            },
            Dialect::Valhalla => {
                let (url, body) = valhalla::request(&self.options, points);
                self.outside
                    .post(url, &body)
                    .await
                    .and_then(|(status, answer)| valhalla::read(status, &answer))
            }
        };
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = result.as_ref().err().cloned();
        result.map_err(|why| {
            tracing::warn!(engine = self.name(), why, "the routing engine did not answer");
            SourceError::Unavailable(format!("the routing engine {why}; try again later"))
        })
    }

    pub(super) fn health(&self) -> Health {
        match &*self.trouble.lock().unwrap_or_else(PoisonError::into_inner) {
            None => Health::Healthy,
            Some(why) => Health::Unhealthy(format!("the routing engine {why}")),
        }
    }
}

/// A number that is there, finite, and not negative.
fn amount(value: Option<&Value>) -> Option<f64> {
    value?.as_f64().filter(|number| number.is_finite() && *number >= 0.0)
}

fn list(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten()
}

/// A text, cleaned of what should not be shown.
fn shown(value: Option<&Value>) -> String {
    crate::text::excerpt(value.and_then(Value::as_str).unwrap_or_default(), 300)
}
