//! Activations as bytes: each group of 32 gets its own scale, so that one outlier costs its own
//! group precision and no other.

use super::weights::GROUP;

/// What is added to make a signed byte unsigned, as the integer kernels want it.
pub(super) const OFFSET: i32 = 128;

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
            let largest = group.iter().fold(0.0f32, |largest, value| largest.max(value.abs()));
            *scale = largest / 127.0;
            let inverse = if largest > 0.0 { 127.0 / largest } else { 0.0 };
            for (byte, value) in bytes.iter_mut().zip(group) {
                // Rounds half up: the value is positive after the offset, so truncation floors.
                *byte = (value * inverse + (OFFSET as f32 + 0.5)) as u8;
            }
        }
    }
}
