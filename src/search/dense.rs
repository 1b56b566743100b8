//! Exact search over dense vectors, kept as bytes: measured to lose nothing, and fast enough to
//! some hundred thousand passages before an approximate index would pay.

use std::sync::Arc;

use super::isa::{Isa, per_isa};

/// A vector of unit length as bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct ByteVector {
    /// The components, divided by `scale`.
    pub bytes: Vec<i8>,
    /// What one step of a byte is worth.
    pub scale: f32,
}

impl ByteVector {
    /// Rounds a vector's components to 255 steps of its largest. `scale` makes what comes out
    /// of length one again, whatever rounding did to it.
    pub fn quantize(vector: &[f32]) -> Self {
        let largest = vector.iter().fold(0.0f32, |largest, x| largest.max(x.abs()));
        let inverse = if largest > 0.0 { 127.0 / largest } else { 0.0 };
        let bytes: Vec<i8> = vector.iter().map(|x| (x * inverse).round() as i8).collect();
        // In integers: thousands of squares are more than an f32 can add up.
        let square: i64 = bytes.iter().map(|x| i64::from(*x) * i64::from(*x)).sum();
        Self { bytes, scale: if square > 0 { (square as f32).sqrt().recip() } else { 0.0 } }
    }
}

/// Vectors that can be searched: what was built, and what came since.
#[derive(Debug, Clone)]
pub struct DenseIndex {
    isa: Isa,
    dimensions: usize,
    /// Shared by all that were made from it: it can be large.
    built: Arc<Rows>,
    since: Rows,
}

/// Vectors of one length, one after the other.
#[derive(Debug, Clone, Default)]
struct Rows {
    /// Row-major.
    bytes: Vec<i8>,
    scales: Vec<f32>,
}

impl Rows {
    fn of(dimensions: usize, vectors: impl Iterator<Item = ByteVector>) -> Self {
        let mut rows = Self::default();
        for vector in vectors {
            let sound = vector.bytes.len() == dimensions;
            if sound {
                rows.bytes.extend_from_slice(&vector.bytes);
            } else {
                rows.bytes.extend(std::iter::repeat_n(0, dimensions));
            }
            rows.scales.push(if sound { vector.scale } else { 0.0 });
        }
        rows
    }
}

/// Largest component of a query in integers: fine enough to be exact for ranking, small enough that
/// a sum of products with bytes fits 31 bits.
fn query_steps(dimensions: usize) -> f32 {
    let fits = i32::MAX as usize / (127 * dimensions.max(1));
    fits.min(16_383) as f32
}

impl DenseIndex {
    /// An index of `vectors`, each known by its place. Vectors of another length than
    /// `dimensions` count as zero: they match nothing.
    pub fn new(dimensions: usize, vectors: impl Iterator<Item = ByteVector>) -> Self {
        let built = Arc::new(Rows::of(dimensions, vectors));
        Self { isa: Isa::detect(), dimensions, built, since: Rows::default() }
    }

    /// What was built, with `vectors` after it: they are known by the places that follow. What an
    /// earlier call put there is not carried over.
    #[must_use]
    pub fn with(&self, vectors: impl Iterator<Item = ByteVector>) -> Self {
        let since = Rows::of(self.dimensions, vectors);
        Self { isa: self.isa, dimensions: self.dimensions, built: Arc::clone(&self.built), since }
    }

