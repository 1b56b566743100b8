//! Embeddings and rerankers behind HTTP: OpenAI-compatible `/embeddings`, and the `/rerank` of
//! Cohere, Jina, vLLM and others. Owns how a service is asked, how often, for how long, and what of
//! its answers is believed; knows neither sources nor where sightings of a model are kept.

mod embedder;
mod embedding;
mod options;
mod ranking;
mod recent;
mod reranker;
mod retry;
mod sighting;
mod tokens;
mod transport;
mod trouble;
mod vectors;

pub use embedding::RemoteEmbedding;
pub use options::{EmbeddingOptions, Endpoint, RerankOptions, Secret};
pub use reranker::RemoteReranker;
pub use sighting::{Memory, Sighting};
pub use transport::Transport;
