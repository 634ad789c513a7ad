//! Single-threaded matrix products through faer.

use faer::linalg::matmul::matmul;
use faer::traits::ComplexField;
use faer::{Accum, MatMut, MatRef, Par};

/// A row-major matrix, possibly transposed.
#[derive(Clone, Copy)]
pub(crate) struct Matrix<'a, T> {
    pub(crate) values: &'a [T],
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) transposed: bool,
}

impl<'a, T> Matrix<'a, T> {
    pub(crate) fn new(values: &'a [T], rows: usize, columns: usize) -> Self {
        Self {
            values,
            rows,
            columns,
            transposed: false,
        }
    }

    pub(crate) fn transpose(self) -> Self {
        Self {
            transposed: true,
            ..self
        }
    }

    fn view(self) -> MatRef<'a, T> {
        let matrix = MatRef::from_row_major_slice(self.values, self.rows, self.columns);
        if self.transposed { matrix.transpose() } else { matrix }
    }
}

/// `out = left · right`, or `out += left · right`, on the calling thread.
pub(crate) fn product<T: ComplexField>(out: &mut [T], accumulate: bool, left: Matrix<'_, T>, right: Matrix<'_, T>, one: T) {
    let (left, right) = (left.view(), right.view());
    let out = MatMut::from_row_major_slice_mut(out, left.nrows(), right.ncols());
    let accumulate = if accumulate { Accum::Add } else { Accum::Replace };
    matmul(out, accumulate, left, right, one, Par::Seq);
}
