//! From the files of a source, and what was contributed to it, to its documents: only what changed is
//! read again.
//! Knows neither vectors nor the index.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    io::{self, Read as _},
    path::Path,
};

use sha2::{Digest, Sha256};

use super::{contributed, readers, scan::Scan, settings::DocumentsSettings, version::indexed_text};
use crate::{
    search::{
        chunking::{self, Document, Limits},
        embedder::Embedder,
    },
    sources::{Progress, Stage},
    store::{Documents, StoredDocument, StoredFile, StoredPassage, state::Item},
};

/// Most warnings kept of one file: after so many, the file is the problem.
const MAX_WARNINGS: usize = 20;

/// A corpus in memory on its way from what is stored to what the files say.
pub(super) struct Draft {
    /// All documents, by id.
    pub(super) documents: Documents,
    /// All files that could be read, by path.
    pub(super) files: BTreeMap<String, StoredFile>,
    /// Ids of documents that are not stored like this.
    pub(super) changed: BTreeSet<String>,
    /// Ids of documents that are stored and gone.
    pub(super) removed: BTreeSet<String>,
    /// How many of `changed` are new.
    pub(super) added: u64,
    /// What is wrong with the folder and its files.
    pub(super) warnings: Vec<String>,
}

impl Draft {
    /// Whether what is stored is what the files say.
    pub(super) fn is_unchanged(&self) -> bool {
        self.changed.is_empty() && self.removed.is_empty()
    }
}

/// Whether nothing needs to be read: every file is as it was, and none waits for another.
pub(super) fn is_current(scan: &Scan, known: &BTreeMap<String, StoredFile>) -> bool {
    scan.unreadable.is_empty()
        && scan.files.len() == known.len()
        && scan
            .files
            .iter()
            .all(|(path, found)| known.get(path).is_some_and(|file| file.stamp == found.stamp && !file.clash))
}

/// Reads files into a [`Draft`].
pub(super) struct Drafting<'a> {
    settings: &'a DocumentsSettings,
    embedder: &'a dyn Embedder,
    /// Time of reading, RFC 3339 in UTC.
    now: &'a str,
    draft: Draft,
    /// Stored documents that are not taken over as they are.
    before: Documents,
}

impl<'a> Drafting<'a> {
    /// Prepares to read with `settings` at the time `now`.
    pub(super) fn new(settings: &'a DocumentsSettings, embedder: &'a dyn Embedder, now: &'a str) -> Self {
        let draft = Draft {
            documents: Documents::new(),
            files: BTreeMap::new(),
            changed: BTreeSet::new(),
            removed: BTreeSet::new(),
            added: 0,
            warnings: Vec::new(),
        };
        Self { settings, embedder, now, draft, before: Documents::new() }
    }

    /// Reads what differs between the files found and those `known`, and takes the rest from what
    /// is `stored`. What cannot be looked at stays as it was. `items` is all that was contributed: what
    /// is stored of it is taken over as it is if it is `sound`, made by the recipe in force.
    pub(super) fn run(
        mut self,
        scan: Scan,
        known: &BTreeMap<String, StoredFile>,
        (stored, sound): (Documents, bool),
        items: &[Item],
        progress: &dyn Progress,
    ) -> Draft {
        let as_before = |path: &str| {
            let found = scan.files.get(path)?;
            known.get(path).filter(|file| file.stamp == found.stamp && !file.clash)
        };
        for (id, document) in stored {
            let from_file = document.writer.is_none();
            if from_file && (as_before(&document.path).is_some() || scan.is_unknown(&document.path)) {
                self.draft.documents.insert(id, document);
            } else {
                self.before.insert(id, document);
            }
        }
        for path in scan.files.keys() {
            if let Some(file) = as_before(path) {
                self.draft.files.insert(path.clone(), file.clone());
            }
        }
        let changed = || scan.files.iter().filter(|(path, _)| as_before(path).is_none());
        let total = changed().count() as u64;
        for (done, (path, found)) in (0..).zip(changed()) {
            progress.step(Stage::Read, done, total);
            let file = StoredFile { stamp: found.stamp.clone(), warnings: Vec::new(), clash: false };
            match read_at_most(&found.location, self.settings.max_file_bytes.as_u64()) {
                Ok(bytes) => {
                    self.draft.files.insert(path.clone(), file);
                    self.read(path, &bytes);
                }
                // Without a stamp it is tried again next time, whether its date changes or not.
                Err(_) => {
                    self.draft.warnings.push(format!("{path}: cannot be read; check its permissions"));
                    self.keep(path);
                }
            }
        }
        for item in items {
            self.take_contributed(item, sound);
        }
        progress.step(Stage::Read, total, total);
        let Self { mut draft, before, .. } = self;
        draft.removed.extend(before.into_keys().filter(|id| !draft.documents.contains_key(id)));
        draft.warnings.extend(scan.warnings);
        draft.warnings.extend(draft.files.values().flat_map(|file| file.warnings.iter().cloned()));
        draft
    }

