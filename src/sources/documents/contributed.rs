//! Contributed content as documents: read as the files of a source are, cut and embedded like them.

use super::{draft::stored, readers};
use crate::{
    search::embedder::Embedder,
    sources::SourceError,
    store::{StoredDocument, state::Item},
};

/// An item as a document of the corpus.
pub(super) fn document(item: &Item, embedder: &dyn Embedder) -> StoredDocument {
    let document = readers::contributed(&item.id, item.title.as_deref(), &item.content);
    let mut stored = stored(&item.origin, document, embedder, &item.recorded_at);
    stored.writer = Some(item.writer.clone());
    stored.revision = Some(item.revision);
    stored
}

/// Refuses content that nobody could find: it has to hold some text.
pub(super) fn check(title: Option<&str>, content: &str) -> Result<(), SourceError> {
    let document = readers::contributed("", title, content);
    if document.blocks.iter().any(|block| block.text.chars().any(char::is_alphanumeric)) {
        return Ok(());
    }
    Err(SourceError::Rejected(
        "content: holds no text to find it by; write what it says in words, as Markdown or as a JSON object"
            .to_owned(),
    ))
}
