//! The documents source: the version in force, and what can be done with it.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use arc_swap::ArcSwapOption;
use async_trait::async_trait;

use super::{
    contents::{Contents, Labels},
    expand::{STRATEGIES, expand},
    ingest::{Ingest, lock, store_failed},
    settings::DocumentsSettings,
    version::{Version, indexed_text, texts},
};
use crate::{
    confidence::Calibration,
    config::SourceConfig,
    search::{
        embedder::{EmbedError, Embedder, Embedding},
        hybrid::Found,
        lexical::LexicalIndex,
        rerank::{Reranker, blend},
    },
    sources::{
        CalibrateRequest, Candidates, Evidence, ExpandRequest, Expansion, Health, Hit, Progress,
        RankedEvidence, Reference, Refreshed, SearchRequest, Source, SourceError, Stage, Status, Strategy,
        registry::Surroundings,
    },
    store::{
        CorpusStore, Documents,
        state::{Contributed, Contribution, StateStore},
    },
};

/// Opens a documents source: the version in force answers at once, if there is one.
pub(super) fn open(
    config: &SourceConfig,
    surroundings: &Surroundings,
) -> Result<Arc<dyn Source>, SourceError> {
    Ok(Arc::new(DocumentsSource(open_inner(config, surroundings)?)))
}

/// The same without the async side.
pub(super) fn open_inner(
    config: &SourceConfig,
    surroundings: &Surroundings,
) -> Result<Arc<Inner>, SourceError> {
    let settings = DocumentsSettings::read(&config.settings)
        .map_err(|error| SourceError::Unavailable(format!("{}: {}", error.key, error.message)))?;
    let inner = Inner {
        slug: config.slug.clone(),
        store: CorpusStore::new(&surroundings.data_dir, &config.slug),
        embedding: Arc::clone(&surroundings.embedding),
        reranker: surroundings.reranker.clone(),
        folder: surroundings.data_dir.join("index").join(&config.slug),
        settings,
        state: Arc::clone(&surroundings.state),
        contents: ArcSwapOption::empty(),
        catching_up: Mutex::new(()),
        looked_at: Mutex::new(None),
        trouble: Mutex::new(None),
        mute: Mutex::new(None),
        waiting_for: Mutex::new("the first index to be built".to_owned()),
    };
    if let Some(embedder) = inner.embedding.known() {
        inner.adopt(&embedder)?;
    }
    Ok(Arc::new(inner))
}

/// A documents source.
struct DocumentsSource(Arc<Inner>);

/// What it is made of.
pub(super) struct Inner {
    pub(super) slug: String,
    settings: DocumentsSettings,
    pub(super) store: CorpusStore,
    /// Where what is contributed is, by whichever process.
    pub(super) state: Arc<dyn StateStore>,
    embedding: Arc<dyn Embedding>,
    reranker: Option<Arc<dyn Reranker>>,
    folder: PathBuf,
    pub(super) contents: ArcSwapOption<Contents>,
    /// Held by who puts other contents in force.
    pub(super) catching_up: Mutex<()>,
    /// When the files were last looked at, if since the version was built.
    looked_at: Mutex<Option<String>>,
    /// Why the last refresh failed.
    trouble: Mutex<Option<String>>,
    /// Why queries cannot be embedded just now, though there is an index.
    mute: Mutex<Option<String>>,
    /// What the first refresh is doing.
    waiting_for: Mutex<String>,
}

