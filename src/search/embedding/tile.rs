//! The small float product that attention consists of, for each instruction set. No path fuses
//! multiplications with additions and all sum in the same order, so that vectors are the same to
//! the bit on every machine. By hand, since compilers leave such a tile in memory as often as not.

use crate::search::isa::Isa;

/// Columns of a tile: what fills one wide register.
pub(super) const LANES: usize = 16;

/// Rows of a tile: they share each pass over what they are multiplied with.
pub(super) const TILE: usize = 4;

/// `result[n][lane] = Σₖ factors[k][n] · rows[k][lane]`, over as many k as both have.
pub(super) fn tile_product(isa: Isa, factors: &[f32], rows: &[f32]) -> [[f32; LANES]; TILE] {
    let (factors, rows) = (factors.as_chunks::<TILE>().0, rows.as_chunks::<LANES>().0);
    match isa {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: an instruction set is chosen only where the processor has it.
        Isa::Avx512Vnni => unsafe { x86::avx512(factors, rows) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Isa::Avx2 => unsafe { x86::avx2(factors, rows) },
        Isa::Portable => portable(factors, rows),
    }
}

fn portable(factors: &[[f32; TILE]], rows: &[[f32; LANES]]) -> [[f32; LANES]; TILE] {
    let mut sums = [[0.0f32; LANES]; TILE];
    for (factors, row) in factors.iter().zip(rows) {
        for (sum, factor) in sums.iter_mut().zip(factors) {
            for (sum, x) in sum.iter_mut().zip(row) {
                *sum += factor * x;
            }
        }
    }
    sums
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    //! The x86-64 kernels.

    use std::arch::x86_64::*;

    use super::{LANES, TILE};

    /// # Safety
    /// The processor has AVX-512 F.
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn avx512(factors: &[[f32; TILE]], rows: &[[f32; LANES]]) -> [[f32; LANES]; TILE] {
        let (mut a, mut b) = (_mm512_setzero_ps(), _mm512_setzero_ps());
        let (mut c, mut d) = (a, b);
        for ([p, q, r, s], row) in factors.iter().zip(rows) {
            // SAFETY: a row has sixteen numbers.
            let row = unsafe { _mm512_loadu_ps(row.as_ptr()) };
            a = _mm512_add_ps(a, _mm512_mul_ps(_mm512_set1_ps(*p), row));
            b = _mm512_add_ps(b, _mm512_mul_ps(_mm512_set1_ps(*q), row));
            c = _mm512_add_ps(c, _mm512_mul_ps(_mm512_set1_ps(*r), row));
            d = _mm512_add_ps(d, _mm512_mul_ps(_mm512_set1_ps(*s), row));
        }
        let mut sums = [[0.0; LANES]; TILE];
        for (sum, register) in sums.iter_mut().zip([a, b, c, d]) {
            // SAFETY: a sum has sixteen numbers.
            unsafe { _mm512_storeu_ps(sum.as_mut_ptr(), register) };
        }
        sums
    }

    /// # Safety
    /// The processor has AVX2.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn avx2(factors: &[[f32; TILE]], rows: &[[f32; LANES]]) -> [[f32; LANES]; TILE] {
        let zero = _mm256_setzero_ps();
        let (mut a, mut b, mut c, mut d) = ([zero; 2], [zero; 2], [zero; 2], [zero; 2]);
        for ([p, q, r, s], row) in factors.iter().zip(rows) {
            // SAFETY: a row has sixteen numbers.
            let (low, high) =
                unsafe { (_mm256_loadu_ps(row.as_ptr()), _mm256_loadu_ps(row.as_ptr().add(LANES / 2))) };
            let (p, q) = (_mm256_set1_ps(*p), _mm256_set1_ps(*q));
            a = [_mm256_add_ps(a[0], _mm256_mul_ps(p, low)), _mm256_add_ps(a[1], _mm256_mul_ps(p, high))];
            b = [_mm256_add_ps(b[0], _mm256_mul_ps(q, low)), _mm256_add_ps(b[1], _mm256_mul_ps(q, high))];
            let (r, s) = (_mm256_set1_ps(*r), _mm256_set1_ps(*s));
            c = [_mm256_add_ps(c[0], _mm256_mul_ps(r, low)), _mm256_add_ps(c[1], _mm256_mul_ps(r, high))];
            d = [_mm256_add_ps(d[0], _mm256_mul_ps(s, low)), _mm256_add_ps(d[1], _mm256_mul_ps(s, high))];
        }
        let mut sums = [[0.0; LANES]; TILE];
        for (sum, [low, high]) in sums.iter_mut().zip([a, b, c, d]) {
            // SAFETY: a sum has sixteen numbers.
            unsafe {
                _mm256_storeu_ps(sum.as_mut_ptr(), low);
                _mm256_storeu_ps(sum.as_mut_ptr().add(LANES / 2), high);
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_products_by_hand_on_every_instruction_set() {
        // Two steps: factors 1…4 and 10…40, rows of the lane's number and of ones.
        let factors = [1.0, 2.0, 3.0, 4.0, 10.0, 20.0, 30.0, 40.0];
        let rows: Vec<f32> = (0..LANES as u8).map(f32::from).chain([1.0; LANES]).collect();
        for isa in Isa::available() {
            let sums = tile_product(isa, &factors, &rows);
            for (n, sum) in sums.iter().enumerate() {
                let factor = (n + 1) as f32;
                for (lane, sum) in sum.iter().enumerate() {
                    assert_eq!(*sum, factor * lane as f32 + 10.0 * factor, "{isa:?}");
                }
            }
        }
    }
}
