//! What a source of data is to the rest of askback: the [`Source`] trait and the values it
//! speaks in. Each kind lives in a folder of its own and is one line in the registry;
//! nothing here knows MCP, HTTP, or how a kind finds its answers.

pub mod documents;
mod error;
mod expansion;
pub mod geo;
mod hit;
mod outside;
pub mod places;
mod reference;
mod refresh;
pub mod registry;
pub mod routes;

use std::sync::Arc;

use async_trait::async_trait;

pub use error::SourceError;
pub use expansion::{Budget, ExpandRequest, Expansion, Passage, Strategy};
pub use hit::{Hit, Note, Provenance, Trust};
pub use reference::Reference;
pub use refresh::{Progress, Quiet, Refreshed, Stage};

use crate::{
    confidence::{Calibration, Signals, Similarity, calibration::Labels},
    store::state::{Contributed, Contribution},
};

/// A corpus or service that can be searched, and whose results can be expanded.
///
/// Implementations must be cheap to call concurrently, keep CPU-heavy work off the async
/// threads, and report trouble as a [`SourceError`]: a broken source never takes the server down.
#[async_trait]
pub trait Source: Send + Sync {
    /// Finds what fits `request.query`, best first, with the evidence the gate judges it by.
    ///
    /// # Errors
    /// [`SourceError::Unavailable`] while there is nothing to search, otherwise what went wrong.
    async fn search(&self, request: SearchRequest) -> Result<Candidates, SourceError>;

    /// The hit that `reference` stands for, with `score` 0 and `rank` left to the caller.
    ///
    /// # Errors
    /// [`SourceError::ReferenceNotFound`] if this source has no such item (any more).
    async fn locate(&self, reference: &Reference) -> Result<Hit, SourceError>;

    /// Reads on from a hit: its neighbours, its section, its document, or what resembles it.
    ///
    /// # Errors
    /// [`SourceError::ReferenceNotFound`], [`SourceError::StrategyNotSupported`], or as `search`.
    async fn expand(&self, request: ExpandRequest) -> Result<Expansion, SourceError>;

    /// Brings the content up to date. The source goes on answering from what it had meanwhile,
    /// and keeps it if this fails.
    ///
    /// # Errors
    /// What stood in the way.
    async fn refresh(&self, progress: Arc<dyn Progress>) -> Result<Refreshed, SourceError>;

    /// Takes a contribution whose writer is known to be allowed it. When this returns it is durable, and
    /// the next search, `locate` and `expand` of every process see it.
    ///
    /// # Errors
    /// [`SourceError::TakesNoWrites`] if the kind does not, [`SourceError::Rejected`] if the content
    /// will not do; nothing is recorded then.
    async fn write(&self, _contribution: Contribution) -> Result<Contributed, SourceError> {
        Err(SourceError::TakesNoWrites)
    }

    /// Learns anew what scores mean, from labelled queries too where there are any.
    ///
    /// # Errors
    /// [`SourceError::Unavailable`] if the labels teach nothing or the kind has nothing to calibrate.
    async fn calibrate(
        &self,
        _request: CalibrateRequest,
        _progress: Arc<dyn Progress>,
    ) -> Result<Arc<Calibration>, SourceError> {
        Err(SourceError::Unavailable("sources of this kind have nothing to calibrate".to_owned()))
    }

    /// Refine strategies this source offers, in the order `auto` prefers them.
    fn strategies(&self) -> &[Strategy];

    /// Counts, freshness, calibration and health at this moment. Never blocks on a backend.
    fn status(&self) -> Status;
}

/// How to calibrate a source.
#[derive(Debug, Clone, PartialEq)]
pub struct CalibrateRequest {
    /// What to do about labelled queries.
    pub labels: LabelChange,
}

/// What becomes of a source's labelled queries.
#[derive(Debug, Clone, PartialEq)]
pub enum LabelChange {
    /// Those given before, if any, are used again.
    Keep,
    /// The same, at another share of false asks, in (0, 0.5].
    FalseAsks(f64),
    /// These take their place.
    Replace(Labels),
    /// They are forgotten.
    Forget,
}