    /// Vectors held.
    pub fn len(&self) -> usize {
        self.built.scales.len() + self.since.scales.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The cosine of `query` with every vector, in their order. `query` has unit length.
    pub fn cosines(&self, query: &[f32]) -> Vec<f32> {
        let mut cosines = vec![0.0; self.len()];
        if query.len() != self.dimensions || self.dimensions == 0 {
            return cosines;
        }
        let largest = query.iter().fold(0.0f32, |largest, x| largest.max(x.abs()));
        let steps = query_steps(self.dimensions);
        let inverse = if largest > 0.0 { steps / largest } else { 0.0 };
        let integers: Vec<i16> = query.iter().map(|x| (x * inverse).round() as i16).collect();
        let (built, since) = cosines.split_at_mut(self.built.scales.len());
        for (rows, cosines) in [(self.built.as_ref(), built), (&self.since, since)] {
            dots(self.isa, &rows.bytes, &integers, cosines);
            for (cosine, scale) in cosines.iter_mut().zip(&rows.scales) {
                *cosine *= scale * largest / steps;
            }
        }
        cosines
    }

    /// The cosine of two vectors held; 0 if one of them is not.
    pub fn cosine(&self, a: usize, b: usize) -> f32 {
        let (Some(left), Some(right)) = (self.row(a), self.row(b)) else { return 0.0 };
        let dot: i32 = left.iter().zip(right).map(|(x, y)| i32::from(*x) * i32::from(*y)).sum();
        let scale = |n: usize| self.scale(n).unwrap_or(0.0);
        dot as f32 * scale(a) * scale(b)
    }

    /// The bytes of one vector: equal ones are the same vector.
    pub(super) fn row(&self, n: usize) -> Option<&[i8]> {
        let (rows, n) = self.place(n);
        rows.bytes.get(n * self.dimensions..(n + 1) * self.dimensions)
    }

    fn scale(&self, n: usize) -> Option<f32> {
        let (rows, n) = self.place(n);
        rows.scales.get(n).copied()
    }

    /// Where a vector is.
    fn place(&self, n: usize) -> (&Rows, usize) {
        match n.checked_sub(self.built.scales.len()) {
            Some(n) => (&self.since, n),
            None => (&self.built, n),
        }
    }

    /// One vector, as real numbers.
    pub fn vector(&self, n: usize) -> Option<Vec<f32>> {
        let scale = self.scale(n)?;
        Some(self.row(n)?.iter().map(|x| f32::from(*x) * scale).collect())
    }

    /// Mean and standard deviation of the cosines of random pairs: what unrelated looks like here.
    /// The same pairs every time. (0, 1) with fewer than two vectors.
    pub fn random_pairs(&self, pairs: usize) -> (f32, f32) {
        if self.len() < 2 {
            return (0.0, 1.0);
        }
        let mut random = crate::random::Rng::new(1);
        let cosines: Vec<f32> = (0..pairs)
            .map(|_| {
                let a = random.below(self.len());
                // Any but the same.
                let b = (a + 1 + random.below(self.len() - 1)) % self.len();
                self.cosine(a, b)
            })
            .collect();
        let count = cosines.len().max(1) as f32;
        let mean = cosines.iter().sum::<f32>() / count;
        let variance = cosines.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / count;
        (mean, variance.sqrt().max(1e-6))
    }
}

/// The best `limit` of `scores`: place and score, best first, equal ones by place.
pub fn top(scores: &[f32], limit: usize) -> Vec<(u32, f32)> {
    let mut all: Vec<(u32, f32)> = (0u32..).zip(scores.iter().copied()).collect();
    let order = |a: &(u32, f32), b: &(u32, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    if limit == 0 {
        return Vec::new();
    }
    if all.len() > limit {
        all.select_nth_unstable_by(limit - 1, order);
        all.truncate(limit);
    }
    all.sort_unstable_by(order);
    all
}

per_isa! {
    /// The integer dot product of `query` with every row of `bytes`.
    fn dots(bytes: &[i8], query: &[i16], result: &mut [f32]) = dots_plain
}

#[inline(always)]
fn dots_plain(bytes: &[i8], query: &[i16], result: &mut [f32]) {
    for (row, result) in bytes.chunks_exact(query.len()).zip(result) {
        let dot: i32 = row.iter().zip(query).map(|(x, y)| i32::from(i16::from(*x)) * i32::from(*y)).sum();
        *result = dot as f32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(vector: [f32; 4]) -> Vec<f32> {
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        vector.iter().map(|x| x / length).collect()
    }

    #[test]
    fn cosines_are_those_of_the_vectors() {
        let vectors = [unit([1.0, 0.0, 0.0, 0.0]), unit([1.0, 1.0, 0.0, 0.0]), unit([-1.0, 0.0, 0.0, 0.0])];
        let index = DenseIndex::new(4, vectors.iter().map(|v| ByteVector::quantize(v)));
        let cosines = index.cosines(&unit([1.0, 0.0, 0.0, 0.0]));
        for (found, expected) in cosines.iter().zip([1.0, 0.5f32.sqrt(), -1.0]) {
            assert!((found - expected).abs() < 0.01, "{cosines:?}");
        }
        assert!((index.cosine(0, 1) - 0.5f32.sqrt()).abs() < 0.01);
        assert_eq!(top(&cosines, 2).iter().map(|hit| hit.0).collect::<Vec<_>>(), [0, 1]);
    }

    #[test]
    fn the_longest_vectors_do_not_overflow() {
        // All components equal: no vector has a larger sum of products with itself.
        let even = vec![1.0 / 4096f32.sqrt(); 4096];
        let index = DenseIndex::new(4096, [ByteVector::quantize(&even)].into_iter());
        assert!((index.cosines(&even)[0] - 1.0).abs() < 1e-3);
        assert!((index.cosine(0, 0) - 1.0).abs() < 1e-5);
    }

    #[test]
    fn vectors_that_came_since_follow_those_that_were_built() {
        let [a, b, c] = [unit([1.0, 0.0, 0.0, 0.0]), unit([0.0, 1.0, 0.0, 0.0]), unit([1.0, 1.0, 0.0, 0.0])]
            .map(|vector| ByteVector::quantize(&vector));
        let built = DenseIndex::new(4, [a.clone()].into_iter());
        let index = built.with([b.clone()].into_iter()).with([b, c].into_iter());
        assert_eq!((built.len(), index.len()), (1, 3));
        let cosines = index.cosines(&unit([1.0, 0.0, 0.0, 0.0]));
        for (found, expected) in cosines.iter().zip([1.0, 0.0, 0.5f32.sqrt()]) {
            assert!((found - expected).abs() < 0.01, "{cosines:?}");
        }
        assert!((index.cosine(0, 2) - 0.5f32.sqrt()).abs() < 0.01);
        assert!((index.vector(2).unwrap()[1] - 0.5f32.sqrt()).abs() < 0.01);
        assert_eq!(index.vector(3), None);
        assert_eq!(index.row(0), Some(a.bytes.as_slice()));
    }

    #[test]
    fn equal_scores_keep_their_order_and_limits_hold() {
        assert_eq!(top(&[0.5, 0.5, 0.9, 0.5], 3), [(2, 0.9), (0, 0.5), (1, 0.5)]);
        assert!(top(&[1.0], 0).is_empty());
        assert!(top(&[], 5).is_empty());
    }

    #[test]
    fn a_vector_of_another_length_matches_nothing() {
        let index = DenseIndex::new(4, [ByteVector::quantize(&[1.0, 0.0])].into_iter());
        assert_eq!(index.cosines(&unit([1.0, 0.0, 0.0, 0.0])), [0.0]);
        assert_eq!(index.cosines(&[1.0]), [0.0]);
    }
}
