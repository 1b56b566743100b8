//! One version of a hybrid index: lexical and dense, searched together.

use std::collections::HashSet;

use super::{
    SearchError,
    dense::{self, ByteVector, DenseIndex},
    fusion,
    lexical::{InContext, LexicalIndex, QueryTerms},
};
use crate::confidence::{Observation, Signals, Similarity};

/// How deep each ranking goes before fusion.
pub const DEPTH: usize = 100;

/// Hits whose likeness to each other is looked at.
const SHAPE: usize = 10;

/// Random pairs that say what unrelated looks like.
const PAIRS: usize = 4000;

/// With fewer passages than this, a few more can change what unrelated looks like.
const FEW: usize = 512;

/// An index of passages, immutable once built.
pub struct HybridIndex {
    lexical: LexicalIndex,
    dense: DenseIndex,
    pair_mean: f32,
    pair_deviation: f32,
    /// Passages that were built and have been replaced since: they count as absent.
    replaced: HashSet<u32>,
}

/// What a search found and saw.
#[derive(Debug, Clone)]
pub struct Found {
    /// Passages by fused score in [0, 1], best first.
    pub fused: Vec<(u32, f32)>,
    /// The dense ranking.
    pub dense: Vec<(u32, f32)>,
    /// The lexical ranking.
    pub lexical: Vec<(u32, f32)>,
    /// The query's terms.
    pub terms: QueryTerms,
    /// Cosines among the first ten fused.
    pub similarity: Similarity,
    /// The signals of both rankings.
    pub signals: Signals,
}

impl HybridIndex {
    /// Puts an index together from its two sides, which know the same passages by the same places.
    pub fn new(lexical: LexicalIndex, dense: DenseIndex) -> Self {
        let (pair_mean, pair_deviation) = dense.random_pairs(PAIRS);
        Self { lexical, dense, pair_mean, pair_deviation, replaced: HashSet::new() }
    }

    /// What was built, with more passages after it and without those `replaced`. A few passages do
    /// not change what unrelated looks like, unless there are next to no others.
    ///
    /// # Errors
    /// If the texts cannot be indexed.
    pub fn with(
        &self,
        texts: impl Iterator<Item = InContext>,
        vectors: impl Iterator<Item = ByteVector>,
        replaced: HashSet<u32>,
    ) -> Result<Self, SearchError> {
        let (lexical, dense) = (self.lexical.with(texts)?, self.dense.with(vectors));
        let (pair_mean, pair_deviation) = if self.dense.len() < FEW {
            dense.random_pairs(PAIRS)
        } else {
            (self.pair_mean, self.pair_deviation)
        };
        Ok(Self { lexical, dense, pair_mean, pair_deviation, replaced })
    }

    /// Whether a passage that was built has been replaced since.
    pub fn is_replaced(&self, passage: u32) -> bool {
        self.replaced.contains(&passage)
    }

    /// How many passages that were built have been replaced since.
    pub fn replaced(&self) -> usize {
        self.replaced.len()
    }

    /// The lexical side.
    pub fn lexical(&self) -> &LexicalIndex {
        &self.lexical
    }

    /// The dense side.
    pub fn dense(&self) -> &DenseIndex {
        &self.dense
    }

    /// Searches both sides for `query`, whose embedding is `vector`. The passage `leave_out` counts
    /// as absent.
    ///
    /// # Errors
    /// If the lexical side cannot be read.
    pub fn search(&self, query: &str, vector: &[f32], leave_out: Option<u32>) -> Result<Found, SearchError> {
        let terms = self.lexical.terms(query)?;
        let present = |hit: &(u32, f32)| Some(hit.0) != leave_out && !self.is_replaced(hit.0);
        // At worst all that count as absent come first.
        let enough = DEPTH + 1 + self.replaced();
        let mut lexical = self.lexical.search(&terms, enough)?;
        let cosines = self.dense.cosines(vector);
        let mut dense = dense::top(&cosines, enough);
        for ranking in [&mut lexical, &mut dense] {
            ranking.retain(present);
            ranking.truncate(DEPTH);
        }
        let mut fused =
            fusion::convex(&lexical, &dense, |passage| cosines.get(passage as usize).copied().unwrap_or(0.0));
        self.drop_repeats(&mut fused);
        let similarity = self.similarity(&fused);
        let scores = |hits: &[(u32, f32)]| hits.iter().map(|hit| hit.1).collect::<Vec<f32>>();
        let signals = Signals::from(&Observation {
            dense: &scores(&dense),
            lexical: &scores(&lexical),
            known_idf: &terms.known.iter().map(|(_, idf)| *idf).collect::<Vec<f32>>(),
            unknown_terms: terms.unknown.len(),
            unknown_idf: self.lexical.idf(0),
            similarity: &similarity,
            pair_mean: self.pair_mean,
            pair_deviation: self.pair_deviation,
        });
        Ok(Found { fused, dense, lexical, terms, similarity, signals })
    }

    /// Cosines among the first passages of a ranking.
    pub fn similarity(&self, ranking: &[(u32, f32)]) -> Similarity {
        let first: Vec<usize> = ranking.iter().take(SHAPE).map(|hit| hit.0 as usize).collect();
        Similarity::new(first.len(), |i, j| match (first.get(i), first.get(j)) {
            (Some(a), Some(b)) => self.dense.cosine(*a, *b),
            _ => 0.0,
        })
    }

    /// Passages that say the same count once, where they rank first: copies of one text must not
    /// take the places of other answers. Equal texts have equal vectors.
    fn drop_repeats(&self, fused: &mut Vec<(u32, f32)>) {
        let mut seen = HashSet::new();
        fused.retain(|(passage, _)| match self.dense.row(*passage as usize) {
            Some(row) if row.iter().any(|byte| *byte != 0) => seen.insert(row),
            // Without a vector nothing is known about it.
            _ => true,
        });
    }
}
