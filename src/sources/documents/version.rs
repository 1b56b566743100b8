//! One version of a source's index, as it was built. Immutable, shared by all calls that started while
//! it was in force.

use std::{collections::HashMap, sync::Arc};

use arc_swap::ArcSwap;

use crate::{
    confidence::Calibration,
    search::{
        chunking::{self, Chunk},
        dense::{ByteVector, DenseIndex},
        embedder::Embedder,
        hybrid::HybridIndex,
        lexical::{InContext, LexicalIndex},
    },
    store::{Documents, Pinned, StoredDocument, StoredPassage, TextHash},
};

/// A document and where its passages start among all.
pub(super) struct Entry {
    pub(super) id: String,
    pub(super) document: StoredDocument,
    pub(super) first: u32,
}

/// Documents by id, and which passage is whose.
pub(super) struct Listing {
    /// By id.
    pub(super) documents: Vec<Entry>,
    /// Ordinal of the first passage.
    first: u32,
    /// Which document each passage belongs to.
    owners: Vec<u32>,
}

impl Listing {
    /// Lists documents whose passages are counted from `first`.
    pub(super) fn new(documents: Documents, first: u32) -> Self {
        let mut entries = Vec::with_capacity(documents.len());
        let mut owners = Vec::new();
        for (n, (id, document)) in (0u32..).zip(documents) {
            let first = first + owners.len() as u32;
            owners.extend(std::iter::repeat_n(n, document.passages.len()));
            entries.push(Entry { id, document, first });
        }
        Self { documents: entries, first, owners }
    }

    /// Passages held.
    pub(super) fn passages(&self) -> u64 {
        self.owners.len() as u64
    }

    /// The document of a passage, and the passage in it.
    pub(super) fn passage(&self, ordinal: u32) -> Option<(&Entry, &StoredPassage, u32)> {
        let owner = self.owners.get(ordinal.checked_sub(self.first)? as usize)?;
        let entry = self.documents.get(*owner as usize)?;
        let position = ordinal.checked_sub(entry.first)?;
        Some((entry, entry.document.passages.get(position as usize)?, position))
    }

    /// The document of that id.
    pub(super) fn find(&self, id: &str) -> Option<&Entry> {
        let at = self.documents.binary_search_by(|entry| entry.id.as_str().cmp(id)).ok()?;
        self.documents.get(at)
    }

    /// The vectors of all passages, in their order; an empty one where it is missing.
    pub(super) fn vectors(
        &self,
        vectors: &HashMap<TextHash, ByteVector>,
    ) -> impl Iterator<Item = ByteVector> {
        let none = ByteVector { bytes: Vec::new(), scale: 0.0 };
        let passages = self.documents.iter().flat_map(|entry| &entry.document.passages);
        passages.map(move |passage| vectors.get(&passage.hash).unwrap_or(&none).clone())
    }
}

/// A version of the index.
pub(super) struct Version {
    pub(super) pinned: Pinned,
    calibration: ArcSwap<Calibration>,
    pub(super) index: Arc<HybridIndex>,
    /// What its vectors are of: queries are embedded by this one and no other.
    pub(super) embedder: Arc<dyn Embedder>,
    pub(super) listing: Listing,
}

/// What is indexed of a stored passage.
pub(super) fn indexed_text(document: &StoredDocument, passage: &StoredPassage) -> String {
    let chunk = Chunk { headings: passage.headings.clone(), text: passage.text.clone() };
    chunking::indexed_text(&document.title, &chunk)
}

/// What is indexed of all passages, in the order of a version's ordinals. The surroundings of a
/// passage are the passage before it and the one after it.
pub(super) fn texts(documents: &Documents) -> impl Iterator<Item = InContext> {
    documents.values().flat_map(|document| {
        let passages = &document.passages;
        passages.iter().enumerate().map(move |(n, passage)| {
            let text = indexed_text(document, passage);
            let around = [n.checked_sub(1), n.checked_add(1)].into_iter().flatten();
            let around: Vec<&str> =
                around.filter_map(|other| passages.get(other)).map(|other| other.text.as_str()).collect();
            let context = (!around.is_empty()).then(|| format!("{text}\n{}", around.join("\n")));
            InContext { text, context }
        })
    })
}

impl Version {
    /// Puts a version together. `lexical` holds the [`texts`] of the same documents.
    pub(super) fn assemble(
        pinned: Pinned,
        calibration: Calibration,
        documents: Documents,
        vectors: &HashMap<TextHash, ByteVector>,
        embedder: Arc<dyn Embedder>,
        lexical: LexicalIndex,
    ) -> Self {
        let listing = Listing::new(documents, 0);
        let dense = DenseIndex::new(embedder.dimensions(), listing.vectors(vectors));
        let index = Arc::new(HybridIndex::new(lexical, dense));
        Self { pinned, calibration: ArcSwap::from_pointee(calibration), index, embedder, listing }
    }

    /// The calibration in force: it may be fitted anew while the index stays.
    pub(super) fn calibration(&self) -> Arc<Calibration> {
        self.calibration.load_full()
    }

    /// Puts another calibration in force.
    pub(super) fn set_calibration(&self, calibration: Calibration) {
        self.calibration.store(Arc::new(calibration));
    }

    /// Passages held.
    pub(super) fn passages(&self) -> u64 {
        self.listing.passages()
    }

    /// The document of a passage, and the passage in it.
    pub(super) fn passage(&self, ordinal: u32) -> Option<(&Entry, &StoredPassage, u32)> {
        self.listing.passage(ordinal)
    }
}
