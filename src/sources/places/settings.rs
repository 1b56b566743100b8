//! The kind's own keys in `[[sources]]`.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::geocoder::Options;
use crate::sources::{Trust, outside::checked, registry::SettingsError};

/// Settings of a places source.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PlacesSettings {
    /// Where places come from.
    #[serde(default)]
    pub(super) backend: BackendName,
    /// Base address of the geocoder; not for the gazetteer.
    #[serde(default)]
    url: Option<String>,
    /// The environment variable that holds the geocoder's key.
    #[serde(default)]
    api_key_env: Option<String>,
    /// Time for one request to the geocoder.
    #[serde(default = "default_timeout", with = "humantime_serde")]
    #[schemars(with = "String")]
    timeout: Duration,
    /// Language the geocoder answers in, as in `en` or `pt-BR`.
    #[serde(default = "default_language")]
    language: String,
}

/// Where places come from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum BackendName {
    /// The cities that come with the program.
    #[default]
    Gazetteer,
    /// A service that speaks like Nominatim.
    Nominatim,
    /// A service that speaks like Photon.
    Photon,
    /// A service that speaks like Mapbox Geocoding v6.
    Mapbox,
}

fn default_timeout() -> Duration {
    Duration::from_secs(5)
}

fn default_language() -> String {
    "en".to_owned()
}

impl PlacesSettings {
    /// Reads the settings.
    ///
    /// # Errors
    /// The first key that will not do.
    pub(super) fn read(settings: &Map<String, Value>) -> Result<Self, SettingsError> {
        let read: Self = serde_path_to_error::deserialize(Value::Object(settings.clone()))
            .map_err(|error| SettingsError::new(&error.path().to_string(), error.inner().to_string()))?;
        if read.backend == BackendName::Gazetteer {
            let keys = ["url", "api_key_env", "timeout", "language"];
            if let Some(key) = keys.into_iter().find(|key| settings.contains_key(*key)) {
                return Err(SettingsError::new(key, "is for geocoders; the gazetteer asks no service"));
            }
            return Ok(read);
        }
        read.geocoder()?;
        Ok(read)
    }

    /// Where the geocoder is and how it is asked.
    ///
    /// # Errors
    /// The first key that will not do.
    pub(super) fn geocoder(&self) -> Result<Options, SettingsError> {
        let base = self.url.as_deref().ok_or_else(|| {
            SettingsError::new(
                "url",
                "is missing; name the geocoder's base address, such as https://nominatim.example.com",
            )
        })?;
        let (url, key) = checked(base, self.timeout, self.api_key_env.as_deref())?;
        let tag = self.language.len() <= 35
            && !self.language.is_empty()
            && self.language.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        if !tag {
            return Err(SettingsError::new("language", "must be a language tag, such as en or pt-BR"));
        }
        Ok(Options { url, key, timeout: self.timeout, language: self.language.clone() })
    }
}

pub(super) fn schema() -> Value {
    schemars::schema_for!(PlacesSettings).to_value()
}

pub(super) fn check(settings: &Map<String, Value>) -> Result<(), SettingsError> {
    PlacesSettings::read(settings).map(drop)
}

pub(super) fn trust(settings: &Map<String, Value>) -> Trust {
    match settings.get("backend").and_then(Value::as_str) {
        None | Some("gazetteer") => Trust::CuratedAutomated,
        Some(_) => Trust::ExternalPassthrough,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    #[rstest]
    #[case(json!({}), None)]
    #[case(json!({"backend": "gazetteer", "url": "http://x"}), Some("url"))]
    #[case(json!({"backend": "nominatim"}), Some("url"))]
    #[case(json!({"backend": "nominatim", "url": "https://n.example.com/base"}), None)]
    #[case(json!({"backend": "nominatim", "url": "ftp://n.example.com"}), Some("url"))]
    #[case(json!({"backend": "nominatim", "url": "https://n.example.com?a=b"}), Some("url"))]
    #[case(json!({"backend": "photon", "url": "http://p", "timeout": "0s"}), Some("timeout"))]
    #[case(json!({"backend": "photon", "url": "http://p", "language": "e n"}), Some("language"))]
    #[case(json!({"backend": "mapbox", "url": "http://p", "api_key_env": "ASKBACK_TEST_NOT_SET"}), Some("api_key_env"))]
    #[case(json!({"backend": "google"}), Some("backend"))]
    fn settings_are_checked(#[case] settings: Value, #[case] wrong: Option<&str>) {
        let checked = check(settings.as_object().unwrap());
        assert_eq!(checked.as_ref().err().map(|error| error.key.as_str()), wrong, "{checked:?}");
    }
}
