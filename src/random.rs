//! Reproducible randomness for sampling. Not for secrets.

/// SplitMix64 (Steele, Lea and Flood, 2014): small, fast, the same everywhere.
#[derive(Debug, Clone)]
pub struct Rng(u64);

impl Rng {
    /// A generator whose numbers depend on `seed` only.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Puts `items` in random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }

    /// A number below `bound`; 0 if `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        // Multiply and shift: biased by less than 2⁻³² for any bound that fits in memory.
        ((u128::from(self.number()) * bound as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_the_published_sequence() {
        // Reference values for seed 1234567 as published with the algorithm's Java implementation.
        let mut random = Rng::new(1_234_567);
        assert_eq!(random.number(), 6_457_827_717_110_365_317);
        assert_eq!(random.number(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn stays_below() {
        let mut random = Rng::new(7);
        assert!((0..1000).all(|_| random.below(3) < 3));
        assert_eq!(random.below(0), 0);
    }
}
