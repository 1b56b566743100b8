//! A linear layer: weights unpacked once into the kernels' layout.

use super::{
    EmbeddingError,
    kernel::{self, Blocks, GROUP_BYTES, LANES},
    quantize::{OFFSET, Quantized},
    weights::{GROUP, Tensors},
};
use crate::search::isa::Isa;

/// `y = W·x + b`.
pub(super) struct Linear {
    isa: Isa,
    blocks: Blocks,
}

impl Linear {
    /// Reads the layers called `names`, stacked: one product then computes all their outputs.
    pub(super) fn read(
        tensors: &Tensors<'_>,
        names: &[String],
        inputs: usize,
        outputs_each: usize,
        isa: Isa,
    ) -> Result<Self, EmbeddingError> {
        let outputs = outputs_each * names.len();
        let groups = inputs / GROUP;
        let mut blocks = Blocks {
            inputs,
            outputs,
            weights: vec![0; inputs * outputs],
            scales: vec![0.0; groups * outputs],
            corrections: vec![0; groups * outputs],
            bias: Vec::with_capacity(outputs),
        };
        for (part, name) in names.iter().enumerate() {
            blocks.bias.extend(tensors.vector(&format!("{name}.bias"), outputs_each)?);
            let matrix = tensors.matrix(&format!("{name}.weight"), outputs_each, inputs)?;
            for row in 0..outputs_each {
                let (integers, scales) = matrix.row(row);
                blocks.place(part * outputs_each + row, integers, scales);
            }
        }
        Ok(Self { isa, blocks })
    }

    /// Computes the layer for all rows of `x`.
    pub(super) fn apply(&self, x: &Quantized, result: &mut Vec<f32>) {
        let tokens = x.bytes.len() / self.blocks.inputs.max(1);
        result.resize(tokens * self.blocks.outputs, 0.0);
        kernel::product(self.isa, &self.blocks, x, result);
    }
}

impl Blocks {
    /// Puts the weights of one output where the kernels look for them.
    fn place(&mut self, output: usize, integers: impl Iterator<Item = i8>, scales: &[f32]) {
        let groups = self.inputs / GROUP;
        let (block, lane) = (output / LANES, output % LANES);
        for (group, scale) in scales.iter().enumerate() {
            if let Some(cell) = self.scales.get_mut((block * groups + group) * LANES + lane) {
                *cell = *scale;
            }
        }
        for (input, integer) in integers.enumerate() {
            let (group, within) = (input / GROUP, input % GROUP);
            let at = (block * groups + group) * GROUP_BYTES + within / 4 * LANES * 4 + lane * 4 + within % 4;
            if let Some(cell) = self.weights.get_mut(at) {
                *cell = integer;
            }
            if let Some(cell) = self.corrections.get_mut((block * groups + group) * LANES + lane) {
                *cell -= OFFSET * i32::from(integer);
            }
        }
    }
}
