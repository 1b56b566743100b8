//! `[log]`.

use schemars::JsonSchema;
use serde::Deserialize;

/// `[log]`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Log {
    /// One JSON object a line, or text for people.
    pub format: Format,
    /// A level (`info`) or a filter (`info,askback=debug`).
    pub level: String,
}

impl Default for Log {
    fn default() -> Self {
        Self { format: Format::Text, level: "info".to_owned() }
    }
}

/// How log lines look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// For machines.
    Json,
}
