//! Telling how much a set has changed without keeping the set.

use serde::{Deserialize, Serialize};

/// Hashes kept: a change of a fifth is told to within some three points.
const KEPT: usize = 256;

/// The size of a set and its smallest hashes: a bottom-k sketch (Broder, 1997), from which the
/// overlap of two sets can be estimated.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sketch {
    /// Members.
    size: usize,
    /// The smallest hashes, in order.
    smallest: Vec<u64>,
}

impl Sketch {
    /// A sketch of the set that these hashes stand for; equal hashes are one member.
    pub fn of(hashes: impl Iterator<Item = u64>) -> Self {
        // The hashes may come from anywhere: one more round makes them uniform.
        let mut hashes: Vec<u64> = hashes.map(|hash| crate::random::Rng::new(hash).number()).collect();
        hashes.sort_unstable();
        hashes.dedup();
        let size = hashes.len();
        hashes.truncate(KEPT);
        Self { size, smallest: hashes }
    }

    /// What was added and taken away, as a share of what there was: |A △ B| / |A|, estimated.
    pub fn change(&self, now: &Self) -> f64 {
        let mut union: Vec<u64> = self.smallest.iter().chain(&now.smallest).copied().collect();
        union.sort_unstable();
        union.dedup();
        union.truncate(KEPT);
        if union.is_empty() {
            return 0.0;
        }
        let in_both = |hash: &&u64| {
            self.smallest.binary_search(hash).is_ok() && now.smallest.binary_search(hash).is_ok()
        };
        let overlap = union.iter().filter(in_both).count() as f64 / union.len() as f64;
        // |A ∪ B| = (|A| + |B|) / (1 + J), and |A △ B| = (1 − J)·|A ∪ B|.
        let either = (self.size + now.size) as f64 / (1.0 + overlap);
        (1.0 - overlap) * either / self.size.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_sets_are_exact() {
        let sketch = |range: std::ops::Range<u64>| Sketch::of(range);
        assert_eq!(sketch(0..100).change(&sketch(0..100)), 0.0);
        // 20 added; 10 replaced, which is 10 taken away and 10 added; everything replaced.
        assert!((sketch(0..100).change(&sketch(0..120)) - 0.2).abs() < 1e-9);
        assert!((sketch(0..100).change(&sketch(10..110)) - 0.2).abs() < 1e-9);
        assert!((sketch(0..100).change(&sketch(100..200)) - 2.0).abs() < 1e-9);
        assert_eq!(sketch(0..0).change(&sketch(0..0)), 0.0);
    }

    #[test]
    fn large_sets_are_estimated() {
        // The standard error of the overlap is √(J(1 − J)/256): below 0.03.
        let change = Sketch::of(0..100_000).change(&Sketch::of(0..120_000));
        assert!((change - 0.2).abs() < 0.08, "{change}");
        let change = Sketch::of(0..100_000).change(&Sketch::of(0..102_000));
        assert!(change < 0.08, "{change}");
    }
}
