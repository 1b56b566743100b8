//! What the index needs of an embedding, whichever it is: the bundled one, or a remote one.

use std::sync::Arc;

/// Turns texts into vectors of length one. Never changes: its vectors can always be compared.
pub trait Embedder: Send + Sync {
    /// Identifies the embedding: vectors of different ids never mix.
    fn id(&self) -> &str;

    /// Length of its vectors.
    fn dimensions(&self) -> usize;

    /// One vector per passage, in order, each of Euclidean length one.
    ///
    /// # Errors
    /// [`EmbedError`] if the texts could not be embedded.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError>;

    /// The same for queries, where the embedding tells them from passages.
    ///
    /// # Errors
    /// As [`Embedder::embed`].
    fn embed_queries(&self, queries: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.embed(queries)
    }

    /// The vector of one query that somebody is waiting for: gives up early rather than late.
    ///
    /// # Errors
    /// As [`Embedder::embed`].
    fn embed_query(&self, query: &str) -> Result<Vec<f32>, EmbedError> {
        let vector = self.embed_queries(&[query])?.pop();
        vector.ok_or_else(|| EmbedError::Failed("a query came back without a vector".to_owned()))
    }

    /// How many tokens `text` comes to for this embedding, without a cap.
    fn count_tokens(&self, text: &str) -> usize;

    /// Tokens it reads of a text, special ones included.
    fn max_tokens(&self) -> usize {
        256
    }

    /// How many texts it likes to be given at once.
    fn batch(&self) -> usize {
        32
    }
}

/// Where embedders come from. What computes vectors elsewhere may be replaced behind its name, so
/// whoever keeps vectors asks for the embedder of the moment, and keeps that one with them.
pub trait Embedding: Send + Sync {
    /// The embedder as it was last seen, without asking anybody; `None` if it was never seen.
    fn known(&self) -> Option<Arc<dyn Embedder>>;

    /// The embedder as it is now. May ask a service: not for the async threads.
    ///
    /// # Errors
    /// [`EmbedError`] if that cannot be found out.
    fn current(&self) -> Result<Arc<dyn Embedder>, EmbedError>;
}

/// An embedding that is always the same, such as the bundled one.
pub struct Fixed(Arc<dyn Embedder>);

impl Fixed {
    /// An embedding that is always `embedder`.
    pub fn new(embedder: Arc<dyn Embedder>) -> Self {
        Self(embedder)
    }
}

impl Embedding for Fixed {
    fn known(&self) -> Option<Arc<dyn Embedder>> {
        Some(Arc::clone(&self.0))
    }

    fn current(&self) -> Result<Arc<dyn Embedder>, EmbedError> {
        Ok(Arc::clone(&self.0))
    }
}

/// Texts could not be embedded.
#[derive(Debug, Clone, thiserror::Error)]
pub enum EmbedError {
    /// What computes the vectors cannot do it now. The text is fit for callers.
    #[error("{0}")]
    Unavailable(String),
    /// Something broke. The text is for logs.
    #[error("{0}")]
    Failed(String),
}
