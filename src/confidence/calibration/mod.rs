//! What signals mean in one source: the fitted model, and how it reads a search. How it is learnt
//! is in [`fit()`]; what stands in for it in small sources is in `pooled`.

mod corpus;
mod fit;
mod pooled;
mod probes;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use corpus::{Corpus, CorpusPassage, Probe, Seen};
pub use fit::{Params, fit};

use super::{Signals, logistic::Logistic};

/// What the signals of one (source, embedding, analyser) mean, learnt at ingest without labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Whether it was learnt from this source; otherwise it is [`Calibration::pooled`].
    pub calibrated: bool,
    /// Probability of being out of corpus, from `d_mean5`.
    pub ooc: Logistic,
    /// Probability that the wanted passage is not in the first ten, from `d_mean5` and `b_relative`.
    pub miss: Logistic,
    /// Threshold on `p_ooc`; absent where `p_ooc` does not separate and must not be used.
    pub t_ooc: Option<f64>,
    /// AUROC of `d_mean5` between queries of the corpus and foreign ones, in [0, 1].
    pub sep: Option<f64>,
    /// How many calibration queries there were.
    pub sizes: Sizes,
    /// Passages in the source at the time.
    pub passages: usize,
    /// Seed of the draw.
    pub seed: u64,
    /// When it was fitted, RFC 3339 in UTC.
    pub fitted_at: Option<String>,
    /// The embedding it was fitted on.
    pub embedding: Option<String>,
    /// The recipe (chunking, analysis) it was fitted on.
    pub recipe: Option<String>,
    /// What a person should know about it: why it is pooled, or that the embedding separates badly.
    pub note: Option<String>,
}

/// Sizes of the three sets of calibration queries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sizes {
    /// P: cut from the corpus, own passage left out.
    pub in_corpus: usize,
    /// N: everyday queries, without those that match.
    pub foreign: usize,
    /// K: cut from the corpus, own passage to be found.
    pub known_item: usize,
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

/// Growth or shrinkage, as a share, beyond which a calibration no longer describes its source.
const STALE_CHANGE: f64 = 0.2;

impl Calibration {
    /// Reads the signals of one search. Where `p_ooc` is not to be trusted it is left out of `confidence`.
    pub fn assess(&self, signals: &Signals) -> Assessment {
        let p_ooc = self.ooc.probability(&ooc_features(signals)) as f32;
        let p_miss = self.miss.probability(&miss_features(signals)) as f32;
        let foreign = if self.t_ooc.is_some() { p_ooc } else { 0.0 };
        Assessment {
            p_ooc,
            p_miss,
            t_ooc: self.t_ooc.map_or(f32::INFINITY, |t| t as f32),
            confidence: ((1.0 - foreign) * (1.0 - p_miss)).clamp(0.0, 1.0),
        }
    }

    /// Whether to fit again: the number of passages, the embedding or the recipe changed (by more
    /// than 20 % for the number).
    pub fn is_stale(&self, passages: usize, embedding: &str, recipe: &str) -> bool {
        let change = (passages as f64 - self.passages as f64).abs() / (self.passages.max(1) as f64);
        change > STALE_CHANGE
            || self.embedding.as_deref() != Some(embedding)
            || self.recipe.as_deref() != Some(recipe)
    }
}

fn ooc_features(signals: &Signals) -> [f64; 1] {
    [f64::from(signals.d_mean5)]
}

fn miss_features(signals: &Signals) -> [f64; 2] {
    [f64::from(signals.d_mean5), f64::from(signals.b_relative)]
}
