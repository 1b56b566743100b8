//! What signals mean in one source: the fitted model, and how it reads a search. How it is learnt
//! is in [`fit()`]; what stands in for it in small sources is in `pooled`.

mod corpus;
mod fit;
mod labels;
mod pooled;
mod probes;
mod sketch;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use corpus::{Corpus, CorpusPassage, Outline, Probe, Seen};
pub use fit::{Params, fit};
pub use labels::{Labelled, LabelledQuery, Labels};
pub use sketch::Sketch;

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
    /// What the source was made of at the time.
    #[serde(default)]
    pub outline: Outline,
    /// What labelled queries have taught since; absent without labels.
    #[serde(default)]
    pub labelled: Option<Labelled>,
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
    /// (1 − p_ooc)(1 − p_miss), in [0, 1]: comparable across sources. Refitted where there are labels.
    pub confidence: f32,
    /// Where there are labels, the confidence below which to ask (by profile: eager, balanced,
    /// reserved), in place of the other thresholds.
    pub least: Option<[f32; 3]>,
}

/// What came and went, as a share, beyond which a calibration no longer describes its source.
const STALE_CHANGE: f64 = 0.2;

impl Calibration {
    /// Reads the signals of one search. Where `p_ooc` is not to be trusted it is left out of `confidence`.
    pub fn assess(&self, signals: &Signals) -> Assessment {
        let p_ooc = self.ooc.probability(&ooc_features(signals)) as f32;
        let p_miss = self.miss.probability(&miss_features(signals)) as f32;
        let foreign = if self.t_ooc.is_some() { p_ooc } else { 0.0 };
        let confidence = ((1.0 - foreign) * (1.0 - p_miss)).clamp(0.0, 1.0);
        let labelled = self.labelled.as_ref();
        Assessment {
            p_ooc,
            p_miss,
            t_ooc: self.t_ooc.map_or(f32::INFINITY, |t| t as f32),
            confidence: labelled
                .map_or(confidence, |labelled| labelled.confidence(f64::from(confidence)) as f32),
            least: labelled.map(|labelled| labelled.least.map(|least| least as f32)),
        }
    }

    /// The same with what labelled queries teach: `outcomes` are their label-free confidence and success.
    ///
    /// # Errors
    /// Why they teach nothing.
    pub fn with_labels(self, outcomes: &[(f64, bool)], false_asks: f64) -> Result<Self, String> {
        Ok(Self { labelled: Some(Labelled::fit(outcomes, false_asks)?), ..self })
    }

    /// Whether to fit again: the embedding or the recipe changed, or more than a fifth of the
    /// passages or of the vocabulary.
    pub fn is_stale(&self, now: &Outline, embedding: &str, recipe: &str) -> bool {
        self.outline.passages.change(&now.passages) > STALE_CHANGE
            || self.outline.vocabulary.change(&now.vocabulary) > STALE_CHANGE
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
