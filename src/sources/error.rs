//! What can go wrong in a source, free of transport. `service` adds the tool's view and `mcp`
//! maps it to the wire.

use super::{Reference, Strategy};
use crate::search::embedder::EmbedError;

/// Why a source could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The reference names nothing this source holds.
    #[error("nothing is stored under {0}")]
    ReferenceNotFound(Reference),
    /// The source does not offer that refine strategy.
    #[error("strategy {strategy} is not supported here")]
    StrategyNotSupported {
        /// What was asked for.
        strategy: Strategy,
        /// What it offers instead.
        supported: Vec<Strategy>,
    },
    /// Sources of this kind take no contributions.
    #[error("sources of this kind take no contributions")]
    TakesNoWrites,
    /// The contributed content will not do. The text says why and what would, for callers.
    #[error("{0}")]
    Rejected(String),
    /// The source, or what stands behind it, cannot answer now. The text is fit for callers.
    #[error("{0}")]
    Unavailable(String),
    /// Something broke. The text is for logs, never for callers.
    #[error("{0}")]
    Internal(String),
}

impl SourceError {
    /// Wraps any error as [`SourceError::Internal`], saying what was being done.
    pub fn internal(doing: &str, error: impl std::fmt::Display) -> Self {
        Self::Internal(format!("{doing}: {error}"))
    }

    /// What a failed embedding is to a source, saying what was being embedded.
    pub fn embedding(doing: &str, error: EmbedError) -> Self {
        match error {
            EmbedError::Unavailable(why) => Self::Unavailable(why),
            EmbedError::Failed(what) => Self::internal(doing, what),
        }
    }
}
