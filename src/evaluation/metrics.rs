//! Figures of one ranking or one set of scores.

use super::dataset::Relevance;
use crate::confidence::stats;

/// Normalised discounted cumulative gain at `k` with linear gain (Järvelin and Kekäläinen, 2002):
/// Σ gain/log₂(rank + 1) over that of the best possible ranking. In [0, 1]; 0 if nothing is relevant.
pub fn ndcg(ranking: &[String], relevant: &Relevance, k: usize) -> f64 {
    let discounted = |gains: &mut dyn Iterator<Item = f64>| -> f64 {
        gains.take(k).enumerate().map(|(n, gain)| gain / ((n + 2) as f64).log2()).sum()
    };
    let mut ideal: Vec<f64> = relevant.values().copied().collect();
    ideal.sort_by(|a, b| b.total_cmp(a));
    let best = discounted(&mut ideal.into_iter());
    if best <= 0.0 {
        return 0.0;
    }
    discounted(&mut ranking.iter().map(|id| relevant.get(id).copied().unwrap_or(0.0))) / best
}

/// The share of what is relevant that is among the first `k`. In [0, 1].
pub fn recall(ranking: &[String], relevant: &Relevance, k: usize) -> f64 {
    if relevant.is_empty() {
        return 0.0;
    }
    let found = ranking.iter().take(k).filter(|id| relevant.contains_key(*id)).count();
    found as f64 / relevant.len() as f64
}

/// One over the rank of the first relevant document among the first `k`, 0 without one.
pub fn reciprocal_rank(ranking: &[String], relevant: &Relevance, k: usize) -> f64 {
    ranking.iter().take(k).position(|id| relevant.contains_key(id)).map_or(0.0, |n| 1.0 / (n + 1) as f64)
}

/// How probabilities and outcomes agree: |mean probability − share of successes| of ten equally
/// wide bins, weighted by their sizes (expected calibration error; Naeini et al., 2015). `None`
/// without any.
pub fn calibration_error(outcomes: &[(f64, bool)]) -> Option<f64> {
    let total = outcomes.len() as f64;
    (total > 0.0).then(|| {
        reliability(outcomes)
            .iter()
            .map(|bin| bin.count as f64 * (bin.probability - bin.success).abs())
            .sum::<f64>()
            / total
    })
}

/// The area under the ROC curve of `score` telling `positive` from the rest; `None` without both.
pub fn auroc(scored: impl Iterator<Item = (f64, bool)>) -> Option<f64> {
    let (positive, negative): (Vec<_>, Vec<_>) = scored.partition(|(_, positive)| *positive);
    let scores = |of: Vec<(f64, bool)>| of.into_iter().map(|(score, _)| score).collect::<Vec<f64>>();
    stats::auroc(&scores(positive), &scores(negative))
}

/// One bin of a reliability diagram.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bin {
    /// How many fell into it.
    pub count: usize,
    /// Their mean probability.
    pub probability: f64,
    /// The share that succeeded.
    pub success: f64,
}

/// The ten bins of equal width that are not empty, in order.
pub fn reliability(outcomes: &[(f64, bool)]) -> Vec<Bin> {
    const BINS: usize = 10;
    let mut sums = [(0usize, 0.0f64, 0usize); BINS];
    for (probability, success) in outcomes {
        let at = ((probability * BINS as f64) as usize).min(BINS - 1);
        if let Some((count, sum, successes)) = sums.get_mut(at) {
            *count += 1;
            *sum += probability;
            *successes += usize::from(*success);
        }
    }
    sums.iter()
        .filter(|(count, ..)| *count > 0)
        .map(|&(count, sum, successes)| Bin {
            count,
            probability: sum / count as f64,
            success: successes as f64 / count as f64,
        })
        .collect()
}

/// A point of a precision–recall curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The score from which on things count as found.
    pub threshold: f64,
    /// Share of those found that are positive.
    pub precision: f64,
    /// Share of the positive that are found.
    pub recall: f64,
}

/// Precision and recall at every score that occurs, highest first; empty without a positive.
pub fn precision_recall(scored: &[(f64, bool)]) -> Vec<Point> {
    let mut sorted = scored.to_vec();
    sorted.sort_by(|a, b| b.0.total_cmp(&a.0));
    let positives = sorted.iter().filter(|(_, positive)| *positive).count();
    if positives == 0 {
        return Vec::new();
    }
    let mut hits = 0;
    let mut points: Vec<Point> = Vec::new();
    for (n, (score, positive)) in sorted.iter().enumerate() {
        hits += usize::from(*positive);
        let point = Point {
            threshold: *score,
            precision: hits as f64 / (n + 1) as f64,
            recall: hits as f64 / positives as f64,
        };
        match points.last_mut() {
            // Equal scores are found together.
            Some(last) if last.threshold == *score => *last = point,
            _ => points.push(point),
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(ids: &[&str]) -> Vec<String> {
        ids.iter().map(|id| (*id).to_owned()).collect()
    }

    fn relevant(gains: &[(&str, f64)]) -> Relevance {
        gains.iter().map(|(id, gain)| ((*id).to_owned(), *gain)).collect()
    }

    #[test]
    fn ndcg_by_hand() {
        let relevant = relevant(&[("a", 3.0), ("b", 1.0)]);
        // DCG = 1/log₂2 + 3/log₂4 = 1 + 1.5; ideal = 3/log₂2 + 1/log₂3 = 3 + 0.63093.
        let value = ndcg(&ids(&["b", "x", "a"]), &relevant, 10);
        assert!((value - 2.5 / 3.630_929_753_571_457).abs() < 1e-12, "{value}");
        // Cut before `a`: 1 / 3.63093.
        let value = ndcg(&ids(&["b", "x", "a"]), &relevant, 2);
        // The ideal ranking at 2 is the same two.
        assert!((value - 1.0 / 3.630_929_753_571_457).abs() < 1e-12, "{value}");
        assert_eq!(ndcg(&ids(&["x"]), &Relevance::new(), 10), 0.0);
    }

    #[test]
    fn recall_and_reciprocal_rank_by_hand() {
        let relevant = relevant(&[("a", 1.0), ("b", 1.0), ("c", 1.0)]);
        let ranking = ids(&["x", "a", "b"]);
        assert_eq!(recall(&ranking, &relevant, 2), 1.0 / 3.0);
        assert_eq!(recall(&ranking, &relevant, 10), 2.0 / 3.0);
        assert_eq!(reciprocal_rank(&ranking, &relevant, 10), 0.5);
        assert_eq!(reciprocal_rank(&ranking, &relevant, 1), 0.0);
    }

    #[test]
    fn calibration_error_by_hand() {
        // Bin [0.2, 0.3): 0.2 and 0.28, one success: |0.24 − 0.5| = 0.26. Bin [0.9, 1]: 1.0, success: 0.
        let outcomes = [(0.2, true), (0.28, false), (1.0, true)];
        let error = calibration_error(&outcomes).unwrap();
        assert!((error - 2.0 * 0.26 / 3.0).abs() < 1e-12, "{error}");
        assert_eq!(calibration_error(&[]), None);
    }

    #[test]
    fn precision_and_recall_by_hand() {
        let points = precision_recall(&[(0.1, false), (0.9, true), (0.5, false), (0.5, true)]);
        let plain: Vec<_> = points.iter().map(|p| (p.threshold, p.precision, p.recall)).collect();
        assert_eq!(plain, [(0.9, 1.0, 0.5), (0.5, 2.0 / 3.0, 1.0), (0.1, 0.5, 1.0)]);
        assert!(precision_recall(&[(0.5, false)]).is_empty());
    }
}
