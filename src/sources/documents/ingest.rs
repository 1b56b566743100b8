//! Bringing the index up to date: read what changed, embed what is new, build a new version
//! beside the old one, and put it in force in one transaction. A crash at any moment leaves the
//! old version in force and nothing of the new one but cached vectors and a folder to clear.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fs::{self, File, TryLockError},
    path::Path,
    sync::Arc,
};

use sha2::{Digest, Sha256};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use super::{
    calibrate::Calibrating,
    draft::{self, Draft, Drafting},
    scan::scan,
    settings::DocumentsSettings,
    version::{Version, indexed_text, texts},
};
use crate::{
    confidence::{
        Calibration, bank,
        calibration::{self, Params},
    },
    search::{analysis, dense::ByteVector, embedder::Embedder, lexical::LexicalIndex},
    sources::{Progress, Refreshed, SourceError, Stage},
    store::{Activation, CorpusStore, Counts, Documents, Pinned, TextHash},
};

/// Changes whenever the same file comes to other passages.
const CHUNKING: &str = "c1";

/// What an ingest works with.
pub(super) struct Ingest<'a> {
    pub(super) slug: &'a str,
    pub(super) settings: &'a DocumentsSettings,
    pub(super) store: &'a CorpusStore,
    pub(super) embedder: &'a Arc<dyn Embedder>,
    /// Folder of this source's lexical indexes.
    pub(super) folder: &'a Path,
    pub(super) progress: &'a dyn Progress,
}

/// What an ingest came to: a new version, or none because nothing changed.
pub(super) struct Outcome {
    pub(super) version: Option<Version>,
    /// When the files were looked at, RFC 3339 in UTC.
    pub(super) at: String,
    pub(super) report: Refreshed,
}

