//! Settings: where they come from, what they may be, and what each one means.
//!
//! One struct per concern holds the raw values with their defaults; [`load`] reads the files and
//! the environment, refuses keys that do not exist, and turns the rest into validated [`Settings`]
//! that are handed down as values. Nothing else reads the environment or the files.

mod access;
mod auth;
mod clarify;
mod embedding;
mod endpoint;
mod keys;
mod limits;
mod load;
mod log;
mod policy;
mod problem;
mod rerank;
mod server;
mod sources;

pub use access::{AccessSettings, Inclusion, Webhook};
pub use auth::Auth;
pub use clarify::{Clarify, RawClarify, SourceClarify, StateKey};
pub use embedding::{EmbeddingChoice, EmbeddingKind, RawEmbedding};
pub use load::{PROFILE_VARIABLE, load};
pub use log::{Format, Log};
pub use policy::ContentRules;
pub use problem::{ConfigError, Problem};
pub use rerank::RawRerank;
pub use server::{Data, RawServer, Server};
pub use sources::{Card, Freshness, SourceConfig, Statements, Usage};

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{limits::LimitOptions, search::remote::RerankOptions};

/// Everything askback is told at start, validated.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The listener and what it lets in.
    pub server: Server,
    /// Where state lives.
    pub data: Data,
    /// What computes vectors.
    pub embedding: EmbeddingChoice,
    /// What takes a second look at results, if anything does.
    pub rerank: Option<RerankOptions>,
    /// Asking back.
    pub clarify: Clarify,
    /// Who may call.
    pub auth: Auth,
    /// What callers are shown, and who is told when they ask for more.
    pub access: AccessSettings,
    /// How much callers may ask.
    pub limits: LimitOptions,
    /// Logs.
    pub log: Log,
    /// The sources, in the order of the files.
    pub sources: Vec<SourceConfig>,
}

/// The settings as they are written, before validation.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
struct RawSettings {
    server: RawServer,
    data: Data,
    embedding: RawEmbedding,
    rerank: Option<RawRerank>,
    clarify: RawClarify,
    auth: auth::RawAuth,
    access: access::RawAccess,
    limits: limits::RawLimits,
    log: Log,
    #[schemars(skip)]
    sources: Vec<serde_json::Map<String, serde_json::Value>>,
}
