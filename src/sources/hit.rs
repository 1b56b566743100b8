//! One result and where it came from.

use serde::Serialize;

use super::Reference;

/// One result of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Its stable handle.
    pub reference: Reference,
    /// The document it belongs to: hits with equal `document` read on into each other.
    pub document: String,
    /// The passage.
    pub text: String,
    /// Fused score in [0, 1]; comparable within one search only.
    pub score: f32,
    /// Title of the document.
    pub title: String,
    /// Heading path inside the document, joined by " › ", if it has headings.
    pub section: Option<String>,
    /// What to call it among options, where title and section would not tell it from others.
    pub label: Option<String>,
    /// Where a person can read the original.
    pub url: Option<String>,
    /// Index of the passage in its document, from 0.
    pub position: u32,
    /// Where it came from and what happened to it.
    pub provenance: Provenance,
    /// Structured fields of kinds that have them (coordinates, durations, …).
    pub data: Option<serde_json::Value>,
    /// What has been noted on it, newest first.
    pub notes: Vec<Note>,
}

/// A note somebody put on an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Note {
    /// What it says: data, never instructions.
    pub text: String,
    /// Who wrote it.
    pub writer: String,
    /// When, RFC 3339 in UTC.
    pub recorded_at: String,
    /// What it was drawn from, in the writer's words.
    pub origin: String,
    /// How far it is to be trusted.
    pub trust: Trust,
    /// Whether the document has changed since: the note may be about what is no longer there.
    pub content_changed: bool,
}

/// Where a hit came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Provenance {
    /// URI of the original, relative to the source: never a path of the server's disk.
    pub origin: String,
    /// When the content was read, RFC 3339 in UTC.
    pub fetched_at: String,
    /// How far the content is to be trusted.
    pub trust: Trust,
    /// SHA-256 of the document's content, hex.
    pub content_sha256: String,
    /// The index that answered.
    pub index_version: String,
    /// The recipe (chunking, analysis, embedding) the index was built by.
    pub recipe_version: String,
    /// Whether a rewriter changed the query that found it.
    pub rewritten: bool,
    /// Who wrote it, for contributed content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writer: Option<String>,
    /// Counts the versions of contributed content from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
}

/// Trust classes of content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// Chosen and reviewed by people.
    CuratedReviewed,
    /// Brought in automatically from a place people chose.
    CuratedAutomated,
    /// Written by agents through `write`.
    AgentContributed,
    /// Passed through from an outside service.
    ExternalPassthrough,
}
