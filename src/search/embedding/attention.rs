//! Scaled dot-product attention over all tokens of one text, in twelve heads of 32.

#![allow(
    clippy::indexing_slicing,
    reason = "the inner loops of the forward pass; `plain` checks the lengths first"
)]

use super::math::exp;
use crate::search::isa::per_isa;

/// Width of a head.
const HEAD: usize = 32;

/// Keys scored side by side: what fills one wide register. Half a head.
const LANES: usize = 16;

/// Queries that share a pass over the keys and the values.
const TILE: usize = 4;

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
            let queries: [[f32; TILE]; HEAD] =
                std::array::from_fn(|d| std::array::from_fn(|n| qkv[at(token(n), 0) + d] * scale));
            let totals = weigh(&queries, tokens, scratch);
            for half in 0..2 {
                let mut sums = [[0.0f32; LANES]; TILE];
                let values = &scratch.values[half * tokens * LANES..][..tokens * LANES];
                for (value, shares) in values.as_chunks().0.iter().zip(scratch.shares.as_chunks().0) {
                    accumulate(&mut sums, shares, value);
                }
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
#[inline(always)]
fn weigh(queries: &[[f32; TILE]; HEAD], tokens: usize, scratch: &mut Scratch) -> [f32; TILE] {
    let Scratch { keys, scores, shares, .. } = scratch;
    let padded = scores.len() / TILE;
    for (chunk, keys) in keys.as_chunks::<{ HEAD * LANES }>().0.iter().enumerate() {
        let mut sums = [[0.0f32; LANES]; TILE];
        for (row, query) in keys.as_chunks().0.iter().zip(queries) {
            accumulate(&mut sums, query, row);
        }
        for (n, sum) in sums.iter().enumerate() {
            scores[n * padded + chunk * LANES..][..LANES].copy_from_slice(sum);
        }
    }
    let mut totals = [0.0; TILE];
    for (n, (row, total)) in scores.chunks_exact_mut(padded).zip(&mut totals).enumerate() {
        let row = &mut row[..tokens];
        *total = soften(row);
        for (share, score) in shares[n..].iter_mut().step_by(TILE).zip(row) {
            *share = *score;
        }
    }
    totals
}

/// `sums[n] += factors[n] · row` for a tile.
#[inline(always)]
fn accumulate(sums: &mut [[f32; LANES]; TILE], factors: &[f32; TILE], row: &[f32; LANES]) {
    for (sum, factor) in sums.iter_mut().zip(factors) {
        // As a value, not in place: this is what compilers keep in a register.
        *sum = std::array::from_fn(|lane| sum[lane] + factor * row[lane]);
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
