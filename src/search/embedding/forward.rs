//! The forward pass: embeddings, six transformer layers, mean pooling, unit length.

use super::{
    DIMENSIONS, EmbeddingError, MAX_TOKENS,
    attention::{self, attend},
    linear::Linear,
    math::{gelu, layer_norm},
    quantize::Quantized,
    weights::{Packed, Tensors},
};
use crate::search::isa::{Isa, per_isa};

const LAYERS: usize = 6;
const HIDDEN: usize = 1536;
const VOCABULARY: usize = 30522;
const POSITIONS: usize = 512;

/// Scale and shift of a layer normalisation.
pub(super) struct Norm {
    weight: Vec<f32>,
    bias: Vec<f32>,
}

impl Norm {
    fn read(tensors: &Tensors<'_>, name: &str) -> Result<Self, EmbeddingError> {
        Ok(Self {
            weight: tensors.vector(&format!("{name}.weight"), DIMENSIONS)?,
            bias: tensors.vector(&format!("{name}.bias"), DIMENSIONS)?,
        })
    }
}

struct Layer {
    query_key_value: Linear,
    attention: Linear,
    attention_norm: Norm,
    up: Linear,
    down: Linear,
    norm: Norm,
}

/// The model, unpacked for one instruction set.
pub(super) struct Model {
    isa: Isa,
    /// Large and rarely touched: rows are unpacked as tokens need them.
    words: Packed<'static>,
    positions: Packed<'static>,
    segments: Packed<'static>,
    norm: Norm,
    layers: Vec<Layer>,
}

/// Scratch memory of one forward pass.
#[derive(Default)]
pub(super) struct Workspace {
    x: Vec<f32>,
    projected: Vec<f32>,
    hidden: Vec<f32>,
    scratch: attention::Scratch,
    attended: Vec<f32>,
    bytes: Quantized,
}

impl Model {
    pub(super) fn read(bytes: &'static [u8], isa: Isa) -> Result<Self, EmbeddingError> {
        let tensors = Tensors::read(bytes)?;
        let layer = |n: usize| -> Result<Layer, EmbeddingError> {
            let name = |part: &str| format!("encoder.layer.{n}.{part}");
            let qkv = ["query", "key", "value"].map(|part| name(&format!("attention.self.{part}")));
            let linear =
                |part: &str, inputs, outputs| Linear::read(&tensors, &[name(part)], inputs, outputs, isa);
            Ok(Layer {
                query_key_value: Linear::read(&tensors, &qkv, DIMENSIONS, DIMENSIONS, isa)?,
                attention: linear("attention.output.dense", DIMENSIONS, DIMENSIONS)?,
                attention_norm: Norm::read(&tensors, &name("attention.output.LayerNorm"))?,
                up: linear("intermediate.dense", DIMENSIONS, HIDDEN)?,
                down: linear("output.dense", HIDDEN, DIMENSIONS)?,
                norm: Norm::read(&tensors, &name("output.LayerNorm"))?,
            })
        };
        Ok(Self {
            isa,
            words: tensors.matrix("embeddings.word_embeddings.weight", VOCABULARY, DIMENSIONS)?,
            positions: tensors.matrix("embeddings.position_embeddings.weight", POSITIONS, DIMENSIONS)?,
            segments: tensors.matrix("embeddings.token_type_embeddings.weight", 2, DIMENSIONS)?,
            norm: Norm::read(&tensors, "embeddings.LayerNorm")?,
            layers: (0..LAYERS).map(layer).collect::<Result<_, _>>()?,
        })
    }

    /// The vector of a tokenised text: at least `[CLS]` and `[SEP]`, at most [`MAX_TOKENS`].
    pub(super) fn embed(&self, tokens: &[u32], workspace: &mut Workspace) -> Vec<f32> {
        let tokens = tokens.get(..MAX_TOKENS).unwrap_or(tokens);
        let Workspace { x, projected, hidden, scratch, attended, bytes } = workspace;
        x.clear();
        x.resize(tokens.len() * DIMENSIONS, 0.0);
        for ((position, token), row) in tokens.iter().enumerate().zip(x.chunks_exact_mut(DIMENSIONS)) {
            self.words.add_row(*token as usize, row);
            self.positions.add_row(position, row);
            self.segments.add_row(0, row);
            layer_norm(row, &self.norm.weight, &self.norm.bias);
        }
        for layer in &self.layers {
            quantize(self.isa, x, bytes);
            layer.query_key_value.apply(bytes, projected);
            attend(self.isa, projected, DIMENSIONS, scratch, attended);
            quantize(self.isa, attended, bytes);
            layer.attention.apply(bytes, projected);
            add_and_normalise(self.isa, x, projected, &layer.attention_norm);
            quantize(self.isa, x, bytes);
            layer.up.apply(bytes, hidden);
            activate(self.isa, hidden);
            quantize(self.isa, hidden, bytes);
            layer.down.apply(bytes, projected);
            add_and_normalise(self.isa, x, projected, &layer.norm);
        }
        pool(x)
    }
}

per_isa! {
    /// Rounds activations to bytes.
    fn quantize(values: &[f32], bytes: &mut Quantized) = quantize_plain
}

#[inline(always)]
fn quantize_plain(values: &[f32], bytes: &mut Quantized) {
    bytes.fill(values);
}

per_isa! {
    /// Applies GELU to every value.
    fn activate(values: &mut [f32]) = activate_plain
}

#[inline(always)]
fn activate_plain(values: &mut [f32]) {
    values.iter_mut().for_each(|value| *value = gelu(*value));
}

per_isa! {
    /// The residual connection: adds `delta` to `x` and normalises each row.
    fn add_and_normalise(x: &mut [f32], delta: &[f32], norm: &Norm) = add_and_normalise_plain
}

#[inline(always)]
fn add_and_normalise_plain(x: &mut [f32], delta: &[f32], norm: &Norm) {
    for (row, delta) in x.chunks_exact_mut(DIMENSIONS).zip(delta.chunks_exact(DIMENSIONS)) {
        row.iter_mut().zip(delta).for_each(|(x, delta)| *x += delta);
        layer_norm(row, &norm.weight, &norm.bias);
    }
}

/// Mean over all tokens, scaled to unit length.
fn pool(x: &[f32]) -> Vec<f32> {
    let mut sum = vec![0.0f32; DIMENSIONS];
    for row in x.chunks_exact(DIMENSIONS) {
        sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
    }
    let length = sum.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length > 0.0 {
        sum.iter_mut().for_each(|x| *x /= length);
    }
    sum
}
