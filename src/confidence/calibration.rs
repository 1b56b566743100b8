//! What signals mean in one source.

use serde::{Deserialize, Serialize};

use super::Signals;

/// A corpus that calibration can put questions to. Implemented by whatever owns the index.
pub trait Corpus {
    /// How many documents there are.
    fn documents(&self) -> usize;

    /// Title and text of document `n` (`n < documents()`).
    fn document(&self, n: usize) -> Option<(String, String)>;

    /// The words of `text` that carry content, in order, as written, without stop words.
    fn content_words(&self, text: &str) -> Vec<String>;

    /// Runs the queries. A probe's `leave_out` document counts as absent from the corpus.
    ///
    /// # Errors
    /// What the index says when it cannot search.
    fn observe(&self, probes: &[Probe]) -> Result<Vec<Seen>, String>;
}

/// One calibration query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// Its words.
    pub query: String,
    /// A document to treat as absent.
    pub leave_out: Option<usize>,
}

/// What one calibration query saw.
#[derive(Debug, Clone)]
pub struct Seen {
    /// Its signals.
    pub signals: Signals,
    /// Documents of the fused top ten, best first, without repeats.
    pub documents: Vec<usize>,
}

/// What the signals of one (source, embedding, analyser) mean, learnt at ingest without labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    // helper E: weights, standardisation, guard, sep, sizes, date, calibrated or pooled
    #[doc(hidden)]
    pub placeholder: (),
}

/// A calibration's reading of one search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Assessment {
    /// Probability that the query is about something outside the corpus.
    pub p_ooc: f32,
    /// Probability that the wanted document is not among the first ten.
    pub p_miss: f32,
    /// Threshold on `p_ooc` above which the gate asks; infinite where `p_ooc` is not to be trusted.
    pub t_ooc: f32,
    /// (1 − p_ooc)(1 − p_miss), in [0, 1]: comparable across sources.
    pub confidence: f32,
}
