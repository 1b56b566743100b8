//! What calibration asks of whatever owns the index.
//!
//! The unit is the passage, because that is what a search returns and what BM25 and the cosines
//! are computed over: a handbook of twenty pages is two hundred passages, plenty to learn from,
//! where twenty documents would be too few, and leaving a whole page out would make a query about
//! that page foreign rather than typical.

use serde::{Deserialize, Serialize};

use super::Sketch;
use crate::confidence::Signals;

/// A corpus that calibration can put questions to. Implemented by whatever owns the index.
pub trait Corpus {
    /// How many passages there are.
    fn passages(&self) -> usize;

    /// Passage `n` (`n < passages()`).
    fn passage(&self, n: usize) -> Option<CorpusPassage>;

    /// The words of `text` that carry content, in order, as written, without stop words.
    fn content_words(&self, text: &str) -> Vec<String>;

    /// Runs the queries, one result each in the same order. A probe's `leave_out` passage counts as
    /// absent: it is neither ranked nor part of the signals.
    ///
    /// # Errors
    /// What the index says when it cannot search.
    fn observe(&self, probes: &[Probe]) -> Result<Vec<Seen>, String>;
}

/// What a corpus is made of, in short: enough to tell later how much of it has changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outline {
    /// Its passages.
    pub passages: Sketch,
    /// Its terms.
    pub vocabulary: Sketch,
}

/// A passage to cut queries from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CorpusPassage {
    /// Any number that passages of one document share and others do not.
    pub document: usize,
    /// Title of the document.
    pub title: String,
    /// Its text.
    pub text: String,
}

/// One calibration query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// Its words.
    pub query: String,
    /// A passage to treat as absent.
    pub leave_out: Option<usize>,
}

/// What one calibration query saw.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Its signals.
    pub signals: Signals,
    /// The fused top ten passages, best first.
    pub passages: Vec<usize>,
}
