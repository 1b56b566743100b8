//! Bringing the index up to date: read what changed, embed what is new, build a new version
//! beside the old one, and put it in force in one transaction. A crash at any moment leaves the
//! old version in force and nothing of the new one but cached vectors and a folder to clear.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fs::{self, File, TryLockError},
    path::{Path, PathBuf},
    sync::Arc,
};

use sha2::{Digest, Sha256};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use super::{
    calibrate::Calibrating,
    readers,
    scan::{Found, Scan, scan},
    settings::DocumentsSettings,
    version::{Version, indexed_text},
};
use crate::{
    confidence::{
        Calibration, bank,
        calibration::{self, Params},
    },
    search::{
        analysis,
        chunking::{self, Document, Limits},
        dense::ByteVector,
        embedder::Embedder,
    },
    sources::{Progress, Refreshed, SourceError, Stage},
    store::{Activation, CorpusStore, Pinned, StoredDocument, StoredFile, StoredPassage, TextHash},
};

/// Changes whenever the same file comes to other passages.
const CHUNKING: &str = "c1";

/// Texts embedded between two notes of progress, and lost at most by a crash.
const BATCH: usize = 32;

/// What an ingest works with.
pub(super) struct Ingest<'a> {
    pub(super) slug: &'a str,
    pub(super) settings: &'a DocumentsSettings,
    pub(super) store: &'a CorpusStore,
    pub(super) embedder: &'a Arc<dyn Embedder>,
    /// Folder of this source's lexical indexes.
    pub(super) folder: PathBuf,
    pub(super) progress: &'a dyn Progress,
}

/// What an ingest came to: a new version, or none because nothing changed.
pub(super) struct Outcome {
    pub(super) version: Option<Version>,
    pub(super) report: Refreshed,
}

/// A corpus in memory on its way from what is stored to what the files say.
struct Draft {
    documents: BTreeMap<String, StoredDocument>,
    changed: BTreeSet<String>,
    removed: BTreeSet<String>,
    added: u64,
    warnings: Vec<String>,
}

