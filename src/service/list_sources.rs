//! `list_sources`: what there is to search.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Failure, Service, page};
use crate::{
    access::Caller,
    sources::registry::{Entry, Family},
};

/// Arguments of `list_sources`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListSources {
    /// Only sources of this family.
    #[serde(default)]
    pub family: Option<Family>,
    /// `next_cursor` of the page before.
    #[serde(default)]
    pub cursor: Option<String>,
}

/// What `list_sources` answers.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SourceList {
    /// Identifies this call in logs.
    pub request_id: String,
    /// Sources, by slug.
    pub sources: Vec<SourceSummary>,
    /// Hand it back as `cursor` for more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// One source in a list.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SourceSummary {
    /// What `source` arguments take.
    pub slug: String,
    /// Its name for people.
    pub name: String,
    /// What kind of thing it holds.
    pub family: Family,
    /// What it holds.
    pub description: String,
    /// Where it is in its life: `published` answers queries.
    pub status: &'static str,
    /// What the caller may do with it: read, write, requestable or none.
    pub access: &'static str,
    /// How far its content is to be trusted.
    pub trust: crate::sources::Trust,
    /// Documents held.
    pub documents: u64,
    /// When its content was last brought up to date, RFC 3339 in UTC; absent before the first time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_refreshed: Option<String>,
    /// Whether its tools may ask the user when a result is weak or ambiguous.
    pub clarifies: bool,
    /// Whether it answers now: healthy, preparing or unhealthy.
    pub health: &'static str,
}

impl Service {
    /// The sources this caller may know of.
    ///
    /// # Errors
    /// `invalid_argument` for a cursor this list did not hand out.
    pub fn list_sources(
        &self,
        _caller: &Caller,
        request: &ListSources,
        request_id: &str,
    ) -> Result<SourceList, Failure> {
        let entries: Vec<&Entry> = self
            .registry
            .entries()
            .iter()
            .filter(|entry| request.family.is_none_or(|family| entry.family() == family))
            .collect();
        let (entries, next_cursor) = page::page(entries, request.cursor.as_deref(), |entry| entry.slug())?;
        let sources = entries.into_iter().map(|entry| self.summary(entry)).collect();
        Ok(SourceList { request_id: request_id.to_owned(), sources, next_cursor })
    }

    pub(super) fn summary(&self, entry: &Entry) -> SourceSummary {
        let config = entry.config();
        let status = entry.status();
        SourceSummary {
            slug: config.slug.clone(),
            name: config.name.clone(),
            family: entry.family(),
            description: config.description.clone(),
            status: "published",
            access: "read",
            trust: entry.trust(),
            documents: status.documents,
            last_refreshed: status.last_refreshed,
            clarifies: self.source_clarifies(entry),
            health: status.health.name(),
        }
    }

    pub(super) fn source_clarifies(&self, entry: &Entry) -> bool {
        self.clarify.enabled && entry.config().clarify.enabled.unwrap_or(true)
    }
}
