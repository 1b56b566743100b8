//! The kind's own keys in `[[sources]]`.

use std::path::PathBuf;

use bytesize::ByteSize;
use globset::{Glob, GlobSet, GlobSetBuilder};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    search::analysis::Language,
    sources::{Trust, registry::SettingsError},
};

/// Settings of a documents source.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DocumentsSettings {
    /// Folder that holds the files, or one file. Relative to the working directory.
    #[schemars(with = "String")]
    pub path: PathBuf,
    /// Globs of files to read, relative to `path`.
    #[serde(default = "default_include")]
    pub include: Vec<String>,
    /// Globs of files to leave out.
    #[serde(default)]
    pub exclude: Vec<String>,
    /// Language of the texts: decides stemming, stop words, and what everyday queries calibration
    /// uses. English analysis unless it is set.
    #[serde(default)]
    pub language: Option<Language>,
    /// Larger files are left out, with a warning.
    #[serde(default = "default_max_file_bytes")]
    #[schemars(with = "String")]
    pub max_file_bytes: ByteSize,
    /// Hits link to this plus their document's id, unless the document names its own URL.
    #[serde(default)]
    pub url_base: Option<String>,
    /// How far the content is to be trusted.
    #[serde(default = "default_trust")]
    pub trust: Trust,
}

fn default_include() -> Vec<String> {
    ["md", "markdown", "txt", "html", "htm", "jsonl", "ndjson"]
        .map(|ending| format!("**/*.{ending}"))
        .to_vec()
}

fn default_max_file_bytes() -> ByteSize {
    ByteSize::mib(64)
}

fn default_trust() -> Trust {
    Trust::CuratedReviewed
}

impl DocumentsSettings {
    /// Reads the settings.
    ///
    /// # Errors
    /// The first key that will not do.
    pub fn read(settings: &Map<String, Value>) -> Result<Self, SettingsError> {
        if !settings.contains_key("path") {
            return Err(SettingsError {
                key: "path".to_owned(),
                message: "is missing; name the folder that holds the files".to_owned(),
            });
        }
        let read: Self =
            serde_path_to_error::deserialize(Value::Object(settings.clone())).map_err(|error| {
                SettingsError { key: error.path().to_string(), message: error.inner().to_string() }
            })?;
        read.globs("include", &read.include)?;
        read.globs("exclude", &read.exclude)?;
        Ok(read)
    }

    /// The language texts are analysed in.
    pub(super) fn analysis(&self) -> Language {
        self.language.unwrap_or_default()
    }

    /// Which paths to read and which not.
    ///
    /// # Errors
    /// If a glob is malformed.
    pub(super) fn selection(&self) -> Result<(GlobSet, GlobSet), SettingsError> {
        Ok((self.globs("include", &self.include)?, self.globs("exclude", &self.exclude)?))
    }

    fn globs(&self, key: &str, globs: &[String]) -> Result<GlobSet, SettingsError> {
        let failed =
            |error: globset::Error| SettingsError { key: key.to_owned(), message: error.to_string() };
        let mut set = GlobSetBuilder::new();
        for glob in globs {
            set.add(Glob::new(glob).map_err(failed)?);
        }
        set.build().map_err(failed)
    }
}

pub(super) fn schema() -> Value {
    schemars::schema_for!(DocumentsSettings).to_value()
}

pub(super) fn check(settings: &Map<String, Value>) -> Result<(), SettingsError> {
    DocumentsSettings::read(settings).map(|_| ())
}

pub(super) fn trust(settings: &Map<String, Value>) -> Trust {
    DocumentsSettings::read(settings).map_or_else(|_| default_trust(), |settings| settings.trust)
}
