//! The integer matrix product at the heart of the forward pass, for each instruction set.
//!
//! Weights are laid out in blocks of [`LANES`] outputs; within a block, group by group of 32
//! inputs, and within a group in eight steps of four inputs: one 64-byte step holds four
//! consecutive inputs of sixteen outputs, which is what one instruction of a byte dot product
//! takes. No path fuses multiplications with additions and all sum in the same order, so that vectors
//! are the same to the bit on every machine.

#![allow(
    clippy::indexing_slicing,
    reason = "the innermost loops; `product` checks every length before any kernel runs"
)]

use super::{quantize::Quantized, weights::GROUP};
use crate::search::isa::Isa;

/// Outputs of a block; blocks come in pairs.
pub(super) const LANES: usize = 16;
/// Inputs a step takes at once.
const QUAD: usize = 4;
/// Bytes of weights of one group of one block.
pub(super) const GROUP_BYTES: usize = GROUP * LANES;
/// Tokens that share a pass over a block's weights.
const TILE: usize = 4;

/// Blocked weights of one matrix, as the kernels read them.
pub(super) struct Blocks {
    /// Inputs; a multiple of 32.
    pub(super) inputs: usize,
    /// Outputs; a multiple of 32.
    pub(super) outputs: usize,
    /// Weights, see the module's comment.
    pub(super) weights: Vec<i8>,
    /// Scales, by block, group, output.
    pub(super) scales: Vec<f32>,
    /// −128 × the sum of a group's weights, by block, group, output: undoes the activations' offset.
    pub(super) corrections: Vec<i32>,
    /// Added to each output.
    pub(super) bias: Vec<f32>,
}

