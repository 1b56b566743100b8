//! Activations as bytes: each group of 32 gets its own scale, so that one outlier costs its own
//! group precision and no other.

use super::weights::GROUP;

/// What is added to make a signed byte unsigned, as the integer kernels want it.
pub(super) const OFFSET: i32 = 128;

/// 1.5·2²³: a float of this size has no bits left for fractions.
const ROUND: f32 = 12_582_912.0;

/// Rows of activations as bytes.
#[derive(Default)]
pub(super) struct Quantized {
    /// Values + 128, row-major.
    pub(super) bytes: Vec<u8>,
    /// One scale per group of 32, row-major.
    pub(super) scales: Vec<f32>,
}

impl Quantized {
    /// Quantises `values`, whose length is a multiple of 32.
    #[inline(always)]
    pub(super) fn fill(&mut self, values: &[f32]) {
        self.bytes.resize(values.len(), 0);
        self.scales.resize(values.len() / GROUP, 0.0);
        let groups = values.as_chunks::<GROUP>().0;
        let bytes = self.bytes.as_chunks_mut::<GROUP>().0;
        for ((group, bytes), scale) in groups.iter().zip(bytes).zip(&mut self.scales) {
            let largest = largest(group);
            *scale = largest / 127.0;
            let inverse = if largest > 0.0 { 127.0 / largest } else { 0.0 };
            for (byte, value) in bytes.iter_mut().zip(group) {
                // The sum's last bits are the value rounded to a whole number, which a cast would
                // take a check for overflow to find.
                *byte = (value * inverse + (ROUND + OFFSET as f32)).to_bits() as u8;
            }
        }
    }
}

/// The largest magnitude of a group: in eight lanes, since one chain would wait on every step.
#[inline(always)]
fn largest(group: &[f32; GROUP]) -> f32 {
    let larger = |a: f32, b: f32| if a > b { a } else { b };
    let mut lanes = [0.0f32; 8];
    for eight in group.as_chunks::<8>().0 {
        for (lane, value) in lanes.iter_mut().zip(eight) {
            *lane = larger(value.abs(), *lane);
        }
    }
    lanes.into_iter().fold(0.0, larger)
}
