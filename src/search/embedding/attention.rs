//! Scaled dot-product attention over all tokens of one text, in twelve heads of 32.

#![allow(
    clippy::indexing_slicing,
    reason = "the inner loops of the forward pass; `attend` checks the lengths first"
)]

use super::{
    math::exp,
    tile::{LANES, TILE, tile_product},
};
use crate::search::isa::{Isa, per_isa};

/// Width of a head.
const HEAD: usize = 32;

/// Scratch memory of [`attend`].
#[derive(Default)]
pub(super) struct Scratch {
    /// One head's keys in chunks of [`LANES`] tokens, zero beyond the last; within a chunk all
    /// tokens of a dimension beside each other.
    keys: Vec<f32>,
    /// One head's values: the first half of each token's, then the second halves.
    values: Vec<f32>,
    /// A row of scores for each query of a tile.
    scores: Vec<f32>,
    /// The same by token.
    shares: Vec<f32>,
}

/// `result[i] = Σⱼ softmax(qᵢ·kⱼ / √32)·vⱼ` for every head. `qkv` holds for each token its
/// queries, keys and values of all heads, one after the other; `width` is one of the three.
pub(super) fn attend(isa: Isa, qkv: &[f32], width: usize, scratch: &mut Scratch, result: &mut Vec<f32>) {
    let stride = 3 * width;
    let tokens = qkv.len() / stride;
    result.clear();
    result.resize(tokens * width, 0.0);
    if tokens == 0 || qkv.len() != tokens * stride || !width.is_multiple_of(HEAD) {
        return;
    }
    let padded = tokens.next_multiple_of(LANES);
    scratch.keys.clear();
    scratch.keys.resize(HEAD * padded, 0.0);
    scratch.values.resize(HEAD * tokens, 0.0);
    scratch.scores.resize(TILE * padded, 0.0);
    scratch.shares.resize(TILE * tokens, 0.0);
    let scale = 1.0 / (HEAD as f32).sqrt();
    for head in 0..width / HEAD {
        let at = |token: usize, part: usize| token * stride + part * width + head * HEAD;
        for token in 0..tokens {
            let chunk = &mut scratch.keys[token / LANES * HEAD * LANES..][..HEAD * LANES];
            for (row, key) in chunk.chunks_exact_mut(LANES).zip(&qkv[at(token, 1)..][..HEAD]) {
                row[token % LANES] = *key;
            }
            let (first, second) = qkv[at(token, 2)..][..HEAD].split_at(LANES);
            scratch.values[token * LANES..][..LANES].copy_from_slice(first);
            scratch.values[(tokens + token) * LANES..][..LANES].copy_from_slice(second);
        }
        for first in (0..tokens).step_by(TILE) {
            // A short last tile repeats its last token, whose result is then written again.
            let token = |n: usize| (first + n).min(tokens - 1);
            let mut queries = [0.0f32; HEAD * TILE];
            for n in 0..TILE {
                for (query, x) in queries.chunks_exact_mut(TILE).zip(&qkv[at(token(n), 0)..][..HEAD]) {
                    query[n] = x * scale;
                }
            }
            let totals = weigh(isa, &queries, tokens, scratch);
            for (half, values) in scratch.values.chunks_exact(tokens * LANES).enumerate() {
                let sums = tile_product(isa, &scratch.shares, values);
                for (n, (sum, total)) in sums.iter().zip(totals).enumerate() {
                    let out = &mut result[token(n) * width + head * HEAD + half * LANES..][..LANES];
                    for (out, sum) in out.iter_mut().zip(sum) {
                        *out = sum / total;
                    }
                }
            }
        }
    }
}

/// Leaves in `shares` how much each query of a tile attends to each token, up to a factor: the
/// totals to divide by.
fn weigh(isa: Isa, queries: &[f32; HEAD * TILE], tokens: usize, scratch: &mut Scratch) -> [f32; TILE] {
    let Scratch { keys, scores, shares, .. } = scratch;
    let padded = scores.len() / TILE;
    for (chunk, keys) in keys.chunks_exact(HEAD * LANES).enumerate() {
        let sums = tile_product(isa, queries, keys);
        for (n, sum) in sums.iter().enumerate() {
            scores[n * padded + chunk * LANES..][..LANES].copy_from_slice(sum);
        }
    }
    let mut totals = [0.0; TILE];
    for (n, (row, total)) in scores.chunks_exact_mut(padded).zip(&mut totals).enumerate() {
        let row = &mut row[..tokens];
        soften(isa, row, total);
        for (share, score) in shares[n..].iter_mut().step_by(TILE).zip(row) {
            *share = *score;
        }
    }
    totals
}

per_isa! {
    /// Replaces scores by e^(score − largest), and leaves their sum in `total`.
    fn soften(scores: &mut [f32], total: &mut f32) = soften_plain
}

#[inline(always)]
fn soften_plain(scores: &mut [f32], total: &mut f32) {
    let largest = fold(scores, f32::MIN, |a, b| if a > b { a } else { b });
    for score in scores.iter_mut() {
        *score = exp(*score - largest);
    }
    *total = fold(scores, 0.0, |a, b| a + b);
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
