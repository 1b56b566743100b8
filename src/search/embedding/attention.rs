//! Scaled dot-product attention over all tokens of one text, in twelve heads of 32.

#![allow(
    clippy::indexing_slicing,
    reason = "the inner loops of the forward pass; `plain` checks the lengths first"
)]

use super::math::exp;
use crate::search::isa::per_isa;

/// Width of a head.
const HEAD: usize = 32;

/// Scratch memory of [`attend`].
#[derive(Default)]
pub(super) struct Scratch {
    /// One head's keys, transposed: all tokens of a dimension beside each other.
    keys: Vec<f32>,
    scores: Vec<f32>,
}

per_isa! {
    /// `result[i] = Σⱼ softmax(qᵢ·kⱼ / √32)·vⱼ` for every head. `qkv` holds for each token its
    /// queries, keys and values of all heads, one after the other; `width` is one of the three.
    fn attend(qkv: &[f32], width: usize, scratch: &mut Scratch, result: &mut Vec<f32>) = plain
}

#[inline(always)]
fn plain(qkv: &[f32], width: usize, scratch: &mut Scratch, result: &mut Vec<f32>) {
    let stride = 3 * width;
    let tokens = qkv.len() / stride;
    result.clear();
    result.resize(tokens * width, 0.0);
    if qkv.len() != tokens * stride || !width.is_multiple_of(HEAD) {
        return;
    }
    let Scratch { keys, scores } = scratch;
    keys.resize(HEAD * tokens, 0.0);
    scores.resize(tokens, 0.0);
    let scale = 1.0 / (HEAD as f32).sqrt();
    for head in 0..width / HEAD {
        let at = |token: usize, part: usize| token * stride + part * width + head * HEAD;
        for (dimension, row) in keys.chunks_exact_mut(tokens).enumerate() {
            for (token, key) in row.iter_mut().enumerate() {
                *key = qkv[at(token, 1) + dimension];
            }
        }
        for i in 0..tokens {
            let query = &qkv[at(i, 0)..][..HEAD];
            scores.fill(0.0);
            for (query, row) in query.iter().zip(keys.chunks_exact(tokens)) {
                let query = query * scale;
                for (score, key) in scores.iter_mut().zip(row) {
                    *score += query * key;
                }
            }
            let largest = fold(scores, f32::MIN, |a, b| if a > b { a } else { b });
            for score in scores.iter_mut() {
                *score = exp(*score - largest);
            }
            let total = fold(scores, 0.0, |a, b| a + b);
            let mut sum = [0.0f32; HEAD];
            for (j, score) in scores.iter().enumerate() {
                for (sum, value) in sum.iter_mut().zip(&qkv[at(j, 2)..][..HEAD]) {
                    *sum += score * value;
                }
            }
            for (out, sum) in result[i * width + head * HEAD..][..HEAD].iter_mut().zip(sum) {
                *out = sum / total;
            }
        }
    }
}

/// Folds in sixteen lanes and then across them: one long chain would wait on every step.
#[inline(always)]
fn fold(values: &[f32], start: f32, step: impl Fn(f32, f32) -> f32) -> f32 {
    let mut lanes = [start; 16];
    let (chunks, rest) = values.as_chunks::<16>();
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane = step(*lane, *value);
        }
    }
    lanes.iter().chain(rest).fold(start, |sum, value| step(sum, *value))
}
