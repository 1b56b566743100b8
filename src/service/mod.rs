//! The six use cases, one file each. Knows callers, sources and dialogues; knows neither MCP nor
//! HTTP: requests and responses are plain values that an adapter can carry over any wire.

mod ask;
mod budget;
mod chosen;
mod describe_source;
mod failure;
mod find;
mod list_sources;
mod outcome;
mod page;
pub mod refine;
mod request_access;
pub mod retrieve;
mod view;
mod write;

use std::sync::Arc;

pub use describe_source::{DescribeSource, SourceCard};
pub use failure::{Code, Failure};
pub use list_sources::{ListSources, SourceList, SourceSummary};
pub use outcome::{AskedNote, Clarification, ConfidenceNote, Outcome};
pub use page::PAGE_SIZE;
pub use refine::{Refine, Refined};
pub use request_access::{AccessRequested, RequestAccess};
pub use retrieve::{Retrieve, Retrieved};
pub use write::{Write, Written};

use crate::{
    config::{AccessSettings, Clarify, Inclusion},
    sources::registry::Registry,
    store::state::StateStore,
};

/// What every use case works with.
#[derive(Clone)]
pub struct Service {
    registry: Arc<Registry>,
    clarify: Clarify,
    state: Arc<dyn StateStore>,
    list: Inclusion,
    /// Whether somebody is told of requests for access.
    notify: bool,
}

impl Service {
    /// A service over `registry` that asks by the rules of `clarify`, keeps grants and requests in
    /// `state`, and shows callers what `access` says.
    pub fn new(
        registry: Arc<Registry>,
        clarify: Clarify,
        state: Arc<dyn StateStore>,
        access: &AccessSettings,
    ) -> Self {
        Self { registry, clarify, state, list: access.list, notify: access.webhook.is_some() }
    }

    /// The sources it serves.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The rules it asks by.
    pub fn clarify(&self) -> &Clarify {
        &self.clarify
    }
}

/// Whether a call may ask its user.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ClarifyMode {
    /// When the result is weak or ambiguous.
    #[default]
    Auto,
    /// Not in this call.
    Never,
}
