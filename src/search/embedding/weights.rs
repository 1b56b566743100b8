//! Reading the packed weights: symmetric 4-bit integers in groups of 32 along a row, each group
//! with an f16 scale, low nibble first, stored as value + 8 (`assets/pack_q4.py` writes it).

use half::f16;
use safetensors::{Dtype, SafeTensors};

use super::EmbeddingError;

/// Weights that share a scale.
pub(super) const GROUP: usize = 32;

/// The tensors of the asset.
pub(super) struct Tensors<'a>(SafeTensors<'a>);

/// A matrix of 4-bit weights, still packed.
#[derive(Clone)]
pub(super) struct Packed<'a> {
    nibbles: &'a [u8],
    scales: Vec<f32>,
    columns: usize,
}

impl<'a> Tensors<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, EmbeddingError> {
        SafeTensors::deserialize(bytes).map(Self).map_err(|error| EmbeddingError(error.to_string()))
    }

    /// A vector of `length` f32.
    pub(super) fn vector(&self, name: &str, length: usize) -> Result<Vec<f32>, EmbeddingError> {
        let values: Vec<f32> = self
            .bytes(name, Dtype::F32)?
            .as_chunks::<4>()
            .0
            .iter()
            .map(|bytes| f32::from_le_bytes(*bytes))
            .collect();
        if values.len() == length { Ok(values) } else { Err(shape(name)) }
    }

    /// A packed matrix of `rows` × `columns`.
    pub(super) fn matrix(
        &self,
        name: &str,
        rows: usize,
        columns: usize,
    ) -> Result<Packed<'a>, EmbeddingError> {
        let nibbles = self.bytes(&format!("{name}.q4"), Dtype::U8)?;
        let scales: Vec<f32> = self
            .bytes(&format!("{name}.scale"), Dtype::F16)?
            .as_chunks::<2>()
            .0
            .iter()
            .map(|bytes| f16::from_le_bytes(*bytes).to_f32())
            .collect();
        if nibbles.len() * 2 != rows * columns || scales.len() * GROUP != rows * columns {
            return Err(shape(name));
        }
        Ok(Packed { nibbles, scales, columns })
    }

    fn bytes(&self, name: &str, dtype: Dtype) -> Result<&'a [u8], EmbeddingError> {
        let tensor = self.0.tensor(name).map_err(|error| EmbeddingError(format!("{name}: {error}")))?;
        if tensor.dtype() == dtype { Ok(tensor.data()) } else { Err(shape(name)) }
    }
}

fn shape(name: &str) -> EmbeddingError {
    EmbeddingError(format!("{name} does not have the expected shape"))
}

impl Packed<'_> {
    /// The integers of row `row`, in [-8, 7], and the scales of its groups.
    pub(super) fn row(&self, row: usize) -> (impl Iterator<Item = i8>, &[f32]) {
        let start = row * self.columns / 2;
        let nibbles = self.nibbles.get(start..start + self.columns / 2).unwrap_or_default();
        let integers = nibbles.iter().flat_map(|byte| [(byte & 15) as i8 - 8, (byte >> 4) as i8 - 8]);
        let groups = self.columns / GROUP;
        (integers, self.scales.get(row * groups..(row + 1) * groups).unwrap_or_default())
    }

    /// Adds row `row`, as real numbers, onto `sum`.
    pub(super) fn add_row(&self, row: usize, sum: &mut [f32]) {
        let (integers, scales) = self.row(row);
        let scales = scales.iter().flat_map(|scale| std::iter::repeat_n(scale, GROUP));
        for ((sum, integer), scale) in sum.iter_mut().zip(integers).zip(scales) {
            *sum += f32::from(integer) * scale;
        }
    }
}
