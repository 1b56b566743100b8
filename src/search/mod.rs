//! Parts of the embedded hybrid index: chunking, analysis, BM25, dense vectors, fusion, and the
//! embedding, bundled or remote. Knows texts and numbers; knows neither sources, callers nor the protocol.

pub mod analysis;
pub mod chunking;
pub mod dense;
pub mod embedder;
pub mod embedding;
pub mod fusion;
pub mod hybrid;
mod isa;
pub mod lexical;
pub mod remote;
pub mod rerank;

/// An index could not be built, opened or searched. The text is for logs.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SearchError(pub String);

impl SearchError {
    pub(crate) fn of(doing: &str, error: impl std::fmt::Display) -> Self {
        Self(format!("{doing}: {error}"))
    }
}
