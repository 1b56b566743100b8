//! The kind's own keys in `[[sources]]`.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::engine::{Dialect, Options};
use crate::sources::{Trust, outside::checked, registry::SettingsError};

/// Settings of a routes source.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RoutesSettings {
    /// The routing engine's dialect.
    engine: EngineName,
    /// Its base address.
    url: String,
    /// Slug of the source of places that names are looked up in.
    #[serde(default = "default_places")]
    pub(super) places: String,
    /// How one travels, as the engine calls it: `driving` for OSRM and `auto` for Valhalla if left out.
    #[serde(default)]
    profile: Option<String>,
    /// Ways asked for besides the best, from 0 to 5.
    #[serde(default = "default_alternatives")]
    #[schemars(range(max = 5))]
    alternatives: u32,
    /// Time for one request to the engine.
    #[serde(default = "default_timeout", with = "humantime_serde")]
    #[schemars(with = "String")]
    timeout: Duration,
    /// Language of instructions, as in `en` or `pt-BR`.
    #[serde(default = "default_language")]
    language: String,
    /// Whether the engine knows the traffic: Mapbox does, plain OSRM refuses the question.
    #[serde(default)]
    congestion: bool,
    /// The environment variable that holds the engine's key.
    #[serde(default)]
    api_key_env: Option<String>,
}

/// The routing engine's dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum EngineName {
    /// Engines that speak like OSRM.
    Osrm,
    /// Engines that speak like Valhalla.
    Valhalla,
}

fn default_places() -> String {
    "places".to_owned()
}

fn default_alternatives() -> u32 {
    2
}

fn default_timeout() -> Duration {
    Duration::from_secs(10)
}

fn default_language() -> String {
    "en".to_owned()
}

impl RoutesSettings {
    /// Reads the settings.
    ///
    /// # Errors
    /// The first key that will not do.
    pub(super) fn read(settings: &Map<String, Value>) -> Result<Self, SettingsError> {
        for (key, remedy) in [("engine", "say osrm or valhalla"), ("url", "name the engine's base address")] {
            if !settings.contains_key(key) {
                return Err(SettingsError::new(key, format!("is missing; {remedy}")));
            }
        }
        let read: Self = serde_path_to_error::deserialize(Value::Object(settings.clone()))
            .map_err(|error| SettingsError::new(&error.path().to_string(), error.inner().to_string()))?;
        read.options()?;
        Ok(read)
    }

    /// Where the engine is and how it is asked.
    ///
    /// # Errors
    /// The first key that will not do.
    pub(super) fn options(&self) -> Result<Options, SettingsError> {
        let (url, key) = checked(&self.url, self.timeout, self.api_key_env.as_deref())?;
        if self.alternatives > 5 {
            return Err(SettingsError::new("alternatives", "must be from 0 to 5"));
        }
        let (dialect, usual) = match self.engine {
            EngineName::Osrm => (Dialect::Osrm, "driving"),
            EngineName::Valhalla => (Dialect::Valhalla, "auto"),
        };
        Ok(Options {
            dialect,
            url,
            key,
            timeout: self.timeout,
            profile: self.profile.clone().unwrap_or_else(|| usual.to_owned()),
            alternatives: self.alternatives,
            language: self.language.clone(),
            congestion: self.congestion,
        })
    }
}

pub(super) fn schema() -> Value {
    schemars::schema_for!(RoutesSettings).to_value()
}

pub(super) fn check(settings: &Map<String, Value>) -> Result<(), SettingsError> {
    RoutesSettings::read(settings).map(drop)
}

pub(super) fn trust(_settings: &Map<String, Value>) -> Trust {
    Trust::ExternalPassthrough
}