impl Ingest<'_> {
    /// What passages and their index are made by: another recipe makes another index.
    pub(super) fn recipe(&self) -> String {
        let language = serde_json::to_value(self.settings.language).ok();
        let language = language.as_ref().and_then(|name| name.as_str()).unwrap_or("none");
        format!("{CHUNKING}+{}-{language}+{}", analysis::VERSION, self.embedder.id())
    }

    /// Runs it.
    pub(super) fn run(&self) -> Result<Outcome, SourceError> {
        let _alone = self.lock()?;
        self.progress.step(Stage::Scan, 0, 0);
        let scan = scan(self.settings).map_err(SourceError::Unavailable)?;
        let stored = self.store.load().map_err(store_failed)?;
        let (pinned, documents) = match stored {
            Some((pinned, documents)) => (Some(pinned), documents),
            None => (None, BTreeMap::new()),
        };
        let recipe = self.recipe();
        let known = match &pinned {
            Some(pinned) if pinned.recipe == recipe => self.store.files().map_err(store_failed)?,
            // Everything is read anew.
            _ => BTreeMap::new(),
        };
        let stamps: BTreeMap<String, StoredFile> =
            scan.files.iter().map(|(path, found)| (path.clone(), found.stamp.clone())).collect();
        if pinned.is_some() && known == stamps {
            let report = report(&documents, scan.warnings);
            return Ok(Outcome { version: None, report });
        }
        let draft = self.read(scan, &known, documents)?;
        let vectors = self.vectors(&draft.documents)?;
        let version = self.build(pinned.as_ref(), &draft, &vectors, recipe)?;
        let documents = &draft.documents;
        self.store
            .activate(&Activation {
                pinned: version.pinned.clone(),
                files: &stamps,
                upserts: draft
                    .changed
                    .iter()
                    .filter_map(|id| {
                        documents.get_key_value(id).map(|(id, document)| (id.as_str(), document))
                    })
                    .collect(),
                removals: draft.removed.iter().map(String::as_str).collect(),
                embedding: self.embedder.id(),
            })
            .map_err(store_failed)?;
        let updated = draft.changed.len() as u64 - draft.added;
        let report = Refreshed {
            changed: true,
            added: draft.added,
            updated,
            removed: draft.removed.len() as u64,
            ..report(documents, draft.warnings)
        };
        Ok(Outcome { version: Some(version), report })
    }

    /// One ingest of a source at a time, whichever process it runs in.
    fn lock(&self) -> Result<File, SourceError> {
        fs::create_dir_all(&self.folder)
            .map_err(|error| SourceError::internal("making the index folder", error))?;
        let file = File::create(self.folder.join("ingest.lock"))
            .map_err(|error| SourceError::internal("making the ingest lock", error))?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => {
                Err(SourceError::Unavailable("it is being ingested by another process".to_owned()))
            }
            Err(TryLockError::Error(error)) => Err(SourceError::internal("taking the ingest lock", error)),
        }
    }

    /// Reads the files that changed into the corpus.
    fn read(
        &self,
        scan: Scan,
        known: &BTreeMap<String, StoredFile>,
        stored: BTreeMap<String, StoredDocument>,
    ) -> Result<Draft, SourceError> {
        let is_changed = |path: &str, found: &Found| known.get(path) != Some(&found.stamp);
        let total = scan.files.iter().filter(|(path, found)| is_changed(path, found)).count() as u64;
        let mut draft = Draft {
            documents: BTreeMap::new(),
            changed: BTreeSet::new(),
            removed: BTreeSet::new(),
            added: 0,
            warnings: scan.warnings,
        };
        let mut before = BTreeMap::new();
        for (id, document) in stored {
            let unchanged =
                scan.files.get(&document.path).is_some_and(|found| !is_changed(&document.path, found));
            if unchanged {
                draft.documents.insert(id, document);
            } else {
                before.insert(id, document);
            }
        }
        let now = OffsetDateTime::now_utc().format(&Rfc3339).unwrap_or_default();
        let changed = scan.files.iter().filter(|(path, found)| is_changed(path, found));
        for (done, (path, found)) in (0u64..).zip(changed) {
            self.progress.step(Stage::Read, done, total);
            let bytes = match fs::read(&found.location) {
                Ok(bytes) => bytes,
                Err(_) => {
                    draft.warnings.push(format!("{path}: cannot be read; check its permissions"));
                    continue;
                }
            };
            match readers::read(path, &bytes) {
                Ok(read) => {
                    draft.warnings.extend(read.warnings);
                    for document in read.documents {
                        self.take(&mut draft, &mut before, path, document, &now);
                    }
                }
                Err(why) => draft.warnings.push(why),
            }
        }
        self.progress.step(Stage::Read, total, total);
        draft.removed.extend(before.into_keys());
        Ok(draft)
    }

    /// Takes one document into the corpus, as it was if its content is.
    fn take(
        &self,
        draft: &mut Draft,
        before: &mut BTreeMap<String, StoredDocument>,
        path: &str,
        document: Document,
        now: &str,
    ) {
        let id = document.id.clone();
        if let Some(other) = draft.documents.get(&id) {
            draft.warnings.push(format!("{path}: the id “{id}” is used by {} too; skipped", other.path));
            return;
        }
        let mut stored = self.stored(path, document, now);
        match before.remove(&id) {
            Some(old) if old.sha256 == stored.sha256 && old.passages == stored.passages => {
                // Only the file's date is new, or its place.
                let moved = old.path != stored.path;
                stored.fetched_at = old.fetched_at;
                if moved {
                    draft.changed.insert(id.clone());
                }
            }
            Some(_) => {
                draft.changed.insert(id.clone());
            }
            None => {
                draft.added += 1;
                draft.changed.insert(id.clone());
            }
        }
        draft.documents.insert(id, stored);
    }

    fn stored(&self, path: &str, document: Document, now: &str) -> StoredDocument {
        let count = |text: &str| self.embedder.count_tokens(text);
        let chunks = chunking::chunk(&document, &Limits::default(), &count);
        let mut content = Sha256::new();
        content.update(&document.title);
        for block in &document.blocks {
            content.update(b"\n");
            content.update(&block.text);
        }
        let mut stored = StoredDocument {
            path: path.to_owned(),
            title: document.title,
            url: document.url,
            sha256: hex(&content.finalize()),
            fetched_at: now.to_owned(),
            passages: Vec::new(),
        };
        for chunk in chunks {
            let mut passage = StoredPassage { headings: chunk.headings, text: chunk.text, hash: [0; 32] };
            passage.hash = Sha256::digest(indexed_text(&stored, &passage)).into();
            stored.passages.push(passage);
        }
        stored
    }

    /// The vectors of all passages: from the cache, or embedded now and cached.
    fn vectors(
        &self,
        documents: &BTreeMap<String, StoredDocument>,
    ) -> Result<HashMap<TextHash, ByteVector>, SourceError> {
        let id = self.embedder.id();
        let passages =
            || documents.values().flat_map(|document| document.passages.iter().map(move |p| (document, p)));
        let mut vectors =
            self.store.vectors(id, passages().map(|(_, passage)| &passage.hash)).map_err(store_failed)?;
        let mut seen = BTreeSet::new();
        let missing: Vec<(&TextHash, String)> = passages()
            .filter(|(_, passage)| !vectors.contains_key(&passage.hash) && seen.insert(passage.hash))
            .map(|(document, passage)| (&passage.hash, indexed_text(document, passage)))
            .collect();
        let total = missing.len() as u64;
        for (n, batch) in missing.chunks(BATCH).enumerate() {
            self.progress.step(Stage::Embed, (n * BATCH) as u64, total);
            let texts: Vec<&str> = batch.iter().map(|(_, text)| text.as_str()).collect();
            let embedded = self
                .embedder
                .embed(&texts)
                .map_err(|error| SourceError::internal("embedding passages", error))?;
            let bytes: Vec<ByteVector> = embedded.iter().map(|vector| ByteVector::quantize(vector)).collect();
            let keyed = || batch.iter().map(|(hash, _)| *hash).zip(&bytes);
            self.store.cache(id, keyed()).map_err(store_failed)?;
            vectors.extend(keyed().map(|(hash, vector)| (*hash, vector.clone())));
        }
        self.progress.step(Stage::Embed, total, total);
        Ok(vectors)
    }

    /// Builds the new version beside the old one, calibration included.
    fn build(
        &self,
        before: Option<&Pinned>,
        draft: &Draft,
        vectors: &HashMap<TextHash, ByteVector>,
        recipe: String,
    ) -> Result<Version, SourceError> {
        self.progress.step(Stage::Index, 0, 0);
        let refreshed_at = OffsetDateTime::now_utc().format(&Rfc3339).unwrap_or_default();
        let pinned = Pinned {
            version: version_name(before, draft, &recipe),
            recipe: recipe.clone(),
            refreshed_at: refreshed_at.clone(),
            calibration: String::new(),
        };
        let folder = self.folder.join(&pinned.version);
        let mut version = Version::assemble(
            pinned,
            Arc::new(Calibration::pooled("not calibrated yet".to_owned())),
            draft.documents.clone(),
            vectors,
            self.embedder.dimensions(),
            self.settings.language,
            &folder,
        )
        .map_err(|error| SourceError::internal("building the index", error))?;
        let passages = version.passages() as usize;
        let kept = before
            .and_then(|before| serde_json::from_str::<Calibration>(&before.calibration).ok())
            .filter(|calibration| !calibration.is_stale(passages, self.embedder.id(), &recipe));
        let calibration = match kept {
            Some(calibration) => calibration,
            None => self.calibrate(&version, &refreshed_at, &recipe)?,
        };
        version.pinned.calibration = serde_json::to_string(&calibration)
            .map_err(|error| SourceError::internal("writing the calibration", error))?;
        version.calibration = Arc::new(calibration);
        Ok(version)
    }

    fn calibrate(&self, version: &Version, now: &str, recipe: &str) -> Result<Calibration, SourceError> {
        self.progress.step(Stage::Calibrate, 0, 0);
        let corpus = Calibrating { version, embedder: self.embedder.as_ref() };
        let step =
            |done: usize, total: usize| self.progress.step(Stage::Calibrate, done as u64, total as u64);
        let params = Params {
            fitted_at: now.to_owned(),
            embedding: self.embedder.id().to_owned(),
            recipe: recipe.to_owned(),
            ..Params::default()
        };
        let bank: Vec<&str> = bank::utterances(self.settings.language.code()).collect();
        let fitted = calibration::fit(&corpus, &bank, &params, step)
            .map_err(|error| SourceError::internal("calibrating", error))?;
        tracing::info!(source = self.slug, calibrated = fitted.calibrated, "calibrated");
        Ok(fitted)
    }
}

/// Removes the folders of versions that are not in force, if nobody else is building one.
pub(super) fn clear_leftovers(folder: &Path, in_force: &str) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name() != in_force && entry.path().is_dir() {
            // What cannot be removed now is tried again next time.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// A number that counts up, and a hash of what the version holds.
fn version_name(before: Option<&Pinned>, draft: &Draft, recipe: &str) -> String {
    let number = before
        .and_then(|before| before.version.split_once('-')?.0.parse::<u64>().ok())
        .map_or(1, |number| number.saturating_add(1));
    let mut hash = Sha256::new();
    hash.update(recipe);
    for (id, document) in &draft.documents {
        hash.update(id);
        hash.update(&document.sha256);
    }
    let hash = hex(&hash.finalize());
    format!("{number}-{}", hash.get(..12).unwrap_or(&hash))
}

fn report(documents: &BTreeMap<String, StoredDocument>, warnings: Vec<String>) -> Refreshed {
    Refreshed {
        documents: documents.len() as u64,
        passages: documents.values().map(|document| document.passages.len() as u64).sum(),
        warnings,
        ..Refreshed::default()
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn store_failed(error: crate::store::StoreError) -> SourceError {
    SourceError::internal("using the store", error)
}
