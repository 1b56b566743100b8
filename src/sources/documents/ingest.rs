//! Bringing the index up to date: read what changed, embed what is new, build a new version
//! beside the old one, and put it in force in one transaction. A crash at any moment leaves the
//! old version in force and nothing of the new one but cached vectors and a folder to clear.

use std::{
    collections::{BTreeMap, HashMap},
    fs::{self, File, TryLockError},
    path::Path,
    sync::Arc,
};

use sha2::{Digest, Sha256};

use super::{
    calibrate,
    draft::{self, Draft, Drafting},
    embed::vectors,
    scan::scan,
    settings::DocumentsSettings,
    version::{Version, texts},
};
use crate::{
    confidence::{
        Calibration,
        calibration::{Labels, Outline},
    },
    search::{analysis, dense::ByteVector, embedder::Embedder, lexical::LexicalIndex},
    sources::{CalibrateRequest, LabelChange, Progress, Refreshed, SourceError, Stage},
    store::{Activation, CorpusStore, Counts, Documents, Pinned, TextHash, state::StateStore},
};

/// So many contributed items above a version make a new one worth building.
const FOLD: usize = 32;

/// Changes whenever the same file comes to other passages.
const CHUNKING: &str = "c1";

/// What an ingest works with.
pub(super) struct Ingest<'a> {
    pub(super) slug: &'a str,
    pub(super) settings: &'a DocumentsSettings,
    pub(super) store: &'a CorpusStore,
    /// Where what is contributed is.
    pub(super) state: &'a dyn StateStore,
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
        let language = self.settings.analysis().name();
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
        let at = crate::text::now();
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
        let held = pinned.as_ref().map_or(0, |pinned| pinned.contributed);
        let waiting = self.state.items(self.slug, held).map_err(store_failed)?.len();
        if answers && waiting < FOLD && draft::is_current(&scan, &known) {
            self.store.touch(&known, &at).map_err(store_failed)?;
            let counts = self.store.counts().map_err(store_failed)?;
            let warnings =
                scan.warnings.into_iter().chain(known.into_values().flat_map(|file| file.warnings)).collect();
            return Ok(Outcome { version: None, at, report: report(counts, warnings) });
        }
        let stored = self.store.load().map_err(store_failed)?.map(|(_, documents)| documents);
        let sound = pinned.as_ref().is_some_and(|pinned| pinned.recipe == recipe);
        // All of it: an index that lost some of what was contributed would mend itself here.
        let items = self.state.items(self.slug, 0).map_err(store_failed)?;
        let draft = Drafting::new(self.settings, self.embedder.as_ref(), &at).run(
            scan,
            &known,
            (stored.unwrap_or_default(), sound),
            &items,
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
        let contributed = items.iter().map(|item| item.change).max().unwrap_or_default();
        self.renew(pinned.as_ref(), draft, contributed, recipe, at)
    }

    /// Builds a version of what was drafted and puts it in force.
    fn renew(
        &self,
        before: Option<&Pinned>,
        draft: Draft,
        contributed: u64,
        recipe: String,
        at: String,
    ) -> Result<Outcome, SourceError> {
        let vectors = self.vectors(&draft.documents)?;
        let pinned = Pinned {
            version: version_name(before, &draft, &recipe),
            recipe,
            refreshed_at: at.clone(),
            calibration: String::new(),
            contributed,
        };
        let version = self.build(before, &draft, &vectors, pinned)?;
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
        let mut warnings = draft.warnings;
        warnings.extend(self.another_language(&version));
        let report = Refreshed {
            changed: true,
            added: draft.added,
            updated: draft.changed.len() as u64 - draft.added,
            removed: draft.removed.len() as u64,
            ..report(counts(documents), warnings)
        };
        Ok(Outcome { version: Some(version), at, report })
    }

    /// What to tell an owner whose texts are not in the language they are analysed in by default.
    fn another_language(&self, version: &Version) -> Option<String> {
        let language = calibrate::detect(version).filter(|_| self.settings.language.is_none())?;
        (language != self.settings.analysis()).then(|| {
            let name = language.name();
            format!(
                "the texts look {name}, but are analysed as English: set language = \"{name}\" in the source"
            )
        })
    }

    fn vectors(&self, documents: &Documents) -> Result<HashMap<TextHash, ByteVector>, SourceError> {
        vectors(self.store, self.embedder.as_ref(), documents, self.progress)
    }

    /// Builds the new version beside the old one, calibration included.
    fn build(
        &self,
        before: Option<&Pinned>,
        draft: &Draft,
        vectors: &HashMap<TextHash, ByteVector>,
        pinned: Pinned,
    ) -> Result<Version, SourceError> {
        self.progress.step(Stage::Index, 0, 0);
        let (recipe, at) = (pinned.recipe.clone(), pinned.refreshed_at.clone());
        let failed = |error| SourceError::internal("building the index", error);
        let folder = self.folder.join(&pinned.version);
        if folder.exists() {
            // Of an ingest that did not live to put it in force.
            fs::remove_dir_all(&folder)
                .map_err(|error| SourceError::internal("clearing a leftover index", error))?;
        }
        let lexical =
            LexicalIndex::build_in_context(Some(&folder), self.settings.analysis(), texts(&draft.documents))
                .map_err(failed)?;
        let mut version = Version::assemble(
            pinned,
            Calibration::pooled("not calibrated yet"),
            draft.documents.clone(),
            vectors,
            Arc::clone(self.embedder),
            lexical,
        );
        let outline = calibrate::outline(&version)?;
        let kept = before
            .and_then(|before| serde_json::from_str::<Calibration>(&before.calibration).ok())
            .filter(|calibration| !calibration.is_stale(&outline, self.embedder.id(), &recipe));
        let calibration = match kept {
            Some(calibration) => calibration,
            None => self.calibrate(&version, outline, &at)?,
        };
        version.pinned.calibration = serde_json::to_string(&calibration)
            .map_err(|error| SourceError::internal("writing the calibration", error))?;
        version.set_calibration(calibration);
        Ok(version)
    }

    fn calibrate(&self, version: &Version, outline: Outline, now: &str) -> Result<Calibration, SourceError> {
        let labels = self.labels()?;
        let (fitted, trouble) = calibrate::calibrate(
            version,
            outline,
            self.settings.language,
            labels.as_ref(),
            now,
            self.progress,
        )?;
        if let Some(trouble) = trouble {
            tracing::warn!(
                source = self.slug,
                trouble,
                "the labels no longer teach anything: calibrated without them"
            );
        }
        tracing::info!(source = self.slug, calibrated = fitted.calibrated, "calibrated");
        Ok(fitted)
    }

    /// The labelled queries the owner has given.
    fn labels(&self) -> Result<Option<Labels>, SourceError> {
        let stored = self.store.labels().map_err(store_failed)?;
        // Labels that cannot be read are of another version of askback.
        Ok(stored.and_then(|labels| serde_json::from_str(&labels).ok()))
    }

    /// Calibrates the version in force anew, with the labels of `request` or those given before.
    pub(super) fn recalibrate(
        &self,
        version: &Version,
        request: &CalibrateRequest,
    ) -> Result<Calibration, SourceError> {
        let _alone = lock(self.folder)?;
        let labels = match &request.labels {
            LabelChange::Keep => self.labels()?,
            LabelChange::Forget => None,
            LabelChange::Replace(labels) => Some(labels.clone()),
            LabelChange::FalseAsks(false_asks) => match self.labels()? {
                Some(labels) => Some(Labels { false_asks: *false_asks, ..labels }),
                None => {
                    return Err(SourceError::Unavailable(
                        "there are no labels yet to set a share of false asks with; give some with --labels"
                            .to_owned(),
                    ));
                }
            },
        };
        let now = crate::text::now();
        let (fitted, trouble) = calibrate::calibrate(
            version,
            calibrate::outline(version)?,
            self.settings.language,
            labels.as_ref(),
            &now,
            self.progress,
        )?;
        if let Some(trouble) = trouble {
            // Nothing has changed yet, and labels that teach nothing are not kept.
            return Err(SourceError::Unavailable(trouble));
        }
        let json = |value: serde_json::Result<String>| {
            value.map_err(|error| SourceError::internal("writing the calibration", error))
        };
        let written = json(serde_json::to_string(&fitted))?;
        if !self.store.recalibrate(&version.pinned.version, &written).map_err(store_failed)? {
            return Err(SourceError::Unavailable("its content has just changed; try again".to_owned()));
        }
        let labels = labels.map(|labels| json(serde_json::to_string(&labels))).transpose()?;
        self.store.keep_labels(labels.as_deref()).map_err(store_failed)?;
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
