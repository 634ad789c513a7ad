//! Single-precision matrix products that read their operands in place, without packing them first.
//!
//! A general product copies blocks of both operands, so that its innermost loop reads contiguous memory. The operands here are small
//! enough for the cache and were just written by the caller in an order that suits: copying them again would cost more than it saves.

use pulp::Simd;

/// Columns of the right operand come in multiples of this number. It is the widest vector of single-precision numbers.
pub(crate) const LANES: usize = 16;

/// Columns of the right operand that are stored together, as far as there are so many.
pub(crate) const PANEL: usize = 4 * LANES;

/// `left[row, step]` is `values[row · row_stride + step · step_stride]`.
#[derive(Clone, Copy)]
pub(crate) struct Left<'a> {
    pub(crate) values: &'a [f32],
    pub(crate) row_stride: usize,
    pub(crate) step_stride: usize,
}

/// `right[step, column]`, with the columns in panels: the columns of a panel are contiguous.
#[derive(Clone, Copy)]
pub(crate) struct Right<'a> {
    pub(crate) values: &'a [f32],
    /// Distance between the same columns of two steps.
    pub(crate) step_stride: usize,
    /// Distance between two panels of [`PANEL`] columns.
    pub(crate) panel_stride: usize,
}

/// The sizes of a product: `out[row, column] = Σ_step left[row, step] · right[step, column]`.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) rows: usize,
    pub(crate) steps: usize,
    /// A multiple of [`LANES`].
    pub(crate) columns: usize,
}

/// Writes the product to `out`, `[rows, columns]`, or adds it.
///
/// Each element is a sum over the steps in order, whatever the other sizes are.
#[inline(always)]
pub(crate) fn product<S: Simd>(simd: S, out: &mut [f32], accumulate: bool, left: Left<'_>, right: Right<'_>, sizes: Sizes) {
    for first in (0..sizes.columns).step_by(PANEL) {
        let panel = Right {
            values: &right.values[first / PANEL * right.panel_stride..],
            ..right
        };
        let end = sizes.columns.min(first + PANEL);
        let mut column = first;
        while column < end {
            let block = Block {
                out_row: sizes.columns,
                column,
                accumulate,
                left,
                right: Right {
                    values: &panel.values[column - first..],
                    ..panel
                },
                steps: sizes.steps,
            };
            column += match (S::F32_LANES, end - column) {
                // 24 of the 32 registers hold sums.
                (16, 64..) => block.rows::<S, 6, 4>(simd, out, sizes.rows),
                (16, 32..) => block.rows::<S, 12, 2>(simd, out, sizes.rows),
                (16, _) => block.rows::<S, 12, 1>(simd, out, sizes.rows),
                // 12 of 16.
                (8, _) => block.rows::<S, 6, 2>(simd, out, sizes.rows),
                (4, _) => block.rows::<S, 2, 4>(simd, out, sizes.rows),
                _ => block.rows::<S, 1, 16>(simd, out, sizes.rows),
            };
        }
    }
}

/// All rows of some columns.
struct Block<'a> {
    out_row: usize,
    column: usize,
    accumulate: bool,
    left: Left<'a>,
    right: Right<'a>,
    steps: usize,
}

