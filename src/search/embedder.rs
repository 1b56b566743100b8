//! What the index needs of an embedding, whichever it is: the bundled one, or a remote one.

/// Turns texts into vectors of length one.
pub trait Embedder: Send + Sync {
    /// Identifies the embedding: vectors of different ids never mix.
    fn id(&self) -> &str;

    /// Length of its vectors.
    fn dimensions(&self) -> usize;

    /// One vector per text, in order, each of Euclidean length one.
    ///
    /// # Errors
    /// [`EmbedError`] if the texts could not be embedded.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError>;

    /// How many tokens `text` comes to for this embedding, without a cap.
    fn count_tokens(&self, text: &str) -> usize;
}

/// Texts could not be embedded.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct EmbedError(pub String);