/// `result[t][n] = bias[n] + Σₖ x[t][k]·w[n][k]`, row-major. Does nothing if lengths do not fit.
pub(super) fn product(isa: Isa, blocks: &Blocks, x: &Quantized, result: &mut [f32]) {
    let (inputs, outputs) = (blocks.inputs, blocks.outputs);
    let tokens = result.len() / outputs.max(1);
    let groups = inputs / GROUP;
    let fits = inputs % GROUP == 0
        && outputs % (2 * LANES) == 0
        && blocks.weights.len() == inputs * outputs
        && blocks.scales.len() == groups * outputs
        && blocks.corrections.len() == groups * outputs
        && blocks.bias.len() == outputs
        && result.len() == tokens * outputs
        && x.bytes.len() == tokens * inputs
        && x.scales.len() == tokens * groups;
    debug_assert!(fits);
    if !fits {
        return;
    }
    match isa {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `Isa::available` lists this only where the processor has the features, and all
        // lengths were checked above.
        Isa::Avx512Vnni => unsafe { x86::avx512(blocks, x, result) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Isa::Avx2 => unsafe { x86::avx2(blocks, x, result) },
        Isa::Portable => portable(blocks, x, result),
    }
}

fn portable(blocks: &Blocks, x: &Quantized, result: &mut [f32]) {
    let groups = blocks.inputs / GROUP;
    for (t, row) in result.chunks_exact_mut(blocks.outputs).enumerate() {
        let bytes = &x.bytes[t * blocks.inputs..][..blocks.inputs];
        let x_scales = &x.scales[t * groups..][..groups];
        for (block, out) in row.chunks_exact_mut(LANES).enumerate() {
            let mut sum = [0.0f32; LANES];
            for group in 0..groups {
                let at = block * groups + group;
                let weights = &blocks.weights[at * GROUP_BYTES..][..GROUP_BYTES];
                let mut dot = [0i32; LANES];
                dot.copy_from_slice(&blocks.corrections[at * LANES..][..LANES]);
                for (step, quads) in weights.chunks_exact(LANES * QUAD).enumerate() {
                    let input = &bytes[group * GROUP + step * QUAD..][..QUAD];
                    for (dot, quad) in dot.iter_mut().zip(quads.chunks_exact(QUAD)) {
                        for (weight, byte) in quad.iter().zip(input) {
                            *dot += i32::from(*weight) * i32::from(*byte);
                        }
                    }
                }
                let scales = &blocks.scales[at * LANES..][..LANES];
                for lane in 0..LANES {
                    let scale = scales[lane] * x_scales[group];
                    sum[lane] += dot[lane] as f32 * scale;
                }
            }
            for ((out, sum), bias) in out.iter_mut().zip(sum).zip(&blocks.bias[block * LANES..][..LANES]) {
                *out = sum + bias;
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    //! The x86-64 kernels. Four-bit weights times bytes cannot overflow 16 bits within a group
    //! (8 steps × 2 products × 255 × 8 = 32 640), so sums stay in 16 bits until the group ends.

    use std::arch::x86_64::*;

    use super::{Blocks, GROUP, GROUP_BYTES, LANES, QUAD, Quantized, TILE};

    /// Where a tile's tokens start: their bytes, scales and results.
    struct Tile {
        bytes: [*const u8; TILE],
        scales: [*const f32; TILE],
        count: usize,
        first: usize,
    }

    /// Tiles of the tokens; a short last one repeats its last token, whose result is written once.
    fn tiles<'a>(blocks: &'a Blocks, x: &'a Quantized, tokens: usize) -> impl Iterator<Item = Tile> + 'a {
        let groups = blocks.inputs / GROUP;
        (0..tokens).step_by(TILE).map(move |first| {
            let count = TILE.min(tokens - first);
            let token = |n: usize| first + n.min(count - 1);
            Tile {
                bytes: std::array::from_fn(|n| x.bytes[token(n) * blocks.inputs..].as_ptr()),
                scales: std::array::from_fn(|n| x.scales[token(n) * groups..].as_ptr()),
                count,
                first,
            }
        })
    }

    /// # Safety
    /// The processor has AVX-512 F, BW and VNNI; lengths fit as `product` checks.
    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    pub(super) unsafe fn avx512(blocks: &Blocks, x: &Quantized, result: &mut [f32]) {
        let groups = blocks.inputs / GROUP;
        let tokens = result.len() / blocks.outputs;
        for tile in tiles(blocks, x, tokens) {
            // Two blocks share what is read of a token.
            for pair in 0..blocks.outputs / (2 * LANES) {
                let (left, right) = (2 * pair, 2 * pair + 1);
                let mut left_sums = [_mm512_setzero_ps(); TILE];
                let mut right_sums = left_sums;
                for group in 0..groups {
                    let (left, right) = (left * groups + group, right * groups + group);
                    // SAFETY: `left` and `right` are below the number of groups of all blocks, and
                    // each tile pointer has `inputs` bytes and `groups` scales behind it.
                    unsafe {
                        let left_weights = blocks.weights.as_ptr().add(left * GROUP_BYTES);
                        let right_weights = blocks.weights.as_ptr().add(right * GROUP_BYTES);
                        let corrections = blocks.corrections.as_ptr();
                        let mut left_dots = [_mm512_loadu_si512(corrections.add(left * LANES).cast()); TILE];
                        let mut right_dots =
                            [_mm512_loadu_si512(corrections.add(right * LANES).cast()); TILE];
                        for step in 0..GROUP / QUAD {
                            let left = _mm512_loadu_si512(left_weights.add(step * LANES * QUAD).cast());
                            let right = _mm512_loadu_si512(right_weights.add(step * LANES * QUAD).cast());
                            for n in 0..TILE {
                                let quad = tile.bytes[n].add(group * GROUP + step * QUAD);
                                let quads = _mm512_set1_epi32(quad.cast::<i32>().read_unaligned());
                                left_dots[n] = _mm512_dpbusd_epi32(left_dots[n], quads, left);
                                right_dots[n] = _mm512_dpbusd_epi32(right_dots[n], quads, right);
                            }
                        }
                        let left_scale = _mm512_loadu_ps(blocks.scales.as_ptr().add(left * LANES));
                        let right_scale = _mm512_loadu_ps(blocks.scales.as_ptr().add(right * LANES));
                        for n in 0..TILE {
                            let scale = _mm512_set1_ps(*tile.scales[n].add(group));
                            let whole = _mm512_cvtepi32_ps(left_dots[n]);
                            let product = _mm512_mul_ps(whole, _mm512_mul_ps(left_scale, scale));
                            left_sums[n] = _mm512_add_ps(left_sums[n], product);
                            let whole = _mm512_cvtepi32_ps(right_dots[n]);
                            let product = _mm512_mul_ps(whole, _mm512_mul_ps(right_scale, scale));
                            right_sums[n] = _mm512_add_ps(right_sums[n], product);
                        }
                    }
                }
                for (sums, block) in [(&left_sums, left), (&right_sums, right)] {
                    // SAFETY: `bias` has `outputs` entries.
                    let bias = unsafe { _mm512_loadu_ps(blocks.bias.as_ptr().add(block * LANES)) };
                    for (n, sum) in sums.iter().enumerate().take(tile.count) {
                        let out = &mut result[(tile.first + n) * blocks.outputs + block * LANES..][..LANES];
                        // SAFETY: `out` has LANES entries.
                        unsafe { _mm512_storeu_ps(out.as_mut_ptr(), _mm512_add_ps(*sum, bias)) };
                    }
                }
            }
        }
    }

    /// # Safety
    /// The processor has AVX2; lengths fit as `product` checks.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn avx2(blocks: &Blocks, x: &Quantized, result: &mut [f32]) {
        const HALF: usize = LANES / 2;
        let groups = blocks.inputs / GROUP;
        let tokens = result.len() / blocks.outputs;
        let ones = _mm256_set1_epi16(1);
        for tile in tiles(blocks, x, tokens) {
            for half_block in 0..blocks.outputs / HALF {
                let (block, half) = (half_block / 2, half_block % 2);
                let mut sums = [_mm256_setzero_ps(); TILE];
                for group in 0..groups {
                    let at = block * groups + group;
                    let lane = at * LANES + half * HALF;
                    // SAFETY: as in `avx512`, with the half block's offset inside the block.
                    unsafe {
                        let weights = blocks.weights.as_ptr().add(at * GROUP_BYTES + half * HALF * QUAD);
                        let correction = _mm256_loadu_si256(blocks.corrections.as_ptr().add(lane).cast());
                        let mut dots = [_mm256_setzero_si256(); TILE];
                        for step in 0..GROUP / QUAD {
                            let weight = _mm256_loadu_si256(weights.add(step * LANES * QUAD).cast());
                            for (dot, bytes) in dots.iter_mut().zip(tile.bytes) {
                                let quad =
                                    bytes.add(group * GROUP + step * QUAD).cast::<i32>().read_unaligned();
                                let products = _mm256_maddubs_epi16(_mm256_set1_epi32(quad), weight);
                                *dot = _mm256_add_epi16(*dot, products);
                            }
                        }
                        let scale = _mm256_loadu_ps(blocks.scales.as_ptr().add(lane));
                        for ((sum, dot), x_scale) in sums.iter_mut().zip(dots).zip(tile.scales) {
                            let dot = _mm256_add_epi32(_mm256_madd_epi16(dot, ones), correction);
                            let both = _mm256_mul_ps(scale, _mm256_set1_ps(*x_scale.add(group)));
                            *sum = _mm256_add_ps(*sum, _mm256_mul_ps(_mm256_cvtepi32_ps(dot), both));
                        }
                    }
                }
                // SAFETY: `bias` has `outputs` entries.
                let bias = unsafe { _mm256_loadu_ps(blocks.bias.as_ptr().add(half_block * HALF)) };
                for (n, sum) in sums.iter().enumerate().take(tile.count) {
                    let out = &mut result[(tile.first + n) * blocks.outputs + half_block * HALF..][..HALF];
                    // SAFETY: `out` has HALF entries.
                    unsafe { _mm256_storeu_ps(out.as_mut_ptr(), _mm256_add_ps(*sum, bias)) };
                }
            }
        }
    }
}
