//! The kind's own keys in `[[sources]]`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::sources::{Trust, registry::SettingsError};

/// Settings of a places source.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PlacesSettings {
    /// Where places come from.
    #[serde(default)]
    pub(super) backend: BackendName,
}

/// Where places come from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum BackendName {
    /// The cities that come with the program.
    #[default]
    Gazetteer,
}

impl PlacesSettings {
    pub(super) fn read(settings: &Map<String, Value>) -> Result<Self, SettingsError> {
        serde_path_to_error::deserialize(Value::Object(settings.clone())).map_err(|error| SettingsError {
            key: error.path().to_string(),
            message: error.inner().to_string(),
        })
    }
}

pub(super) fn schema() -> Value {
    schemars::schema_for!(PlacesSettings).to_value()
}

pub(super) fn check(settings: &Map<String, Value>) -> Result<(), SettingsError> {
    PlacesSettings::read(settings).map(drop)
}

pub(super) fn trust(_settings: &Map<String, Value>) -> Trust {
    Trust::CuratedAutomated
}
