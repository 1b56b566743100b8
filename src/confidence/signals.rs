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
    /// `b_top1` over the idf of a term of no document: about how many of the rarest words would
    /// score as much. Unlike `b_top1` it means the same in a source of a hundred passages and
    /// in one of a million.
    pub b_relative: f32,
    /// Lowest pairwise cosine in the fused top ten, standardised by random pairs: how far the hits disagree.
    pub coh_min: f32,
    /// Share of the query's idf mass on terms the source does not know, in [0, 1]; 1 for a query without terms.
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

/// Smallest deviation to divide by: a source of equal passages has none.
const MIN_DEVIATION: f32 = 1e-6;

/// How far above random pairs, in deviations, two passages are about the same thing.
const CLUSTER_LINK: f32 = 1.5;

impl From<&Observation<'_>> for Signals {
    fn from(seen: &Observation<'_>) -> Self {
        let b_top1 = seen.lexical.first().copied().unwrap_or(0.0);
        let deviation = seen.pair_deviation.max(MIN_DEVIATION);
        Self {
            d_mean5: mean(seen.dense.iter().take(5)),
            b_top1,
            b_relative: b_top1 / seen.unknown_idf.max(MIN_DEVIATION),
            coh_min: lowest_pair(seen.similarity).map_or(0.0, |c| (c - seen.pair_mean) / deviation),
            oov: unknown_share(seen),
            clusters: clusters(seen.similarity, seen.pair_mean + CLUSTER_LINK * deviation).len() as u32,
            lexical_hits: seen.lexical.len() as u32,
            dense_hits: seen.dense.len() as u32,
            gap: match seen.dense {
                [first, second, ..] => first - second,
                _ => 0.0,
            },
            entropy: entropy(seen.dense, deviation),
        }
    }
}

impl Observation<'_> {
    /// Groups of the fused top ten that are about the same thing, by position in it: see [`clusters`].
    pub fn clusters(&self) -> Vec<Vec<usize>> {
        clusters(self.similarity, self.pair_mean + CLUSTER_LINK * self.pair_deviation.max(MIN_DEVIATION))
    }
}

fn mean<'a>(values: impl Iterator<Item = &'a f32>) -> f32 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), v| (sum + v, count + 1.0));
    if count > 0.0 { sum / count } else { 0.0 }
}

fn unknown_share(seen: &Observation<'_>) -> f32 {
    let known: f32 = seen.known_idf.iter().map(|idf| idf.max(0.0)).sum();
    let unknown = seen.unknown_terms as f32 * seen.unknown_idf.max(0.0);
    if known + unknown > 0.0 {
        unknown / (known + unknown)
    } else if seen.known_idf.is_empty() {
        1.0
    } else {
        0.0
    }
}

fn lowest_pair(similarity: &Similarity) -> Option<f32> {
    let n = similarity.size();
    (0..n).flat_map(|i| (i + 1..n).map(move |j| similarity.get(i, j))).reduce(f32::min)
}

/// Entropy of a softmax over the first ten cosines at half a deviation, over its maximum.
fn entropy(dense: &[f32], deviation: f32) -> f32 {
    let top: Vec<f32> = dense.iter().copied().take(10).collect();
    let Some(best) = top.first().filter(|_| top.len() > 1) else { return 0.0 };
    let mass: Vec<f32> = top.iter().map(|d| ((d - best) / (0.5 * deviation)).exp()).collect();
    let total: f32 = mass.iter().sum();
    let entropy: f32 = mass.iter().map(|m| m / total).filter(|p| *p > 0.0).map(|p| -p * p.ln()).sum();
    (entropy / (top.len() as f32).ln()).clamp(0.0, 1.0)
}