impl Inner {
    /// Takes over the version in force if it is another than the one loaded: the first, or one
    /// that another process has built. One whose vectors are not of this embedder, or not all
    /// there, is left to the next refresh.
    fn adopt(&self, embedder: &Arc<dyn Embedder>) -> Result<(), SourceError> {
        let Some(pinned) = self.store.pinned().map_err(store_failed)? else { return Ok(()) };
        if let Some(loaded) = self.contents.load().as_ref()
            && loaded.version.pinned.version == pinned.version
        {
            // Another process may have calibrated it anew.
            if let Ok(calibration) = serde_json::from_str::<Calibration>(&pinned.calibration)
                && calibration != *loaded.version.calibration()
            {
                loaded.version.set_calibration(calibration);
            }
            return Ok(());
        }
        let Some((pinned, documents)) = self.store.load().map_err(store_failed)? else { return Ok(()) };
        let hashes =
            documents.values().flat_map(|document| document.passages.iter().map(|passage| &passage.hash));
        let vectors = self.store.vectors(embedder.id(), hashes.clone()).map_err(store_failed)?;
        if hashes.into_iter().any(|hash| !vectors.contains_key(hash)) {
            *self.waiting_for.lock().unwrap_or_else(PoisonError::into_inner) =
                "its texts to be embedded again".to_owned();
            return Ok(());
        }
        // A calibration that cannot be read is of another version of askback: refresh fits a new one.
        let calibration = serde_json::from_str(&pinned.calibration)
            .unwrap_or_else(|_| Calibration::pooled("the stored calibration could not be read".to_owned()));
        let lexical = self.lexical(&self.folder.join(&pinned.version), &documents)?;
        let version =
            Version::assemble(pinned, calibration, documents, &vectors, Arc::clone(embedder), lexical);
        self.put_in_force(version);
        Ok(())
    }

    fn put_in_force(&self, version: Version) {
        let _one = self.catching_up.lock().unwrap_or_else(PoisonError::into_inner);
        self.contents.store(Some(Arc::new(Contents::new(Arc::new(version)))));
    }

    /// The lexical index of a version: opened if it is there and whole, otherwise built anew, since
    /// it is derived. In its folder, or in memory while another process may be writing there.
    fn lexical(&self, folder: &Path, documents: &Documents) -> Result<LexicalIndex, SourceError> {
        let passages: u64 = documents.values().map(|document| document.passages.len() as u64).sum();
        let language = self.settings.analysis();
        match LexicalIndex::open(folder, language) {
            Ok(index) if index.len() == passages => return Ok(index),
            Ok(_) => tracing::warn!(source = self.slug, "the lexical index is incomplete; building it anew"),
            Err(error) => {
                tracing::warn!(source = self.slug, %error, "the lexical index cannot be used; building it anew");
            }
        }
        let alone = lock(&self.folder).ok();
        let at =
            alone.as_ref().filter(|_| !folder.exists() || fs::remove_dir_all(folder).is_ok()).map(|_| folder);
        LexicalIndex::build_in_context(at, language, texts(documents))
            .map_err(|error| SourceError::internal("building the lexical index anew", error))
    }

