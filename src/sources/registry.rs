//! The kinds of source there are, and the sources that are served.
//!
//! A kind is one line in [`KINDS`]; everything else about it stands in its own folder.

use std::{fmt, path::PathBuf, sync::Arc};

use arc_swap::ArcSwap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Health, Progress, Refreshed, Source, SourceError, Status, Trust, documents, places, routes};
use crate::{
    config::SourceConfig,
    search::{
        embedder::{Embedder, Embedding, Fixed},
        rerank::Reranker,
    },
    store::{SqliteState, state::StateStore},
};

/// Every kind of source.
const KINDS: &[&KindEntry] = &[&documents::KIND, &places::KIND, &routes::KIND];

/// What a kind brings along.
pub struct KindEntry {
    /// What `kind = "…"` says.
    pub name: &'static str,
    /// What its sources hold.
    pub family: Family,
    /// JSON Schema of its own settings.
    pub schema: fn() -> Value,
    /// Checks its settings without opening anything.
    pub check: fn(&Map<String, Value>) -> Result<(), SettingsError>,
    /// How far content of a source with these settings is to be trusted.
    pub trust: fn(&Map<String, Value>) -> Trust,
    /// Opens a source. Must be quick: long work belongs in [`Source::refresh`].
    pub open: Open,
}

/// Makes a source from its configuration.
pub type Open = fn(&SourceConfig, &Surroundings) -> Result<Arc<dyn Source>, SourceError>;

/// What a source is opened in.
#[derive(Clone)]
pub struct Surroundings {
    /// Folder for durable state.
    pub data_dir: PathBuf,
    /// The embedding sources share.
    pub embedding: Arc<dyn Embedding>,
    /// Takes a second look at what sources find, where one is configured.
    pub reranker: Option<Arc<dyn Reranker>>,
    /// What is contributed to sources, and everything else that all processes share.
    pub state: Arc<dyn StateStore>,
    /// All configured sources, for kinds that build on another.
    pub configs: Arc<[SourceConfig]>,
}

impl Surroundings {
    /// State in `data_dir`, an embedding that never changes, and no reranker.
    pub fn new(data_dir: PathBuf, embedder: Arc<dyn Embedder>) -> Self {
        let state = Arc::new(SqliteState::new(&data_dir));
        Self {
            data_dir,
            embedding: Arc::new(Fixed::new(embedder)),
            reranker: None,
            state,
            configs: Arc::from([]),
        }
    }
}

/// A kind's setting that will not do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsError {
    /// The key, relative to the source.
    pub key: String,
    /// What is wrong and what to do.
    pub message: String,
}

impl SettingsError {
    /// What is wrong with `key`, and what to do.
    pub(super) fn new(key: &str, message: impl Into<String>) -> Self {
        Self { key: key.to_owned(), message: message.into() }
    }
}

/// A registered kind.
#[derive(Clone, Copy)]
pub struct Kind(&'static KindEntry);

impl Kind {
    /// The kind called `name`.
    pub fn named(name: &str) -> Option<Self> {
        KINDS.iter().find(|kind| kind.name == name).map(|kind| Self(kind))
    }

    /// The names of all kinds.
    pub fn names() -> impl Iterator<Item = &'static str> {
        KINDS.iter().map(|kind| kind.name)
    }

    /// What its sources hold.
    pub fn family(self) -> Family {
        self.0.family
    }

    /// Opens a source of the kind.
    pub(super) fn open(
        self,
        config: &SourceConfig,
        surroundings: &Surroundings,
    ) -> Result<Arc<dyn Source>, SourceError> {
        (self.0.open)(config, surroundings)
    }

    /// JSON Schema of the kind's own settings.
    pub fn schema(self) -> Value {
        (self.0.schema)()
    }

    /// Checks the kind's own settings.
    ///
    /// # Errors
    /// The first that will not do.
    pub fn check(self, settings: &Map<String, Value>) -> Result<(), SettingsError> {
        (self.0.check)(settings)
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

/// What kind of thing a source holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Texts.
    Document,
    /// Source code.
    Code,
    /// Places.
    Places,
    /// Routes between places.
    Routes,
    /// Rows.
    Tabular,
    /// An outside service.
    External,
}

/// The sources that are served.
pub struct Registry {
    entries: Vec<Entry>,
}

/// One source: its configuration, and the adapter if it could be opened.
pub struct Entry {
    config: SourceConfig,
    surroundings: Surroundings,
    opened: ArcSwap<Opened>,
}

enum Opened {
    Source(Arc<dyn Source>),
    Failed(String),
}

impl Registry {
    /// Opens every configured source. One that cannot be opened is listed as unhealthy and tried
    /// again by [`Entry::refresh`]; the others serve.
    pub fn open(configs: &[SourceConfig], surroundings: &Surroundings) -> Self {
        let surroundings = Surroundings { configs: configs.into(), ..surroundings.clone() };
        Self {
            entries: configs.iter().map(|config| Entry::open(config.clone(), surroundings.clone())).collect(),
        }
    }

    /// All sources, in the order of the configuration.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The source called `slug`.
    pub fn get(&self, slug: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.config.slug == slug)
    }
}

impl Entry {
    fn open(config: SourceConfig, surroundings: Surroundings) -> Self {
        let opened = ArcSwap::from_pointee(open(&config, &surroundings));
        Self { config, surroundings, opened }
    }

    /// What its configuration says.
    pub fn config(&self) -> &SourceConfig {
        &self.config
    }

    /// Its name in references and arguments.
    pub fn slug(&self) -> &str {
        &self.config.slug
    }

    /// What it holds.
    pub fn family(&self) -> Family {
        self.config.kind.0.family
    }

    /// How far its content is to be trusted.
    pub fn trust(&self) -> Trust {
        (self.config.kind.0.trust)(&self.config.settings)
    }

    /// The adapter.
    ///
    /// # Errors
    /// [`SourceError::Unavailable`] if it could not be opened.
    pub fn source(&self) -> Result<Arc<dyn Source>, SourceError> {
        match &**self.opened.load() {
            Opened::Source(source) => Ok(Arc::clone(source)),
            Opened::Failed(why) => Err(SourceError::Unavailable(why.clone())),
        }
    }

    /// Its condition now.
    pub fn status(&self) -> Status {
        match &**self.opened.load() {
            Opened::Source(source) => source.status(),
            Opened::Failed(why) => Status {
                health: Health::Unhealthy(why.clone()),
                documents: 0,
                passages: 0,
                index_version: None,
                last_refreshed: None,
                calibration: None,
            },
        }
    }

    /// Opens the source if that failed before, and brings its content up to date.
    ///
    /// # Errors
    /// What the source says; it goes on serving what it had.
    pub async fn refresh(&self, progress: Arc<dyn Progress>) -> Result<Refreshed, SourceError> {
        if self.source().is_err() {
            self.opened.store(Arc::new(open(&self.config, &self.surroundings)));
        }
        self.source()?.refresh(progress).await
    }
}

fn open(config: &SourceConfig, surroundings: &Surroundings) -> Opened {
    match (config.kind.0.open)(config, surroundings) {
        Ok(source) => Opened::Source(source),
        Err(SourceError::Unavailable(why)) => Opened::Failed(why),
        Err(error) => {
            tracing::error!(source = config.slug, %error, "source could not be opened");
            Opened::Failed("it could not be opened; its operator finds the cause in the log".to_owned())
        }
    }
}
