//! A source over a temporary folder, with an embedding simple enough to reckon with.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests, too")]

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use askback::{
    config::SourceConfig,
    search::embedder::{EmbedError, Embedder},
    sources::{
        Budget, Candidates, ExpandRequest, Expansion, Quiet, Reference, Refreshed, SearchRequest, Source,
        SourceError, Status, Strategy,
        registry::{Kind, Registry, Surroundings},
    },
};
use serde_json::json;
use tempfile::TempDir;

/// Counts words into 256 buckets. Words are tokens.
pub(crate) struct Words {
    pub(crate) id: String,
    /// How many texts were embedded.
    pub(crate) embedded: AtomicUsize,
    /// How many texts it takes before it fails.
    pub(crate) strength: AtomicUsize,
}

impl Words {
    pub(crate) fn new(id: &str) -> Arc<Self> {
        let (embedded, strength) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
        Arc::new(Self { id: id.to_owned(), embedded, strength })
    }

    /// How many texts were embedded since this was last asked.
    pub(crate) fn taken(&self) -> usize {
        self.embedded.swap(0, Ordering::SeqCst)
    }
}

impl Embedder for Words {
    fn id(&self) -> &str {
        &self.id
    }

    fn dimensions(&self) -> usize {
        256
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let before = self.embedded.fetch_add(texts.len(), Ordering::SeqCst);
        if before + texts.len() > self.strength.load(Ordering::SeqCst) {
            return Err(EmbedError::Failed("the power went off".to_owned()));
        }
        Ok(texts.iter().map(|text| vector(text)).collect())
    }

    fn count_tokens(&self, text: &str) -> usize {
        text.split_whitespace().count()
    }
}

fn vector(text: &str) -> Vec<f32> {
    let mut vector = vec![0.0f32; 256];
    for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let hash = word.bytes().fold(7usize, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into()));
        vector[hash % 256] += 1.0;
    }
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt().max(1.0);
    vector.iter().map(|x| x / length).collect()
}

/// A folder of files and a folder of state.
pub(crate) struct Bench {
    pub(crate) files: TempDir,
    pub(crate) data: TempDir,
    pub(crate) words: Arc<Words>,
}

impl Bench {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let bench = Self {
            files: tempfile::tempdir().unwrap(),
            data: tempfile::tempdir().unwrap(),
            words: Words::new("words"),
        };
        for (path, content) in files {
            bench.write(path, content);
        }
        bench
    }

    pub(crate) fn write(&self, path: &str, content: &str) {
        let path = self.files.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn remove(&self, path: &str) {
        fs::remove_file(self.files.path().join(path)).unwrap();
    }

    /// Folder of the source's lexical indexes.
    pub(crate) fn index(&self) -> PathBuf {
        self.data.path().join("index").join("docs")
    }

    /// Opens the source, as a process that starts does.
    pub(crate) fn open(&self) -> Opened {
        self.open_with(Arc::clone(&self.words))
    }

    pub(crate) fn open_with(&self, words: Arc<Words>) -> Opened {
        let settings = json!({"path": self.files.path()}).as_object().unwrap().clone();
        let config = SourceConfig::new("docs", Kind::named("documents").unwrap(), settings);
        let surroundings = Surroundings::new(self.data.path().to_owned(), words);
        let registry = Registry::open(&[config], &surroundings);
        Opened(registry.get("docs").unwrap().source().unwrap())
    }

    /// Opens the source and brings it up to date.
    pub(crate) async fn ready(&self) -> Opened {
        let source = self.open();
        source.refresh().await.unwrap();
        source
    }

    pub(crate) fn database(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.data.path().join("askback.db")).unwrap()
    }
}

/// An open source.
pub(crate) struct Opened(pub(crate) Arc<dyn Source>);

impl Opened {
    pub(crate) async fn refresh(&self) -> Result<Refreshed, SourceError> {
        self.0.refresh(Arc::new(Quiet)).await
    }

    pub(crate) fn status(&self) -> Status {
        self.0.status()
    }

    pub(crate) async fn search(&self, query: &str) -> Result<Candidates, SourceError> {
        self.0.search(SearchRequest::new(query, 10)).await
    }

    /// References of the hits, without the slug.
    pub(crate) async fn found(&self, query: &str) -> Vec<String> {
        let hits = self.search(query).await.unwrap().hits;
        hits.iter().map(|hit| format!("{}#{}", hit.reference.document, hit.reference.position)).collect()
    }

    pub(crate) async fn expand(
        &self,
        from: &str,
        strategy: Strategy,
        window: usize,
        tokens: usize,
    ) -> Expansion {
        let request = ExpandRequest {
            reference: reference(from),
            strategy,
            query: None,
            window,
            budget: Budget { max_tokens: tokens },
        };
        self.0.expand(request).await.unwrap()
    }
}

pub(crate) fn reference(text: &str) -> Reference {
    format!("docs/{text}").parse().unwrap()
}

/// Positions of an expansion's passages.
pub(crate) fn positions(expansion: &Expansion) -> Vec<u32> {
    expansion.passages.iter().map(|passage| passage.hit.position).collect()
}

/// Names of the folders in `path`.
pub(crate) fn folders(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap());
    entries
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect()
}

/// A paragraph of `count` different words that begin with `word`.
pub(crate) fn paragraph(word: &str, count: usize) -> String {
    (0..count).map(|n| format!("{word}{n}")).collect::<Vec<_>>().join(" ")
}
