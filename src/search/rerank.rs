//! Reranking: a second, dearer look at the first passages of a search.

/// Reads query and passages together and says how well each fits.
pub trait Reranker: Send + Sync {
    /// How many passages it looks at.
    fn top(&self) -> usize;

    /// What its opinion weighs against the fused score, in [0, 1].
    fn weight(&self) -> f32;

    /// One finite score per text, in order; `None` if it has no opinion now, for whatever reason:
    /// that is for its log, and no reason for a search to fail.
    fn score(&self, query: &str, texts: &[&str]) -> Option<Vec<f32>>;
}

/// The order of `fused` after a look at its first passages: `(1 − w)·fused + w·minmax(score)`.
/// Never the reranker alone, since it too has its blind spots. What it has not seen counts as its
/// worst, which leaves it below what it has seen, in its order.
pub fn blend(fused: &[(u32, f32)], scores: &[f32], weight: f32) -> Vec<(u32, f32)> {
    let (low, high) = scores.iter().fold((f32::MAX, f32::MIN), |(low, high), x| (low.min(*x), high.max(*x)));
    let seen = scores.iter().map(|score| if high > low { (score - low) / (high - low) } else { 1.0 });
    let seen = seen.chain(std::iter::repeat(0.0));
    let mut blended: Vec<(u32, f32)> = fused
        .iter()
        .zip(seen)
        .map(|((at, fused), seen)| (*at, (1.0 - weight) * fused + weight * seen))
        .collect();
    // Stable: equal ones stay in the order they had.
    if let Some(looked_at) = blended.get_mut(..scores.len().min(fused.len())) {
        looked_at.sort_by(|a, b| b.1.total_cmp(&a.1));
    }
    blended
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(ranking: &[(u32, f32)]) -> Vec<u32> {
        ranking.iter().map(|hit| hit.0).collect()
    }

    #[test]
    fn both_opinions_count_and_the_rest_stays_below() {
        let fused = [(7, 1.0), (3, 0.8), (5, 0.7), (2, 0.69), (9, 0.1)];
        // 7: ½·1 + ½·0 = 0.5; 3: ½·0.8 + ½·1 = 0.9; 5: ½·0.7 + ½·½ = 0.6; 2: ½·0.69; 9: ½·0.1.
        let blended = blend(&fused, &[-4.0, 2.0, -1.0], 0.5);
        assert_eq!(places(&blended), [3, 5, 7, 2, 9]);
        for (found, expected) in blended.iter().zip([0.9, 0.6, 0.5, 0.345, 0.05]) {
            assert!((found.1 - expected).abs() < 1e-6, "{blended:?}");
        }
        assert!(blended.is_sorted_by(|a, b| a.1 >= b.1));
    }

    #[test]
    fn no_opinion_changes_no_order() {
        let fused = [(7, 1.0), (3, 0.8)];
        assert_eq!(places(&blend(&fused, &[0.3, 0.3], 0.5)), [7, 3]);
        assert_eq!(places(&blend(&fused, &[0.1, 0.9], 0.0)), [7, 3]);
        assert_eq!(places(&blend(&fused, &[], 0.5)), [7, 3]);
        assert!(blend(&[], &[], 0.5).is_empty());
    }
}
