//! What answers queries: a version of the index, and above it what was contributed since it was built.

use std::{collections::HashMap, sync::Arc};

use super::version::{Entry, Listing, Version, texts};
use crate::{
    search::{SearchError, dense::ByteVector, hybrid::HybridIndex},
    sources::{Hit, Note, Provenance, Reference, Trust},
    store::{Documents, StoredPassage, TextHash, state},
};

/// Most notes shown with one passage: the newest.
const NOTES: usize = 10;

/// Where hits of a source come from, apart from the passage itself.
pub(super) struct Labels<'a> {
    pub(super) slug: &'a str,
    pub(super) trust: Trust,
    pub(super) url_base: Option<&'a str>,
}

/// How far contents have come with what is contributed: numbers of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CaughtUp {
    /// Items up to this change are there.
    pub(super) items: u64,
    /// Notes up to this change are there.
    pub(super) notes: u64,
}

/// Notes by the document they were put on, oldest first.
pub(super) type Notes = HashMap<String, Vec<state::Note>>;

/// A version and what came since. Immutable, as the version is, and cheap to clone.
#[derive(Clone)]
pub(super) struct Contents {
    pub(super) version: Arc<Version>,
    pub(super) index: Arc<HybridIndex>,
    pub(super) caught_up: CaughtUp,
    pub(super) notes: Arc<Notes>,
    /// Contributed since the version was built.
    since: Arc<Listing>,
    /// How many documents of the version have been replaced since.
    replaced: usize,
    /// Names the version and the last item that came since.
    name: String,
}

impl Contents {
    /// A version as it was built, with no notes.
    pub(super) fn new(version: Arc<Version>) -> Self {
        Self {
            index: Arc::clone(&version.index),
            caught_up: CaughtUp { items: version.pinned.contributed, notes: 0 },
            notes: Arc::default(),
            since: Arc::new(Listing::new(Documents::new(), version.passages() as u32)),
            replaced: 0,
            name: version.pinned.version.clone(),
            version,
        }
    }

    /// The same with these documents in place of all that came since the version was built.
    pub(super) fn with_documents(
        &self,
        documents: Documents,
        vectors: &HashMap<TextHash, ByteVector>,
        caught_up: u64,
    ) -> Result<Self, SearchError> {
        let version = Arc::clone(&self.version);
        let replaced: Vec<&Entry> = documents.keys().filter_map(|id| version.listing.find(id)).collect();
        let hidden =
            replaced.iter().flat_map(|entry| entry.first..entry.first + entry.document.passages.len() as u32);
        let (hidden, replaced) = (hidden.collect(), replaced.len());
        let texts: Vec<_> = texts(&documents).collect();
        let since = Listing::new(documents, version.passages() as u32);
        let index = version.index.with(texts.into_iter(), since.vectors(vectors), hidden)?;
        Ok(Self {
            index: Arc::new(index),
            caught_up: CaughtUp { items: caught_up, ..self.caught_up },
            notes: Arc::clone(&self.notes),
            name: format!("{}+{caught_up}", version.pinned.version),
            version,
            since: Arc::new(since),
            replaced,
        })
    }

    /// The documents that came since the version was built.
    pub(super) fn since(&self) -> Documents {
        self.since.documents.iter().map(|entry| (entry.id.clone(), entry.document.clone())).collect()
    }

    /// Names what is answered from; another name whenever the content is another.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Documents held.
    pub(super) fn documents(&self) -> u64 {
        (self.version.listing.documents.len() + self.since.documents.len() - self.replaced) as u64
    }

    /// Passages held.
    pub(super) fn passages(&self) -> u64 {
        self.version.passages() + self.since.passages() - self.index.replaced() as u64
    }

    /// The document of a passage, and the passage in it.
    pub(super) fn passage(&self, ordinal: u32) -> Option<(&Entry, &StoredPassage, u32)> {
        self.version.passage(ordinal).or_else(|| self.since.passage(ordinal))
    }

    /// The passage a reference names.
    pub(super) fn find(&self, reference: &Reference) -> Option<u32> {
        let id = reference.document.as_str();
        let entry = self.since.find(id).or_else(|| self.version.listing.find(id))?;
        let within = (reference.position as usize) < entry.document.passages.len();
        within.then(|| entry.first + reference.position)
    }

    /// A passage as a hit.
    pub(super) fn hit(&self, ordinal: u32, score: f32, labels: &Labels<'_>) -> Option<Hit> {
        let (entry, passage, position) = self.passage(ordinal)?;
        let document = &entry.document;
        let contributed = document.writer.is_some();
        // What was contributed has no file that a person could open.
        let base = labels.url_base.filter(|_| !contributed);
        let url = document.url.clone().or_else(|| base.map(|base| format!("{base}{}", entry.id)));
        Some(Hit {
            reference: Reference { source: labels.slug.to_owned(), document: entry.id.clone(), position },
            document: entry.id.clone(),
            text: passage.text.clone(),
            score,
            title: document.title.clone(),
            section: (!passage.headings.is_empty()).then(|| passage.headings.join(" › ")),
            label: None,
            url,
            position,
            provenance: Provenance {
                origin: document.path.clone(),
                fetched_at: document.fetched_at.clone(),
                trust: if contributed { Trust::AgentContributed } else { labels.trust },
                content_sha256: document.sha256.clone(),
                index_version: self.name.clone(),
                recipe_version: self.version.pinned.recipe.clone(),
                rewritten: false,
                writer: document.writer.clone(),
                revision: document.revision,
            },
            data: None,
            notes: self.notes_on(entry, position),
        })
    }

    /// The newest notes on a passage, and those on any passage of an earlier version of its document:
    /// nobody can tell where what they were about is now.
    fn notes_on(&self, entry: &Entry, position: u32) -> Vec<Note> {
        let changed = |note: &state::Note| note.content_sha256 != entry.document.sha256;
        self.notes
            .get(&entry.id)
            .into_iter()
            .flatten()
            .rev()
            .filter(|note| changed(note) || note.position == position)
            .take(NOTES)
            .map(|note| Note {
                text: note.content.clone(),
                writer: note.writer.clone(),
                recorded_at: note.recorded_at.clone(),
                origin: note.origin.clone(),
                trust: Trust::AgentContributed,
                content_changed: changed(note),
            })
            .collect()
    }
}
