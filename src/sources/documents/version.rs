//! One version of a source's index: what answers queries. Immutable, shared by all calls that
//! started while it was in force.

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
    sources::{Hit, Provenance, Reference, Trust},
    store::{Documents, Pinned, StoredDocument, StoredPassage, TextHash},
};

/// A document and where its passages start among all.
pub(super) struct Entry {
    pub(super) id: String,
    pub(super) document: StoredDocument,
    pub(super) first: u32,
}

/// A version of the index.
pub(super) struct Version {
    pub(super) pinned: Pinned,
    calibration: ArcSwap<Calibration>,
    pub(super) index: HybridIndex,
    /// What its vectors are of: queries are embedded by this one and no other.
    pub(super) embedder: Arc<dyn Embedder>,
    /// By id.
    pub(super) documents: Vec<Entry>,
    /// Which document each passage belongs to.
    owners: Vec<u32>,
}

/// Where hits of a source come from, apart from the passage itself.
pub(super) struct Labels<'a> {
    pub(super) slug: &'a str,
    pub(super) trust: Trust,
    pub(super) url_base: Option<&'a str>,
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
        let mut entries = Vec::with_capacity(documents.len());
        let mut owners = Vec::new();
        for (n, (id, document)) in (0u32..).zip(documents) {
            let first = owners.len() as u32;
            owners.extend(std::iter::repeat_n(n, document.passages.len()));
            entries.push(Entry { id, document, first });
        }
        let none = ByteVector { bytes: Vec::new(), scale: 0.0 };
        let passages = entries.iter().flat_map(|entry| &entry.document.passages);
        let dense = DenseIndex::new(
            embedder.dimensions(),
            passages.map(|passage| vectors.get(&passage.hash).unwrap_or(&none).clone()),
        );
        let index = HybridIndex::new(lexical, dense);
        Self {
            pinned,
            calibration: ArcSwap::from_pointee(calibration),
            index,
            embedder,
            documents: entries,
            owners,
        }
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
        self.owners.len() as u64
    }

    /// The document of a passage, and the passage in it.
    pub(super) fn passage(&self, ordinal: u32) -> Option<(&Entry, &StoredPassage, u32)> {
        let entry = self.documents.get(*self.owners.get(ordinal as usize)? as usize)?;
        let position = ordinal.checked_sub(entry.first)?;
        Some((entry, entry.document.passages.get(position as usize)?, position))
    }

    /// The passage a reference names.
    pub(super) fn find(&self, reference: &Reference) -> Option<u32> {
        let at = self.documents.binary_search_by(|entry| entry.id.as_str().cmp(&reference.document)).ok()?;
        let entry = self.documents.get(at)?;
        let within = (reference.position as usize) < entry.document.passages.len();
        within.then(|| entry.first + reference.position)
    }

    /// A passage as a hit.
    pub(super) fn hit(&self, ordinal: u32, score: f32, labels: &Labels<'_>) -> Option<Hit> {
        let (entry, passage, position) = self.passage(ordinal)?;
        let document = &entry.document;
        let url = document.url.clone().or_else(|| labels.url_base.map(|base| format!("{base}{}", entry.id)));
        Some(Hit {
            reference: Reference { source: labels.slug.to_owned(), document: entry.id.clone(), position },
            document: entry.id.clone(),
            text: passage.text.clone(),
            score,
            title: document.title.clone(),
            section: (!passage.headings.is_empty()).then(|| passage.headings.join(" › ")),
            url,
            position,
            provenance: Provenance {
                origin: document.path.clone(),
                fetched_at: document.fetched_at.clone(),
                trust: labels.trust,
                content_sha256: document.sha256.clone(),
                index_version: self.pinned.version.clone(),
                recipe_version: self.pinned.recipe.clone(),
                rewritten: false,
                writer: None,
            },
            data: None,
        })
    }
}