    pub(super) fn refresh(&self, progress: &dyn Progress) -> Result<Refreshed, SourceError> {
        let embedder = self.heard(self.embedding.current())?;
        self.adopt(&embedder)?;
        let noting = Noting { inner: self, progress };
        let ingest = Ingest {
            slug: &self.slug,
            settings: &self.settings,
            store: &self.store,
            state: self.state.as_ref(),
            embedder: &embedder,
            folder: &self.folder,
            progress: &noting,
        };
        let loaded = self.contents.load_full().map(|contents| contents.version.pinned.version.clone());
        let outcome = ingest.run(loaded.as_deref())?;
        if let Some(version) = outcome.version {
            self.put_in_force(version);
        }
        *self.looked_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome.at);
        Ok(outcome.report)
    }

    /// Brings the index up to date and calibrates it anew.
    fn calibrate(
        &self,
        request: &CalibrateRequest,
        progress: &dyn Progress,
    ) -> Result<Arc<Calibration>, SourceError> {
        self.refresh(progress)?;
        let version = Arc::clone(&self.in_force()?.version);
        let ingest = Ingest {
            slug: &self.slug,
            settings: &self.settings,
            store: &self.store,
            state: self.state.as_ref(),
            embedder: &version.embedder,
            folder: &self.folder,
            progress,
        };
        let calibration = ingest.recalibrate(&version, request)?;
        version.set_calibration(calibration);
        Ok(version.calibration())
    }

    /// What answers, as far as it has been brought up to date.
    pub(super) fn in_force(&self) -> Result<Arc<Contents>, SourceError> {
        self.contents.load_full().ok_or_else(|| match self.health() {
            Health::Preparing(what) => SourceError::Unavailable(format!("it is being prepared ({what})")),
            Health::Unhealthy(why) => SourceError::Unavailable(why),
            Health::Healthy => SourceError::Unavailable("it is being prepared".to_owned()),
        })
    }

    fn health(&self) -> Health {
        let trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mute = self.mute.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match (self.contents.load().is_some(), mute.or(trouble.filter(|_| self.contents.load().is_none()))) {
            (_, Some(why)) => Health::Unhealthy(why),
            (true, None) => Health::Healthy,
            (false, None) => {
                Health::Preparing(self.waiting_for.lock().unwrap_or_else(PoisonError::into_inner).clone())
            }
        }
    }

    pub(super) fn labels(&self) -> Labels<'_> {
        Labels { slug: &self.slug, trust: self.settings.trust, url_base: self.settings.url_base.as_deref() }
    }

    /// What `contents` have on each of `queries`.
    pub(super) fn look(&self, contents: &Contents, queries: &[&str]) -> Result<Vec<Found>, SourceError> {
        let vectors = self.heard(contents.version.embedder.embed_queries(queries))?;
        queries.iter().zip(vectors).map(|(query, vector)| self.found(contents, query, &vector)).collect()
    }

    fn found(&self, contents: &Contents, query: &str, vector: &[f32]) -> Result<Found, SourceError> {
        let found = contents.index.search(query, vector, None);
        let mut found = found.map_err(|error| SourceError::internal("searching", error))?;
        self.rerank(query, contents, &mut found);
        Ok(found)
    }

    fn search(&self, request: &SearchRequest) -> Result<Candidates, SourceError> {
        let contents = self.current()?;
        // Without the query's vector there are keyword hits, but nothing to judge them by: whether
        // they are any good is what callers come here for, so the source says that it cannot tell.
        let vector = self.heard(contents.version.embedder.embed_query(&request.query))?;
        let found = self.found(&contents, &request.query, &vector)?;
        let labels = self.labels();
        let hits: Vec<Hit> = found
            .fused
            .iter()
            .take(request.limit)
            .filter_map(|(ordinal, score)| contents.hit(*ordinal, *score, &labels))
            .collect();
        let evidence = Evidence::Ranked(RankedEvidence {
            signals: found.signals,
            calibration: contents.version.calibration(),
            unknown_terms: found.terms.unknown.into_iter().map(|term| term.surface).collect(),
            known_terms: found.terms.known.len(),
            similarity: found.similarity,
        });
        Ok(Candidates { hits, evidence })
    }

    /// Lets the reranker, if there is one, order what was found. The signals were taken before and
    /// stay as they are: the calibration was fitted without it, and goes on meaning what it meant.
    fn rerank(&self, query: &str, contents: &Contents, found: &mut Found) {
        let Some(reranker) = &self.reranker else { return };
        let texts: Vec<String> = found
            .fused
            .iter()
            .take(reranker.top())
            .filter_map(|hit| contents.passage(hit.0))
            .map(|(entry, passage, _)| indexed_text(&entry.document, passage))
            .collect();
        // One alone has nothing to be ordered against.
        if texts.len() < 2 {
            return;
        }
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let Some(scores) = reranker.score(query, &texts) else { return };
        found.fused = blend(&found.fused, &scores, reranker.weight());
        found.similarity = contents.index.similarity(&found.fused);
    }

    /// Notes whether the embedding answers: while it does not, no query can be answered.
    fn heard<R>(&self, result: Result<R, EmbedError>) -> Result<R, SourceError> {
        let why = match &result {
            Err(EmbedError::Unavailable(why)) => Some(why.clone()),
            Ok(_) | Err(EmbedError::Failed(_)) => None,
        };
        *self.mute.lock().unwrap_or_else(PoisonError::into_inner) = why;
        result.map_err(|error| SourceError::embedding("embedding", error))
    }
}