impl Ingest<'_> {
    /// What passages and their index are made by: another recipe makes another index.
    pub(super) fn recipe(&self) -> String {
        let language = serde_json::to_value(self.settings.language).ok();
        let language = language.as_ref().and_then(|name| name.as_str()).unwrap_or("none");
        // The bundled embedding reads 256 tokens: the usual limit goes without saying.
        let limit = match self.embedder.max_tokens() {
            256 => String::new(),
            tokens => format!("x{tokens}"),
        };
        format!("{CHUNKING}{limit}+{}-{language}+{}", analysis::VERSION, self.embedder.id())
    }

    /// Runs it. `loaded` names the version that answers now: one that is in force but could not be
    /// loaded is built anew, even if no file changed.
    pub(super) fn run(&self, loaded: Option<&str>) -> Result<Outcome, SourceError> {
        let _alone = lock(self.folder)?;
        self.progress.step(Stage::Scan, 0, 0);
        let scan = scan(self.settings).map_err(SourceError::Unavailable)?;
        let at = OffsetDateTime::now_utc().format(&Rfc3339).unwrap_or_default();
        let recipe = self.recipe();
        let pinned = self.store.pinned().map_err(store_failed)?;
        if let Some(pinned) = &pinned {
            clear_leftovers(self.folder, &pinned.version);
        }
        let answers = pinned.as_ref().is_some_and(|p| p.recipe == recipe && loaded == Some(&p.version));
        let known = match &pinned {
            Some(pinned) if pinned.recipe == recipe => self.store.files().map_err(store_failed)?,
            // Everything is read anew.
            _ => BTreeMap::new(),
        };
        if answers && draft::is_current(&scan, &known) {
            self.store.touch(&known, &at).map_err(store_failed)?;
            let counts = self.store.counts().map_err(store_failed)?;
            let warnings =
                scan.warnings.into_iter().chain(known.into_values().flat_map(|file| file.warnings)).collect();
            return Ok(Outcome { version: None, at, report: report(counts, warnings) });
        }
        let stored = self.store.load().map_err(store_failed)?.map(|(_, documents)| documents);
        let draft = Drafting::new(self.settings, self.embedder.as_ref(), &at).run(
            scan,
            &known,
            stored.unwrap_or_default(),
            self.progress,
        );
        if answers && draft.is_unchanged() {
            self.store.touch(&draft.files, &at).map_err(store_failed)?;
            return Ok(Outcome {
                version: None,
                at,
                report: report(counts(&draft.documents), draft.warnings),
            });
        }
        self.renew(pinned.as_ref(), draft, recipe, at)
    }

    /// Builds a version of what was drafted and puts it in force.
    fn renew(
        &self,
        before: Option<&Pinned>,
        draft: Draft,
        recipe: String,
        at: String,
    ) -> Result<Outcome, SourceError> {
        let vectors = self.vectors(&draft.documents)?;
        let version = self.build(before, &draft, &vectors, recipe, &at)?;
        let documents = &draft.documents;
        let upserts = draft.changed.iter().filter_map(|id| documents.get_key_value(id));
        self.store
            .activate(&Activation {
                pinned: version.pinned.clone(),
                files: &draft.files,
                upserts: upserts.map(|(id, document)| (id.as_str(), document)).collect(),
                removals: draft.removed.iter().map(String::as_str).collect(),
                embedding: self.embedder.id(),
                vectors: &vectors,
            })
            .map_err(store_failed)?;
        clear_leftovers(self.folder, &version.pinned.version);
        let report = Refreshed {
            changed: true,
            added: draft.added,
            updated: draft.changed.len() as u64 - draft.added,
            removed: draft.removed.len() as u64,
            ..report(counts(documents), draft.warnings)
        };
        Ok(Outcome { version: Some(version), at, report })
    }

    /// The vectors of all passages: from the cache, or embedded now and cached.
    fn vectors(&self, documents: &Documents) -> Result<HashMap<TextHash, ByteVector>, SourceError> {
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
        // What is embedded between two notes of progress, and lost at most by a crash.
        let size = self.embedder.batch().max(1);
        for (n, batch) in missing.chunks(size).enumerate() {
            self.progress.step(Stage::Embed, (n * size) as u64, total);
            let texts: Vec<&str> = batch.iter().map(|(_, text)| text.as_str()).collect();
            let embedded = self
                .embedder
                .embed(&texts)
                .map_err(|error| SourceError::embedding("embedding passages", error))?;
            let sound = |vector: &Vec<f32>| vector.len() == self.embedder.dimensions();
            if embedded.len() != batch.len() || !embedded.iter().all(sound) {
                return Err(SourceError::internal(
                    "embedding passages",
                    "vectors are missing or of the wrong length",
                ));
            }
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
        at: &str,
    ) -> Result<Version, SourceError> {
        self.progress.step(Stage::Index, 0, 0);
        let pinned = Pinned {
            version: version_name(before, draft, &recipe),
            recipe: recipe.clone(),
            refreshed_at: at.to_owned(),
            calibration: String::new(),
        };
        let failed = |error| SourceError::internal("building the index", error);
        let folder = self.folder.join(&pinned.version);
        if folder.exists() {
            // Of an ingest that did not live to put it in force.
            fs::remove_dir_all(&folder)
                .map_err(|error| SourceError::internal("clearing a leftover index", error))?;
        }
        let lexical = LexicalIndex::build(Some(&folder), self.settings.language, texts(&draft.documents))
            .map_err(failed)?;
        let mut version = Version::assemble(
            pinned,
            Arc::new(Calibration::pooled("not calibrated yet".to_owned())),
            draft.documents.clone(),
            vectors,
            Arc::clone(self.embedder),
            lexical,
        );
        let passages = version.passages() as usize;
        let kept = before
            .and_then(|before| serde_json::from_str::<Calibration>(&before.calibration).ok())
            .filter(|calibration| !calibration.is_stale(passages, self.embedder.id(), &recipe));
        let calibration = match kept {
            Some(calibration) => calibration,
            None => self.calibrate(&version, at, &recipe)?,
        };
        version.pinned.calibration = serde_json::to_string(&calibration)
            .map_err(|error| SourceError::internal("writing the calibration", error))?;
        version.calibration = Arc::new(calibration);
        Ok(version)
    }

    fn calibrate(&self, version: &Version, now: &str, recipe: &str) -> Result<Calibration, SourceError> {
        self.progress.step(Stage::Calibrate, 0, 0);
        let corpus = Calibrating { version };
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

/// One ingest of a source at a time, whichever process it runs in. The system lets go of the lock
/// when its holder dies.
pub(super) fn lock(folder: &Path) -> Result<File, SourceError> {
    fs::create_dir_all(folder).map_err(|error| SourceError::internal("making the index folder", error))?;
    let file = File::create(folder.join("ingest.lock"))
        .map_err(|error| SourceError::internal("making the ingest lock", error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(SourceError::Unavailable(
            "it is being ingested by another process; try again later".to_owned(),
        )),
        Err(TryLockError::Error(error)) => Err(SourceError::internal("taking the ingest lock", error)),
    }
}

/// Removes the folders of versions that are not in force. Only for who holds the lock.
fn clear_leftovers(folder: &Path, in_force: &str) {
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
        for passage in &document.passages {
            hash.update(passage.hash);
        }
    }
    let hash = crate::text::hex(&hash.finalize());
    format!("{number}-{}", hash.get(..12).unwrap_or(&hash))
}

fn counts(documents: &Documents) -> Counts {
    Counts {
        documents: documents.len() as u64,
        passages: documents.values().map(|document| document.passages.len() as u64).sum(),
    }
}

fn report(counts: Counts, warnings: Vec<String>) -> Refreshed {
    let Counts { documents, passages } = counts;
    Refreshed { documents, passages, warnings, ..Refreshed::default() }
}

pub(super) fn store_failed(error: crate::store::StoreError) -> SourceError {
    SourceError::internal("using the store", error)
}