/// One query to a source.
#[derive(Debug, Clone)]
pub struct SearchRequest {
    /// The words to search for, already trimmed and length-checked.
    pub query: String,
    /// How many hits to return at most. Evidence is computed from the full ranked lists
    /// whatever this is.
    pub limit: usize,
    /// Whether a guess at what the query may mean is welcome: the caller asked this source for it.
    /// Without it, one of many that were asked should answer what it is plainly asked for.
    pub lenient: bool,
    /// What a person said about parts of the query that were open, oldest first.
    pub settled: Vec<Settled>,
}

/// What a person said about an open part of a query. As hostile as the query itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    /// Which part: the `slot` of an [`OpenPart`].
    pub slot: String,
    /// The reference of the option they picked.
    pub choice: Option<String>,
    /// Their own words.
    pub text: Option<String>,
}

impl SearchRequest {
    /// A search that a caller meant for this source.
    pub fn new(query: impl Into<String>, limit: usize) -> Self {
        Self { query: query.into(), limit, lenient: true, settled: Vec::new() }
    }
}

/// What a search found.
#[derive(Debug, Clone)]
pub struct Candidates {
    /// Hits, best first, at most as many as asked for.
    pub hits: Vec<Hit>,
    /// What the gate judges the hits by.
    pub evidence: Evidence,
}

/// What a kind of source can say about how well its hits fit.
#[derive(Debug, Clone)]
pub enum Evidence {
    /// Ranked retrieval: strength is read from calibrated signals.
    Ranked(RankedEvidence),
    /// Things looked up by what they are called: several may fit equally well.
    Matched(MatchEvidence),
    /// Parts of the query have to be settled first; the hits are of the likeliest reading.
    Open(Vec<OpenPart>),
}

/// A part of a query that several things fit, or none.
#[derive(Debug, Clone)]
pub struct OpenPart {
    /// Names the part: lower-case letters and digits, at most 16.
    pub slot: String,
    /// What part it is, for people: `the start`.
    pub what: String,
    /// What was written there.
    pub written: String,
    /// What it can mean, best first; empty if nothing is known by that name.
    pub options: Vec<Hit>,
}

/// Evidence of a lookup.
#[derive(Debug, Clone, PartialEq)]
pub struct MatchEvidence {
    /// How many of the first hits fit equally well, counting those beyond the limit.
    pub fitting: usize,
    /// Whether the first is so much better known than all others that fit that a person who says no more
    /// hardly means another.
    pub dominant: bool,
    /// Probability that what is meant is among them, in (0, 1).
    pub reliability: f32,
    /// Words of the query that played no part.
    pub unknown_terms: Vec<String>,
    /// How many words of it did.
    pub known_terms: usize,
}

/// Evidence of a ranked search.
#[derive(Debug, Clone)]
pub struct RankedEvidence {
    /// The numbers the gate looks at.
    pub signals: Signals,
    /// What those numbers mean in this source.
    pub calibration: Arc<Calibration>,
    /// The query's words that occur nowhere in the source, as the user wrote them.
    pub unknown_terms: Vec<String>,
    /// How many distinct words of the query occur in the source.
    pub known_terms: usize,
    /// Cosines between the first hits (up to ten), in the order of [`Candidates::hits`].
    pub similarity: Similarity,
}

/// A source's condition at one moment.
#[derive(Debug, Clone)]
pub struct Status {
    /// Whether it can answer now, and why not.
    pub health: Health,
    /// Documents held.
    pub documents: u64,
    /// Passages (chunks) held.
    pub passages: u64,
    /// Identifies the index that answers; changes whenever content does.
    pub index_version: Option<String>,
    /// When the content was last brought up to date, RFC 3339 in UTC.
    pub last_refreshed: Option<String>,
    /// The calibration in force.
    pub calibration: Option<Arc<Calibration>>,
}

/// Whether a source can answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Health {
    /// It answers.
    Healthy,
    /// It is being prepared (first index) and will answer soon. The text says what it waits for.
    Preparing(String),
    /// It cannot answer. The text is fit for callers: no paths, no secrets.
    Unhealthy(String),
}

impl Health {
    /// A word for it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Preparing(_) => "preparing",
            Self::Unhealthy(_) => "unhealthy",
        }
    }

    /// What it waits for, or why it cannot answer.
    pub fn note(&self) -> Option<&str> {
        match self {
            Self::Healthy => None,
            Self::Preparing(note) | Self::Unhealthy(note) => Some(note),
        }
    }
}
