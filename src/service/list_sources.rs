//! `list_sources`: what there is to search.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Failure, Service, page, view::View};
use crate::{
    access::{AccessLevel, Caller, Lifecycle, Scope},
    config::Inclusion,
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
    pub status: Lifecycle,
    /// What the caller may do with it; `requestable`: ask for access.
    pub access: AccessLevel,
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
    /// The sources this caller may know of, as far as the operator has them listed.
    ///
    /// # Errors
    /// `invalid_argument` for a cursor this list did not hand out; `access_denied` without the scope.
    pub async fn list_sources(
        &self,
        caller: &Caller,
        request: &ListSources,
        request_id: &str,
    ) -> Result<SourceList, Failure> {
        let view = self.view(caller, Scope::List, request_id).await?;
        let listed = |entry: &Entry| match (self.list, view.standing(entry).level()) {
            (Inclusion::All, _) | (_, AccessLevel::Read | AccessLevel::Write) => true,
            (Inclusion::Requestable, level) => level == AccessLevel::Requestable,
            (Inclusion::Accessible, _) => false,
        };
        let entries: Vec<&Entry> = view
            .visible()
            .filter(|entry| request.family.is_none_or(|family| entry.family() == family) && listed(entry))
            .collect();
        let (entries, next_cursor) = page::page(entries, request.cursor.as_deref(), |entry| entry.slug())?;
        let sources = entries.into_iter().map(|entry| self.summary(&view, entry)).collect();
        Ok(SourceList { request_id: request_id.to_owned(), sources, next_cursor })
    }

    pub(super) fn summary(&self, view: &View<'_>, entry: &Entry) -> SourceSummary {
        let config = entry.config();
        let status = entry.status();
        SourceSummary {
            slug: config.slug.clone(),
            name: config.name.clone(),
            family: entry.family(),
            description: config.description.clone(),
            status: config.policy.status,
            access: view.standing(entry).level(),
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
