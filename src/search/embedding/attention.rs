//! Scaled dot-product attention over all tokens of one text, in twelve heads of 32.

#![allow(
    clippy::indexing_slicing,
    reason = "the inner loops of the forward pass; `plain` checks the lengths first"
)]

use super::math::exp;
use crate::search::isa::per_isa;

/// Width of a head.
const HEAD: usize = 32;

/// Keys scored side by side: what fills one wide register.
const LANES: usize = 16;

/// Queries that share a pass over the keys and the values.
const TILE: usize = 4;

/// Scratch memory of [`attend`].
#[derive(Default)]
pub(super) struct Scratch {
    /// One head's keys in chunks of [`LANES`] tokens, zero beyond the last; within a chunk all
    /// tokens of a dimension beside each other.
    keys: Vec<f32>,
    /// A row of scores for each query of a tile.
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
    if tokens == 0 || qkv.len() != tokens * stride || !width.is_multiple_of(HEAD) {
        return;
    }
    let Scratch { keys, scores } = scratch;
    let padded = tokens.next_multiple_of(LANES);
    keys.clear();
    keys.resize(HEAD * padded, 0.0);
    scores.resize(TILE * padded, 0.0);
    let scale = 1.0 / (HEAD as f32).sqrt();
    for head in 0..width / HEAD {
        let at = |token: usize, part: usize| token * stride + part * width + head * HEAD;
        for token in 0..tokens {
            let chunk = &mut keys[token / LANES * HEAD * LANES..][..HEAD * LANES];
            for (row, key) in chunk.chunks_exact_mut(LANES).zip(&qkv[at(token, 1)..][..HEAD]) {
                row[token % LANES] = *key;
            }
        }
        for first in (0..tokens).step_by(TILE) {
            // A short last tile repeats its last token, whose result is then written again.
            let token = |n: usize| (first + n).min(tokens - 1);
            let queries: [[f32; HEAD]; TILE] =
                std::array::from_fn(|n| std::array::from_fn(|d| qkv[at(token(n), 0) + d] * scale));
            score(&queries, keys, scores, padded);
            let mut totals = [0.0; TILE];
            for (row, total) in scores.chunks_exact_mut(padded).zip(&mut totals) {
                *total = soften(&mut row[..tokens]);
            }
            for half in [0, HEAD / 2] {
                let mut sums = [[0.0f32; HEAD / 2]; TILE];
                for j in 0..tokens {
                    let values = &qkv[at(j, 2) + half..][..HEAD / 2];
                    for (n, sum) in sums.iter_mut().enumerate() {
                        let score = scores[n * padded + j];
                        for (sum, value) in sum.iter_mut().zip(values) {
                            *sum += score * value;
                        }
                    }
                }
                for (n, (sum, total)) in sums.iter().zip(totals).enumerate() {
                    let out = &mut result[token(n) * width + head * HEAD + half..][..HEAD / 2];
                    for (out, sum) in out.iter_mut().zip(sum) {
                        *out = sum / total;
                    }
                }
            }
        }
    }
}

/// The products of a tile's queries with all keys, a row of `padded` scores for each query.
#[inline(always)]
fn score(queries: &[[f32; HEAD]; TILE], keys: &[f32], scores: &mut [f32], padded: usize) {
    for (chunk, keys) in keys.as_chunks::<{ HEAD * LANES }>().0.iter().enumerate() {
        let mut sums = [[0.0f32; LANES]; TILE];
        for (d, row) in keys.as_chunks::<LANES>().0.iter().enumerate() {
            for (sum, query) in sums.iter_mut().zip(queries) {
                for (sum, key) in sum.iter_mut().zip(row) {
                    *sum += query[d] * key;
                }
            }
        }
        for (n, sum) in sums.iter().enumerate() {
            scores[n * padded + chunk * LANES..][..LANES].copy_from_slice(sum);
        }
    }
}

/// Replaces scores by e^(score − largest); their sum.
#[inline(always)]
fn soften(scores: &mut [f32]) -> f32 {
    let largest = fold(scores, f32::MIN, |a, b| if a > b { a } else { b });
    for score in scores.iter_mut() {
        *score = exp(*score - largest);
    }
    fold(scores, 0.0, |a, b| a + b)
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
