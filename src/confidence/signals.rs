//! The numbers a search is judged by.

use serde::{Deserialize, Serialize};

use super::Similarity;

/// What a hybrid search saw, before fusion threw it away. Input of [`Signals::from`].
#[derive(Debug, Clone)]
pub struct Observation<'a> {
    /// Cosines of the dense hits, best first (at least the first ten where there are so many).
    pub dense: &'a [f32],
    /// Raw BM25 scores of the lexical hits, best first.
    pub lexical: &'a [f32],
    /// Inverse document frequency of each distinct query term that the source knows.
    pub known_idf: &'a [f32],
    /// How many distinct query terms the source does not know.
    pub unknown_terms: usize,
    /// Inverse document frequency a term of no document would have: ln(1 + (N + ½)/½).
    pub unknown_idf: f32,
    /// Cosines between the fused top ten.
    pub similarity: &'a Similarity,
    /// Mean cosine of random pairs of passages in this source.
    pub pair_mean: f32,
    /// Standard deviation of the same.
    pub pair_deviation: f32,
}

/// The signals of one search.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Signals {
    /// Mean cosine of the five best dense hits: is this in the corpus at all?
    pub d_mean5: f32,
    /// Raw BM25 score of the best lexical hit, 0 without one: is the query specific enough?
    pub b_top1: f32,
    /// Lowest pairwise cosine in the fused top ten, standardised by random pairs: how far the hits disagree.
    pub coh_min: f32,
    /// Share of the query's idf mass on terms the source does not know, in [0, 1].
    pub oov: f32,
    /// Clusters among the fused top ten (average link).
    pub clusters: u32,
    /// Lexical hits seen (at most the depth of the ranked list).
    pub lexical_hits: u32,
    /// Dense hits seen (at most the depth of the ranked list).
    pub dense_hits: u32,
    /// Cosine of the best dense hit minus that of the second. Diagnosis only.
    pub gap: f32,
    /// Normalised entropy of the dense top ten, in [0, 1]. Diagnosis only.
    pub entropy: f32,
}
