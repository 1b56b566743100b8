//! `write`: contributing content. No source takes writes yet: every well-formed call learns so.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Code, Failure, Service};
use crate::access::Caller;

/// Arguments of `write`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Write {
    /// Slug of the source to write to.
    pub source: String,
    /// How to write.
    pub mode: WriteMode,
    /// The content.
    #[schemars(length(min = 1))]
    pub content: String,
    /// Its title.
    #[serde(default)]
    pub title: Option<String>,
    /// The natural key that `upsert` replaces under.
    #[serde(default)]
    pub key: Option<String>,
    /// The item that `annotate` puts its note on.
    #[serde(default)]
    pub reference: Option<String>,
    /// Where the content comes from.
    pub provenance: Origin,
    /// The same key with the same content returns the first receipt again.
    #[serde(default)]
    pub idempotency_key: Option<String>,
}

/// How to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WriteMode {
    /// Add a new item.
    Append,
    /// Add, or replace what has the same `key`.
    Upsert,
    /// Put a note on an item, whose content stays as it is.
    Annotate,
}

/// Where contributed content comes from.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// What it was drawn from: a URL, a document, a conversation.
    pub origin: String,
    /// Anything a reader should know.
    #[serde(default)]
    pub note: Option<String>,
}

/// The receipt of a write: durable, and visible to the next retrieve.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Written {
    /// Identifies this call in logs.
    pub request_id: String,
    /// The item's reference.
    pub reference: String,
    /// As asked for.
    pub mode: WriteMode,
    /// What happened: created, updated or unchanged.
    pub result: String,
    /// Counts the item's versions from 1.
    pub revision: u64,
    /// When it was recorded, RFC 3339 in UTC.
    pub recorded_at: String,
    /// Whether an earlier call with the same idempotency key had done it already.
    pub replayed: bool,
}

impl Service {
    /// Refuses: what is true of every source so far.
    ///
    /// # Errors
    /// `source_not_found`, otherwise `write_not_allowed`.
    pub fn write(&self, caller: &Caller, request: &Write) -> Result<Written, Failure> {
        let entry = self.source(caller, &request.source)?;
        Err(Failure::new(
            Code::WriteNotAllowed,
            format!("source `{}` takes no writes; its owner decides what goes into it", entry.slug()),
        )
        .with(json!({ "source": entry.slug() })))
    }
}
