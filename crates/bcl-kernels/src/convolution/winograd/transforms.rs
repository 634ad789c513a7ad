//! The transforms of Winograd's F(4 x 4, 3 x 3), each in one dimension, and their use in two.
//!
//! Source: Lavin and Gray, [Fast Algorithms for Convolutional Neural Networks](https://arxiv.org/abs/1509.09308), with the points 0, ±1,
//! ±2 and infinity.

use pulp::Simd;

/// Output pixels of a tile along one axis.
pub(super) const OUTPUT: usize = 4;
/// Kernel taps along one axis.
pub(super) const TAPS: usize = 3;
/// Input pixels of a tile along one axis, and frequencies of its transform.
pub(super) const INPUT: usize = OUTPUT + TAPS - 1;
/// Frequencies of a tile.
pub(super) const FREQUENCIES: usize = INPUT * INPUT;

/// Arithmetic on vectors that reads like equations.
#[derive(Clone, Copy)]
struct Vectors<S>(S);

impl<S: Simd> Vectors<S> {
    #[inline(always)]
    fn add(self, a: S::f32s, b: S::f32s) -> S::f32s {
        self.0.add_f32s(a, b)
    }

    #[inline(always)]
    fn sub(self, a: S::f32s, b: S::f32s) -> S::f32s {
        self.0.sub_f32s(a, b)
    }

    /// `factor · a`
    #[inline(always)]
    fn times(self, factor: f32, a: S::f32s) -> S::f32s {
        self.0.mul_f32s(self.0.splat_f32s(factor), a)
    }

    /// `factor · a + b`
    #[inline(always)]
    fn plus(self, factor: f32, a: S::f32s, b: S::f32s) -> S::f32s {
        self.0.mul_add_e_f32s(self.0.splat_f32s(factor), a, b)
    }
}

/// A linear map of lines of `FROM` values to lines of `TO` values.
pub(super) trait Transform<const FROM: usize, const TO: usize> {
    fn line<S: Simd>(simd: S, values: [S::f32s; FROM]) -> [S::f32s; TO];

    /// Transforms the columns of a square, then the rows of the result.
    #[inline(always)]
    fn square<S: Simd>(simd: S, square: &[[S::f32s; FROM]; FROM]) -> [[S::f32s; TO]; TO] {
        // Loops instead of closures: what is not inlined would be compiled for the baseline processor.
        let zero = simd.splat_f32s(0.0);
        let mut rows = [[zero; FROM]; TO];
        for x in 0..FROM {
            let mut column = [zero; FROM];
            for y in 0..FROM {
                column[y] = square[y][x];
            }
            let column = Self::line(simd, column);
            for y in 0..TO {
                rows[y][x] = column[y];
            }
        }
        let mut out = [[zero; TO]; TO];
        for y in 0..TO {
            out[y] = Self::line(simd, rows[y]);
        }
        out
    }
}

/// `Bᵀ d`: input pixels to frequencies.
pub(super) struct Input;

impl Transform<INPUT, INPUT> for Input {
    #[inline(always)]
    fn line<S: Simd>(simd: S, [d0, d1, d2, d3, d4, d5]: [S::f32s; INPUT]) -> [S::f32s; INPUT] {
        let v = Vectors(simd);
        let (even, odd) = (v.plus(-4.0, d2, d4), v.plus(-4.0, d1, d3));
        let (wide, slope) = (v.sub(d4, d2), v.sub(d3, d1));
        [
            v.plus(4.0, d0, v.plus(-5.0, d2, d4)),
            v.add(even, odd),
            v.sub(even, odd),
            v.plus(2.0, slope, wide),
            v.plus(-2.0, slope, wide),
            v.plus(4.0, d1, v.plus(-5.0, d3, d5)),
        ]
    }
}

/// `Aᵀ m`: frequencies to output pixels.
pub(super) struct Output;

impl Transform<INPUT, OUTPUT> for Output {
    #[inline(always)]
    fn line<S: Simd>(simd: S, [m0, m1, m2, m3, m4, m5]: [S::f32s; INPUT]) -> [S::f32s; OUTPUT] {
        let v = Vectors(simd);
        let (sum, difference) = (v.add(m1, m2), v.sub(m1, m2));
        let (far_sum, far_difference) = (v.add(m3, m4), v.sub(m3, m4));
        [
            v.add(m0, v.add(sum, far_sum)),
            v.plus(2.0, far_difference, difference),
            v.plus(4.0, far_sum, sum),
            v.add(v.plus(8.0, far_difference, difference), m5),
        ]
    }
}

/// `A y`: the adjoint of [`Output`], for the gradient of output pixels.
pub(super) struct OutputGradient;

impl Transform<OUTPUT, INPUT> for OutputGradient {
    #[inline(always)]
    fn line<S: Simd>(simd: S, [y0, y1, y2, y3]: [S::f32s; OUTPUT]) -> [S::f32s; INPUT] {
        let v = Vectors(simd);
        let (even, odd) = (v.add(y0, y2), v.add(y1, y3));
        let (far_even, far_odd) = (v.plus(4.0, y2, y0), v.plus(8.0, y3, v.times(2.0, y1)));
        [
            y0,
            v.add(even, odd),
            v.sub(even, odd),
            v.add(far_even, far_odd),
            v.sub(far_even, far_odd),
            y3,
        ]
    }
}

/// `G g`: kernel taps to frequencies.
pub(super) struct Taps;

impl Transform<TAPS, INPUT> for Taps {
    #[inline(always)]
    fn line<S: Simd>(simd: S, [g0, g1, g2]: [S::f32s; TAPS]) -> [S::f32s; INPUT] {
        let v = Vectors(simd);
        let near = v.times(-1.0 / 6.0, v.add(g0, g2));
        let far = v.plus(1.0 / 6.0, g2, v.times(1.0 / 24.0, g0));
        [
            v.times(0.25, g0),
            v.plus(-1.0 / 6.0, g1, near),
            v.plus(1.0 / 6.0, g1, near),
            v.plus(1.0 / 12.0, g1, far),
            v.plus(-1.0 / 12.0, g1, far),
            g2,
        ]
    }
}

/// `Gᵀ u`: the adjoint of [`Taps`], for the gradient of the weight.
pub(super) struct TapsGradient;

impl Transform<INPUT, TAPS> for TapsGradient {
    #[inline(always)]
    fn line<S: Simd>(simd: S, [u0, u1, u2, u3, u4, u5]: [S::f32s; INPUT]) -> [S::f32s; TAPS] {
        let v = Vectors(simd);
        let (near, far) = (v.add(u1, u2), v.add(u3, u4));
        [
            v.plus(1.0 / 24.0, far, v.plus(-1.0 / 6.0, near, v.times(0.25, u0))),
            v.plus(1.0 / 12.0, v.sub(u3, u4), v.times(1.0 / 6.0, v.sub(u2, u1))),
            v.plus(1.0 / 6.0, v.sub(far, near), u5),
        ]
    }
}