/// Average-link agglomerative clustering of the hits, stopped when no two clusters are on average
/// at least `link` alike. Clusters come in order of their best hit, members in order of rank.
pub fn clusters(similarity: &Similarity, link: f32) -> Vec<Vec<usize>> {
    let mut clusters: Vec<Vec<usize>> = (0..similarity.size()).map(|i| vec![i]).collect();
    loop {
        let mut best: Option<(f32, usize, usize)> = None;
        for (i, a) in clusters.iter().enumerate() {
            for (j, b) in clusters.iter().enumerate().skip(i + 1) {
                let sum: f32 = a.iter().flat_map(|&x| b.iter().map(move |&y| similarity.get(x, y))).sum();
                let average = sum / (a.len() * b.len()) as f32;
                if average >= link && best.is_none_or(|(value, ..)| average > value) {
                    best = Some((average, i, j));
                }
            }
        }
        let Some((_, i, j)) = best else { break };
        // j > i, so that removing it leaves i in place.
        let merged = clusters.remove(j);
        if let Some(cluster) = clusters.get_mut(i) {
            cluster.extend(merged);
        }
    }
    for cluster in &mut clusters {
        cluster.sort_unstable();
    }
    clusters.sort_unstable();
    clusters
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(n: usize, alike: &[(usize, usize, f32)], other: f32) -> Similarity {
        Similarity::new(n, |i, j| alike.iter().find(|(a, b, _)| (*a, *b) == (i, j)).map_or(other, |p| p.2))
    }

    #[test]
    fn signals_by_hand() {
        let similarity = pairs(3, &[(0, 1, 0.8)], 0.1);
        let signals = Signals::from(&Observation {
            dense: &[0.6, 0.5, 0.4, 0.3, 0.2, 0.1],
            lexical: &[6.0, 2.0],
            known_idf: &[2.0, 1.0],
            unknown_terms: 1,
            unknown_idf: 3.0,
            similarity: &similarity,
            pair_mean: 0.2,
            pair_deviation: 0.1,
        });
        let close = |a: f32, b: f32| assert!((a - b).abs() < 1e-5, "{a} {b}");
        close(signals.d_mean5, 0.4);
        close(signals.b_top1, 6.0);
        close(signals.b_relative, 2.0);
        close(signals.coh_min, -1.0);
        close(signals.oov, 0.5);
        close(signals.gap, 0.1);
        // Link at 0.35: hits 0 and 1 belong together, 2 stands alone.
        assert_eq!((signals.clusters, signals.lexical_hits, signals.dense_hits), (2, 2, 6));
    }

    #[test]
    fn nothing_seen_is_all_unknown() {
        let none = Similarity::default();
        let signals = Signals::from(&Observation {
            dense: &[],
            lexical: &[],
            known_idf: &[],
            unknown_terms: 0,
            unknown_idf: 3.0,
            similarity: &none,
            pair_mean: 0.0,
            pair_deviation: 0.0,
        });
        assert_eq!((signals.d_mean5, signals.b_top1, signals.oov, signals.clusters), (0.0, 0.0, 1.0, 0));
    }

    #[test]
    fn average_link_weighs_all_pairs() {
        // 0–1 join at 0.9. Then {0,1}–2 averages (0.8 + 0.2)/2 = 0.5 and 2–3 stands at 0.6: 2–3 join;
        // {0,1}–{2,3} averages (0.8 + 0.2 + 0 + 0)/4 = 0.25 and stays apart at link 0.4.
        let similarity = pairs(4, &[(0, 1, 0.9), (0, 2, 0.8), (1, 2, 0.2), (2, 3, 0.6)], 0.0);
        assert_eq!(clusters(&similarity, 0.4), [vec![0, 1], vec![2, 3]]);
        assert_eq!(clusters(&similarity, 0.25).len(), 1);
        assert_eq!(clusters(&similarity, 0.95).len(), 4);
    }

    #[test]
    fn equal_scores_have_full_entropy() {
        assert!((entropy(&[0.5, 0.5, 0.5, 0.5], 0.1) - 1.0).abs() < 1e-6);
        assert!(entropy(&[0.9, 0.1, 0.1], 0.01) < 1e-6);
    }
}