impl Block<'_> {
    /// Computes `ROWS` rows at a time, then what remains. Returns the number of columns, `VECTORS` vectors.
    #[inline(always)]
    fn rows<S: Simd, const ROWS: usize, const VECTORS: usize>(&self, simd: S, out: &mut [f32], rows: usize) -> usize {
        let mut row = 0;
        while rows - row >= ROWS {
            self.tile::<S, ROWS, VECTORS>(simd, out, row);
            row += ROWS;
        }
        while rows - row >= 4 && ROWS > 4 {
            self.tile::<S, 4, VECTORS>(simd, out, row);
            row += 4;
        }
        while rows - row >= 2 && ROWS > 2 {
            self.tile::<S, 2, VECTORS>(simd, out, row);
            row += 2;
        }
        while row < rows {
            self.tile::<S, 1, VECTORS>(simd, out, row);
            row += 1;
        }
        VECTORS * S::F32_LANES
    }

    #[inline(always)]
    fn tile<S: Simd, const ROWS: usize, const VECTORS: usize>(&self, simd: S, out: &mut [f32], first: usize) {
        let Left {
            values,
            row_stride,
            step_stride,
        } = self.left;
        let values = &values[first * row_stride..];
        let mut sums = [[simd.splat_f32s(0.0); VECTORS]; ROWS];
        for step in 0..self.steps {
            let right = vectors::<S, VECTORS>(&self.right.values[step * self.right.step_stride..]);
            for row in 0..ROWS {
                let left = simd.splat_f32s(values[row * row_stride + step * step_stride]);
                for column in 0..VECTORS {
                    sums[row][column] = simd.mul_add_e_f32s(left, right[column], sums[row][column]);
                }
            }
        }
        for (row, sums) in sums.iter().enumerate() {
            let start = (first + row) * self.out_row + self.column;
            let (out, _) = S::as_mut_simd_f32s(&mut out[start..start + VECTORS * S::F32_LANES]);
            for (out, &sum) in out.iter_mut().zip(sums) {
                *out = if self.accumulate { simd.add_f32s(*out, sum) } else { sum };
            }
        }
    }
}

/// The first vectors of some values.
#[inline(always)]
fn vectors<S: Simd, const VECTORS: usize>(values: &[f32]) -> &[S::f32s; VECTORS] {
    let (vectors, _) = S::as_simd_f32s(&values[..VECTORS * S::F32_LANES]);
    vectors.first_chunk().expect("the slice has this length")
}

#[cfg(test)]
mod tests {
    use super::{LANES, Left, PANEL, Right, Sizes, product};
    use crate::cpu::Kernel;
    use pulp::Simd;

    struct Call<'a> {
        out: &'a mut [f32],
        left: Left<'a>,
        right: Right<'a>,
        sizes: Sizes,
    }

    impl Kernel for Call<'_> {
        #[inline(always)]
        fn run<S: Simd>(self, simd: S) {
            product(simd, self.out, true, self.left, self.right, self.sizes);
        }
    }

    /// Small integers, whose sums of products are exact.
    fn integers(count: usize, factor: usize) -> Vec<f32> {
        (0..count).map(|i| ((i * factor) % 17) as f32 - 8.0).collect()
    }

    #[test]
    fn products_equal_their_definition_for_any_sizes_and_strides() {
        for rows in [1, 2, 5, 6, 12, 23] {
            for (steps, columns) in [(1, LANES), (3, 2 * LANES), (7, PANEL), (2, PANEL + 3 * LANES)] {
                for transposed in [false, true] {
                    let sizes = Sizes { rows, steps, columns };
                    let left = integers(rows * steps, 5);
                    let (row_stride, step_stride) = if transposed { (1, rows) } else { (steps, 1) };
                    let right = integers(steps * columns, 7);
                    let start = integers(rows * columns, 3);
                    let mut out = start.clone();
                    Call {
                        out: &mut out,
                        left: Left {
                            values: &left,
                            row_stride,
                            step_stride,
                        },
                        right: Right {
                            values: &right,
                            step_stride: columns,
                            panel_stride: PANEL,
                        },
                        sizes,
                    }
                    .dispatch();
                    for (index, (&out, &start)) in out.iter().zip(&start).enumerate() {
                        let (row, column) = (index / columns, index % columns);
                        let terms =
                            (0..steps).map(|step| left[row * row_stride + step * step_stride] * right[step * columns + column]);
                        assert_eq!(
                            out,
                            start + terms.sum::<f32>(),
                            "{rows} x {steps} x {columns}, {row}, {column}"
                        );
                    }
                }
            }
        }
    }
}
