//! Remote models and a documents source over a [`Stub`].

use std::{
    fs,
    io::{self, Write},
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use askback::{
    config::SourceConfig,
    search::{
        remote::{
            EmbeddingOptions, Endpoint, RemoteEmbedding, RemoteReranker, RerankOptions, Secret, Transport,
        },
        rerank::Reranker,
    },
    sources::{
        Candidates, Quiet, Refreshed, SearchRequest, Source, SourceError, Status,
        registry::{Kind, Registry, Surroundings},
    },
    store::EmbeddingStore,
    store::SqliteState,
};
use serde_json::json;
use tempfile::TempDir;

use super::stub::Stub;

pub(crate) const KEY: &str = "sk-very-secret-key";

fn endpoint(stub: &Stub, section: &'static str) -> Endpoint {
    let path = if section == "rerank" { "rerank" } else { "embeddings" };
    Endpoint {
        section,
        url: format!("{}/{path}", stub.base).parse().unwrap(),
        model: "words".to_owned(),
        key: Some(Secret::new(KEY.to_owned())),
    }
}

pub(crate) fn options(stub: &Stub) -> EmbeddingOptions {
    EmbeddingOptions {
        endpoint: endpoint(stub, "embedding"),
        batch: 32,
        timeout: Duration::from_secs(2),
        retries: 3,
        query_prefix: "query: ".to_owned(),
        passage_prefix: "passage: ".to_owned(),
        query_input_type: None,
        passage_input_type: None,
        max_tokens: 256,
    }
}

/// An embedding that looks whenever it is asked what it is now.
pub(crate) fn embedding(options: EmbeddingOptions, data: &Path) -> Arc<RemoteEmbedding> {
    let memory = Arc::new(EmbeddingStore::new(data));
    Arc::new(RemoteEmbedding::new(Transport::new().unwrap(), options, memory).pausing(Duration::ZERO))
}

pub(crate) fn reranker(stub: &Stub) -> Arc<dyn Reranker> {
    let options = RerankOptions {
        endpoint: endpoint(stub, "rerank"),
        timeout: Duration::from_millis(500),
        top: 3,
        weight: 0.5,
        documents_key: "documents".to_owned(),
    };
    Arc::new(RemoteReranker::new(Transport::new().unwrap(), options))
}

/// A folder of files and a folder of state.
pub(crate) struct Bench {
    pub(crate) files: TempDir,
    pub(crate) data: TempDir,
    pub(crate) stub: Stub,
}

impl Bench {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let bench = Self {
            files: tempfile::tempdir().unwrap(),
            data: tempfile::tempdir().unwrap(),
            stub: Stub::start(),
        };
        for (path, content) in files {
            bench.write(path, content);
        }
        bench
    }

    pub(crate) fn write(&self, path: &str, content: &str) {
        fs::write(self.files.path().join(path), content).unwrap();
    }

    /// Opens the source, as a process that starts does.
    pub(crate) fn open(&self) -> Opened {
        self.open_with(options(&self.stub), None)
    }

    pub(crate) fn open_with(&self, options: EmbeddingOptions, reranker: Option<Arc<dyn Reranker>>) -> Opened {
        let settings = json!({"path": self.files.path()}).as_object().unwrap().clone();
        let config = SourceConfig::new("docs", Kind::named("documents").unwrap(), settings);
        let embedding = embedding(options, self.data.path());
        let surroundings = Surroundings {
            data_dir: self.data.path().to_owned(),
            embedding: Arc::<RemoteEmbedding>::clone(&embedding),
            reranker,
            state: Arc::new(SqliteState::new(self.data.path())),
            configs: Arc::from([]),
        };
        let registry = Registry::open(&[config], &surroundings);
        Opened { source: registry.get("docs").unwrap().source().unwrap(), embedding }
    }
}

/// An open source.
pub(crate) struct Opened {
    pub(crate) source: Arc<dyn Source>,
    pub(crate) embedding: Arc<RemoteEmbedding>,
}

impl Opened {
    pub(crate) async fn refresh(&self) -> Result<Refreshed, SourceError> {
        self.source.refresh(Arc::new(Quiet)).await
    }

    pub(crate) fn status(&self) -> Status {
        self.source.status()
    }

    pub(crate) async fn search(&self, query: &str) -> Result<Candidates, SourceError> {
        self.source.search(SearchRequest::new(query, 10)).await
    }

    /// Documents of the hits.
    pub(crate) async fn found(&self, query: &str) -> Vec<String> {
        self.search(query).await.unwrap().hits.into_iter().map(|hit| hit.document).collect()
    }
}

/// What the log says while `work` runs on this thread.
pub(crate) fn logged<R>(work: impl FnOnce() -> R) -> (R, String) {
    let log = Shared::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_writer(move || writer.clone())
        .with_ansi(false)
        .without_time()
        .finish();
    let result = tracing::subscriber::with_default(subscriber, work);
    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    (result, text)
}

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