    fn read(&mut self, path: &str, bytes: &[u8]) {
        match readers::read(path, bytes) {
            Ok(read) => {
                self.warn(path, read.warnings);
                for document in read.documents {
                    self.take(path, document);
                }
            }
            Err(why) => self.warn(path, vec![why]),
        }
    }

    /// Keeps the stored documents of a file that cannot be read just now.
    fn keep(&mut self, path: &str) {
        let ids: Vec<String> = self
            .before
            .iter()
            .filter(|(id, document)| {
                document.writer.is_none() && document.path == path && !self.draft.documents.contains_key(*id)
            })
            .map(|(id, _)| id.clone())
            .collect();
        for id in ids {
            if let Some(document) = self.before.remove(&id) {
                self.draft.documents.insert(id, document);
            }
        }
    }

    /// Takes one document into the corpus, as it was if its content is. Of two with one id, that of
    /// the file first in the alphabet stays, whichever was read first.
    fn take(&mut self, path: &str, document: Document) {
        let id = document.id.clone();
        if let Some(other) = self.draft.documents.get(&id) {
            let other = other.path.clone();
            let (winner, loser) =
                if other.as_str() <= path { (other.as_str(), path) } else { (path, other.as_str()) };
            let shown = crate::text::excerpt(&id, 60);
            self.warn(loser, vec![format!("{loser}: the id “{shown}” is used by {winner} too; skipped")]);
            if let Some(file) = self.draft.files.get_mut(loser) {
                file.clash = true;
            }
            if loser == path {
                return;
            }
            if let Some(replaced) = self.draft.documents.remove(&id) {
                self.before.insert(id.clone(), replaced);
            }
        }
        let mut stored = stored(path, document, self.embedder, self.now);
        match self.before.get(&id) {
            Some(old) if old.sha256 == stored.sha256 && old.passages == stored.passages => {
                stored.fetched_at.clone_from(&old.fetched_at);
                // Only the file's date is new, unless more is.
                if *old != stored {
                    self.draft.changed.insert(id.clone());
                }
            }
            Some(_) => {
                self.draft.changed.insert(id.clone());
            }
            None => {
                self.draft.added += 1;
                self.draft.changed.insert(id.clone());
            }
        }
        self.draft.documents.insert(id, stored);
    }

    /// Takes what was contributed, as it was if it is the same revision.
    fn take_contributed(&mut self, item: &Item, sound: bool) {
        let stored = self.before.get(&item.id);
        let same = stored.filter(|stored| sound && stored.revision == Some(item.revision));
        let document = match same {
            Some(same) => same.clone(),
            None => {
                self.draft.added += u64::from(stored.is_none());
                self.draft.changed.insert(item.id.clone());
                contributed::document(item, self.embedder)
            }
        };
        self.draft.documents.insert(item.id.clone(), document);
    }

    fn warn(&mut self, path: &str, warnings: Vec<String>) {
        let Some(file) = self.draft.files.get_mut(path) else {
            self.draft.warnings.extend(warnings);
            return;
        };
        for warning in warnings {
            match file.warnings.len() {
                MAX_WARNINGS => return,
                count if count + 1 == MAX_WARNINGS => {
                    file.warnings.push(format!("{path}: there is more wrong with it; warnings end here"));
                }
                _ => file.warnings.push(warning),
            }
        }
    }
}

/// A document cut into passages: read or contributed at `now`, from the file or place `path`.
pub(super) fn stored(path: &str, document: Document, embedder: &dyn Embedder, now: &str) -> StoredDocument {
    let count = |text: &str| embedder.count_tokens(text);
    let chunks = chunking::chunk(&document, &Limits::reading(embedder.max_tokens()), &count);
    let mut stored = StoredDocument {
        path: path.to_owned(),
        sha256: content_hash(&document),
        title: document.title,
        url: document.url,
        fetched_at: now.to_owned(),
        writer: None,
        revision: None,
        passages: Vec::new(),
    };
    for chunk in chunks {
        let mut passage = StoredPassage { headings: chunk.headings, text: chunk.text, hash: [0; 32] };
        passage.hash = Sha256::digest(indexed_text(&stored, &passage)).into();
        stored.passages.push(passage);
    }
    stored
}

/// SHA-256, in hex, of a document as it was understood: title, headings and text.
fn content_hash(document: &Document) -> String {
    let mut content = Sha256::new();
    content.update(&document.title);
    for block in &document.blocks {
        for heading in &block.headings {
            content.update(b"\n# ");
            content.update(heading);
        }
        content.update(b"\n");
        content.update(&block.text);
    }
    crate::text::hex(&content.finalize())
}

/// The bytes of a file, which may have grown since it was found.
fn read_at_most(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
}
