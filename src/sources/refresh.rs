//! Bringing a source's content up to date.

/// Hears how far a refresh has come. Called from worker threads, often: keep it cheap.
pub trait Progress: Send + Sync {
    /// `done` of `total` steps of `stage` are done; `total` is 0 while it is not known.
    fn step(&self, stage: Stage, done: u64, total: u64);
}

/// What a refresh is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Finding files.
    Scan,
    /// Reading and cutting them.
    Read,
    /// Embedding passages.
    Embed,
    /// Writing the index.
    Index,
    /// Learning what scores mean.
    Calibrate,
}

impl Stage {
    /// A word for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scan => "scanning",
            Self::Read => "reading",
            Self::Embed => "embedding",
            Self::Index => "indexing",
            Self::Calibrate => "calibrating",
        }
    }
}

/// Nobody listens.
#[derive(Debug, Clone, Copy, Default)]
pub struct Quiet;

impl Progress for Quiet {
    fn step(&self, _stage: Stage, _done: u64, _total: u64) {}
}

/// What a refresh did.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Refreshed {
    /// Whether a new index version answers now.
    pub changed: bool,
    /// Documents held afterwards.
    pub documents: u64,
    /// Passages held afterwards.
    pub passages: u64,
    /// Documents added, changed and removed.
    pub added: u64,
    /// See `added`.
    pub updated: u64,
    /// See `added`.
    pub removed: u64,
    /// What could not be read, and why: paths relative to the source.
    pub warnings: Vec<String>,
}
