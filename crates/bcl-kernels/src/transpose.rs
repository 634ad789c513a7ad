//! Transposes blocks of numbers in registers.
//!
//! Compilers turn the plain loop into gathers, which load one number at a time.

use pulp::Simd;

use crate::strided::LANES;

/// A square of single-precision numbers, each row as long as the widest vector.
pub(crate) type Block = [[f32; LANES]; LANES];

/// Swaps rows and columns.
#[inline(always)]
pub(crate) fn transposed<S: Simd>(simd: S, block: &Block) -> Block {
    #[cfg(target_arch = "x86_64")]
    {
        let simd: &dyn std::any::Any = &simd;
        if let Some(&simd) = simd.downcast_ref() {
            return x86::by_512_bits(simd, block);
        }
        if let Some(&simd) = simd.downcast_ref() {
            return x86::by_256_bits(simd, block);
        }
    }
    let _ = simd;
    plain(block)
}

#[inline(always)]
fn plain(block: &Block) -> Block {
    let mut out = [[0.0; LANES]; LANES];
    for row in 0..LANES {
        for column in 0..LANES {
            out[column][row] = block[row][column];
        }
    }
    out
}

/// First squares of 4 x 4 within parts of 128 bits, then the parts.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use pulp::cast;
    use pulp::x86::{V3, V4};
    use std::arch::x86_64::{__m256, __m512};

    use super::Block;
    use crate::strided::LANES;

    #[inline(always)]
    pub(super) fn by_512_bits(simd: V4, block: &Block) -> Block {
        let avx = simd.avx512f;
        let rows: [__m512; LANES] = cast(*block);
        let mut squares = [avx._mm512_setzero_ps(); LANES];
        for first in (0..LANES).step_by(4) {
            let [a, b, c, d] = [rows[first], rows[first + 1], rows[first + 2], rows[first + 3]];
            let [ab, cd] = [avx._mm512_unpacklo_ps(a, b), avx._mm512_unpacklo_ps(c, d)];
            squares[first] = cast(avx._mm512_unpacklo_pd(cast(ab), cast(cd)));
            squares[first + 1] = cast(avx._mm512_unpackhi_pd(cast(ab), cast(cd)));
            let [ab, cd] = [avx._mm512_unpackhi_ps(a, b), avx._mm512_unpackhi_ps(c, d)];
            squares[first + 2] = cast(avx._mm512_unpacklo_pd(cast(ab), cast(cd)));
            squares[first + 3] = cast(avx._mm512_unpackhi_pd(cast(ab), cast(cd)));
        }
        let mut out = [avx._mm512_setzero_ps(); LANES];
        for column in 0..4 {
            let [a, b, c, d] = [
                squares[column],
                squares[4 + column],
                squares[8 + column],
                squares[12 + column],
            ];
            // Parts 0 and 1 of both, then parts 2 and 3.
            let [ab, cd] = [avx._mm512_shuffle_f32x4::<0x44>(a, b), avx._mm512_shuffle_f32x4::<0x44>(c, d)];
            out[column] = avx._mm512_shuffle_f32x4::<0x88>(ab, cd);
            out[4 + column] = avx._mm512_shuffle_f32x4::<0xdd>(ab, cd);
            let [ab, cd] = [avx._mm512_shuffle_f32x4::<0xee>(a, b), avx._mm512_shuffle_f32x4::<0xee>(c, d)];
            out[8 + column] = avx._mm512_shuffle_f32x4::<0x88>(ab, cd);
            out[12 + column] = avx._mm512_shuffle_f32x4::<0xdd>(ab, cd);
        }
        cast(out)
    }

    #[inline(always)]
    pub(super) fn by_256_bits(simd: V3, block: &Block) -> Block {
        const HALF: usize = LANES / 2;
        let avx = simd.avx;
        let rows: [[__m256; 2]; LANES] = cast(*block);
        let mut out = [[avx._mm256_setzero_ps(); 2]; LANES];
        for (part, of_out) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let rows = &rows[of_out * HALF..][..HALF];
            let mut squares = [avx._mm256_setzero_ps(); HALF];
            for first in [0, 4] {
                let [a, b, c, d] = [
                    rows[first][part],
                    rows[first + 1][part],
                    rows[first + 2][part],
                    rows[first + 3][part],
                ];
                let [ab, cd] = [avx._mm256_unpacklo_ps(a, b), avx._mm256_unpacklo_ps(c, d)];
                squares[first] = cast(avx._mm256_unpacklo_pd(cast(ab), cast(cd)));
                squares[first + 1] = cast(avx._mm256_unpackhi_pd(cast(ab), cast(cd)));
                let [ab, cd] = [avx._mm256_unpackhi_ps(a, b), avx._mm256_unpackhi_ps(c, d)];
                squares[first + 2] = cast(avx._mm256_unpacklo_pd(cast(ab), cast(cd)));
                squares[first + 3] = cast(avx._mm256_unpackhi_pd(cast(ab), cast(cd)));
            }
            let out = &mut out[part * HALF..][..HALF];
            for column in 0..4 {
                let [a, b] = [squares[column], squares[4 + column]];
                out[column][of_out] = avx._mm256_permute2f128_ps::<0x20>(a, b);
                out[4 + column][of_out] = avx._mm256_permute2f128_ps::<0x31>(a, b);
            }
        }
        cast(out)
    }
}

#[cfg(test)]
mod tests {
    use super::{Block, plain, transposed};
    use crate::cpu::Kernel;
    use crate::strided::LANES;
    use pulp::Simd;

    struct Transpose<'a> {
        block: &'a Block,
        out: &'a mut Block,
    }

    impl Kernel for Transpose<'_> {
        #[inline(always)]
        fn run<S: Simd>(self, simd: S) {
            *self.out = transposed(simd, self.block);
        }
    }

    fn numbered() -> Block {
        let mut block = [[0.0; LANES]; LANES];
        for (index, value) in block.as_flattened_mut().iter_mut().enumerate() {
            *value = index as f32;
        }
        block
    }

    #[test]
    fn rows_become_columns() {
        let block = numbered();
        let mut out = block;
        Transpose {
            block: &block,
            out: &mut out,
        }
        .dispatch();
        for row in 0..LANES {
            for column in 0..LANES {
                assert_eq!(out[column][row], block[row][column], "{row}, {column}");
            }
        }
    }

    #[test]
    fn all_vectors_agree() {
        let block = numbered();
        let expected = plain(&block);
        assert_eq!(transposed(pulp::Scalar::new(), &block), expected);
        #[cfg(target_arch = "x86_64")]
        {
            if let Some(simd) = pulp::x86::V3::try_new() {
                assert_eq!(super::x86::by_256_bits(simd, &block), expected);
            }
            if let Some(simd) = pulp::x86::V4::try_new() {
                assert_eq!(super::x86::by_512_bits(simd, &block), expected);
            }
        }
    }
}
