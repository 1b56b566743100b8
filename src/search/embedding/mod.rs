//! The bundled embedding: all-MiniLM-L6-v2 (sentence-transformers, Apache-2.0) with weights packed
//! to 4 bits, compiled into the binary. Owns tokenising and the forward pass; no framework, no
//! network, no files at run time. `assets/README.md` says where the weights come from.

mod attention;
mod forward;
mod kernel;
mod linear;
mod math;
mod quantize;
mod tile;
mod weights;
mod wordpiece;

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use super::embedder::{EmbedError, Embedder};
pub use super::isa::Isa;
use forward::{Model, Workspace};
use wordpiece::WordPiece;

/// Length of the vectors.
pub const DIMENSIONS: usize = 384;

/// Tokens a text is cut to, `[CLS]` and `[SEP]` included: what the model was trained with.
pub const MAX_TOKENS: usize = 256;

const WEIGHTS: &[u8] =
    include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/minilm-l6-q4/model.safetensors"));
const VOCABULARY: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/minilm-l6-q4/vocab.txt"));

/// Name and version of the weights, as vector caches know them. A test holds it to the asset's hash.
const ID: &str = "minilm-l6-q4-r1";

/// The bundled weights do not have the shape the code expects: a build with a wrong asset.
#[derive(Debug, thiserror::Error)]
#[error("the bundled embedding cannot be read: {0}")]
pub struct EmbeddingError(pub(crate) String);

/// all-MiniLM-L6-v2, ready to embed. Cheap to share, safe to call from many threads.
pub struct MiniLm {
    model: Model,
    tokenizer: WordPiece,
    threads: usize,
    /// Scratch memory of finished calls, for the next ones.
    idle: Mutex<Vec<Workspace>>,
}

impl MiniLm {
    /// Reads the bundled weights and unpacks them for this machine's best kernel. Takes some tens
    /// of milliseconds and about 20 MB.
    ///
    /// # Errors
    /// [`EmbeddingError`] if the asset does not have the expected shape.
    pub fn load() -> Result<Self, EmbeddingError> {
        Self::with_isa(Isa::detect())
    }

    /// The same for one of the instruction sets this machine has, to compare them.
    ///
    /// # Errors
    /// As [`MiniLm::load`].
    pub fn with_isa(isa: Isa) -> Result<Self, EmbeddingError> {
        Ok(Self {
            model: Model::read(WEIGHTS, isa)?,
            tokenizer: WordPiece::new(VOCABULARY)?,
            threads: thread::available_parallelism().map_or(1, usize::from),
            idle: Mutex::new(Vec::new()),
        })
    }

    /// Embeds one text on the calling thread.
    pub fn embed_one(&self, text: &str) -> Vec<f32> {
        let tokens = self.tokenizer.encode(text, MAX_TOKENS);
        let mut workspace =
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        let vector = self.model.embed(&tokens, &mut workspace);
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(workspace);
        vector
    }

    /// Embeds many texts on as many threads as there are processors. Equal to embedding each
    /// alone: texts do not share a batch, so nothing is padded.
    pub fn embed_batch(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        let workers = self.threads.min(texts.len());
        if workers <= 1 {
            return texts.iter().map(|text| self.embed_one(text)).collect();
        }
        let next = AtomicUsize::new(0);
        let mut vectors = vec![Vec::new(); texts.len()];
        let done: Vec<(usize, Vec<f32>)> = thread::scope(|scope| {
            let work = || {
                let mut mine = Vec::new();
                while let Some((n, text)) = {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    texts.get(n).map(|text| (n, text))
                } {
                    mine.push((n, self.embed_one(text)));
                }
                mine
            };
            let running: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
            running.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect()
        });
        for (n, vector) in done {
            if let Some(slot) = vectors.get_mut(n) {
                *slot = vector;
            }
        }
        vectors
    }
}

impl Embedder for MiniLm {
    fn id(&self) -> &str {
        ID
    }

    fn dimensions(&self) -> usize {
        DIMENSIONS
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let vectors = self.embed_batch(texts);
        // A worker that died leaves holes: better an error than a vector of nothing.
        if vectors.iter().any(|vector| vector.len() != DIMENSIONS) {
            return Err(EmbedError::Failed("embedding was interrupted".to_owned()));
        }
        Ok(vectors)
    }

    fn count_tokens(&self, text: &str) -> usize {
        self.tokenizer.count(text)
    }
}

#[cfg(test)]
mod tests;
