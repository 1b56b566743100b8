//! The vectors of passages: what was embedded once is not embedded again.

use std::collections::{BTreeSet, HashMap};

use super::{ingest::store_failed, version::indexed_text};
use crate::{
    search::{dense::ByteVector, embedder::Embedder},
    sources::{Progress, SourceError, Stage},
    store::{CorpusStore, Documents, TextHash},
};

/// The vectors of all passages: from the cache, or embedded now and cached.
pub(super) fn vectors(
    store: &CorpusStore,
    embedder: &dyn Embedder,
    documents: &Documents,
    progress: &dyn Progress,
) -> Result<HashMap<TextHash, ByteVector>, SourceError> {
    let id = embedder.id();
    let passages =
        || documents.values().flat_map(|document| document.passages.iter().map(move |p| (document, p)));
    let mut vectors =
        store.vectors(id, passages().map(|(_, passage)| &passage.hash)).map_err(store_failed)?;
    let mut seen = BTreeSet::new();
    let missing: Vec<(&TextHash, String)> = passages()
        .filter(|(_, passage)| !vectors.contains_key(&passage.hash) && seen.insert(passage.hash))
        .map(|(document, passage)| (&passage.hash, indexed_text(document, passage)))
        .collect();
    let total = missing.len() as u64;
    // What is embedded between two notes of progress, and lost at most by a crash.
    let size = embedder.batch().max(1);
    for (n, batch) in missing.chunks(size).enumerate() {
        progress.step(Stage::Embed, (n * size) as u64, total);
        let texts: Vec<&str> = batch.iter().map(|(_, text)| text.as_str()).collect();
        let embedded =
            embedder.embed(&texts).map_err(|error| SourceError::embedding("embedding passages", error))?;
        let sound = |vector: &Vec<f32>| vector.len() == embedder.dimensions();
        if embedded.len() != batch.len() || !embedded.iter().all(sound) {
            return Err(SourceError::internal(
                "embedding passages",
                "vectors are missing or of the wrong length",
            ));
        }
        let bytes: Vec<ByteVector> = embedded.iter().map(|vector| ByteVector::quantize(vector)).collect();
        let keyed = || batch.iter().map(|(hash, _)| *hash).zip(&bytes);
        store.cache(id, keyed()).map_err(store_failed)?;
        vectors.extend(keyed().map(|(hash, vector)| (*hash, vector.clone())));
    }
    progress.step(Stage::Embed, total, total);
    Ok(vectors)
}