/// Passes progress on, and remembers it for whoever asks why there is no index yet.
struct Noting<'a> {
    inner: &'a Inner,
    progress: &'a dyn Progress,
}

impl Progress for Noting<'_> {
    fn step(&self, stage: Stage, done: u64, total: u64) {
        let text =
            if total > 0 { format!("{} {done}/{total}", stage.name()) } else { stage.name().to_owned() };
        *self.inner.waiting_for.lock().unwrap_or_else(PoisonError::into_inner) = text;
        self.progress.step(stage, done, total);
    }
}

impl DocumentsSource {
    /// Runs CPU-heavy work off the async threads.
    async fn blocking<R: Send + 'static>(
        &self,
        work: impl FnOnce(&Inner) -> Result<R, SourceError> + Send + 'static,
    ) -> Result<R, SourceError> {
        let inner = Arc::clone(&self.0);
        tokio::task::spawn_blocking(move || work(&inner))
            .await
            .unwrap_or_else(|error| Err(SourceError::internal("a worker died", error)))
    }
}

#[async_trait]
impl Source for DocumentsSource {
    async fn search(&self, request: SearchRequest) -> Result<Candidates, SourceError> {
        self.blocking(move |inner| inner.search(&request)).await
    }

    async fn locate(&self, reference: &Reference) -> Result<Hit, SourceError> {
        let reference = reference.clone();
        self.blocking(move |inner| {
            let contents = inner.current()?;
            let hit = contents.find(&reference).and_then(|at| contents.hit(at, 0.0, &inner.labels()));
            hit.ok_or(SourceError::ReferenceNotFound(reference))
        })
        .await
    }

    async fn expand(&self, request: ExpandRequest) -> Result<Expansion, SourceError> {
        self.blocking(move |inner| {
            let contents = inner.current()?;
            expand(&contents, &inner.labels(), &request)
        })
        .await
    }

    async fn refresh(&self, progress: Arc<dyn Progress>) -> Result<Refreshed, SourceError> {
        let result = self.blocking(move |inner| inner.refresh(progress.as_ref())).await;
        let trouble = match &result {
            Ok(_) => None,
            Err(SourceError::Unavailable(why)) => Some(why.clone()),
            Err(_) => {
                Some("its index could not be built; its operator finds the cause in the log".to_owned())
            }
        };
        *self.0.trouble.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
        result
    }

    async fn write(&self, contribution: Contribution) -> Result<Contributed, SourceError> {
        self.blocking(move |inner| inner.contribute(&contribution)).await
    }

    async fn calibrate(
        &self,
        request: CalibrateRequest,
        progress: Arc<dyn Progress>,
    ) -> Result<Arc<Calibration>, SourceError> {
        self.blocking(move |inner| inner.calibrate(&request, progress.as_ref())).await
    }

    fn strategies(&self) -> &[Strategy] {
        STRATEGIES
    }

    fn status(&self) -> Status {
        let contents = self.0.contents.load_full();
        let contents = contents.as_deref();
        Status {
            health: self.0.health(),
            documents: contents.map_or(0, Contents::documents),
            passages: contents.map_or(0, Contents::passages),
            index_version: contents.map(|contents| contents.name().to_owned()),
            last_refreshed: contents.map(|contents| {
                let looked_at = self.0.looked_at.lock().unwrap_or_else(PoisonError::into_inner).clone();
                looked_at.unwrap_or_else(|| contents.version.pinned.refreshed_at.clone())
            }),
            calibration: contents.map(|contents| contents.version.calibration()),
        }
    }
}
