//! The rank of each score within its row.

use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::tensor::{BoolTensor, FloatTensor, IntTensor};
use burn::backend::{Autodiff, Backend, Dispatch, backend_extension};
use burn::tensor::{Bool, Int, Tensor};

pub(crate) mod buckets;
#[cfg(feature = "cube")]
pub(crate) mod cube;
mod flex;
pub(crate) mod portable;

/// Looks up a weight for each score by its rank within the row.
///
/// ```text
/// out[r, i] = table[ #{ j : scores[r, j] <= scores[r, i] } - 1 ]
/// ```
///
/// Equal scores share the highest rank of their run, as in Eq. 11 of [BCL](https://arxiv.org/abs/2301.11673): with
/// `table[k] = ω((k + 1) / N)` this is the importance weight of each negative. The output is a constant: no gradient reaches the
/// scores (a rank has none) or the table. `-0.0` equals `0.0`, and NaN counts as `+∞`. The worst case takes `O(N log N)` per row, and no
/// `[N, N]` comparison matrix is formed.
///
/// # Shapes
/// - scores: `[num_rows, num_columns]`, `f32` or `f64`
/// - table:  `[num_columns]`
/// - output: `[num_rows, num_columns]`
///
/// # Panics
/// Panics if the table is not as long as a row.
///
/// # Example
/// ```
/// use bcl_kernels::rank_weights;
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let scores = Tensor::<2>::from_floats([[0.3, -0.1, 0.3, 0.9]], &device);
/// let table = Tensor::<1>::from_floats([1.0, 2.0, 3.0, 4.0], &device);
///
/// let weights = rank_weights(scores, table).into_data();
///
/// assert_eq!(weights.as_slice::<f32>().unwrap(), [3.0, 1.0, 3.0, 4.0]);
/// ```
pub fn rank_weights(scores: Tensor<2>, table: Tensor<1>) -> Tensor<2> {
    let [_, num_columns] = scores.dims();
    check_table(num_columns, table.dims()[0]);
    Tensor::from_dispatch(Dispatch::rank_weights(scores.into_dispatch(), table.into_dispatch()))
}

/// Ranks each score within its row, from 1 for the smallest.
///
/// ```text
/// out[r, i] = #{ j : mask[r, j], scores[r, j] <= scores[r, i] }   if mask[r, i], else 0
/// ```
///
/// Equal scores share the highest rank of their run, `-0.0` equals `0.0`, and NaN counts as `+∞`. A rank divided by the number of
/// unmasked entries is the empirical distribution function.
///
/// # Shapes
/// - scores: `[num_rows, num_columns]`, `f32` or `f64`
/// - mask:   `[num_rows, num_columns]`, true for the entries to count; `None` counts all
/// - output: `[num_rows, num_columns]`
///
/// # Panics
/// Panics if the mask and the scores differ in shape.
///
/// # Example
/// ```
/// use bcl_kernels::row_ranks;
/// use burn::tensor::{Bool, Device, Tensor};
///
/// let device = Device::flex();
/// let scores = Tensor::<2>::from_floats([[0.3, -0.1, 0.3, 0.9]], &device);
/// let mask = Tensor::<2, Bool>::from_data([[true, false, true, true]], &device);
///
/// let ranks = row_ranks(scores, Some(mask)).into_data();
///
/// assert_eq!(ranks.iter::<i64>().collect::<Vec<_>>(), [2, 0, 2, 3]);
/// ```
pub fn row_ranks(scores: Tensor<2>, mask: Option<Tensor<2, Bool>>) -> Tensor<2, Int> {
    if let Some(mask) = &mask {
        assert_eq!(
            mask.dims(),
            scores.dims(),
            "the mask has shape {:?}, but must have the shape of the scores, {:?}",
            mask.dims(),
            scores.dims()
        );
    }
    let scores = scores.into_dispatch();
    Tensor::from_dispatch(match mask {
        Some(mask) => Dispatch::masked_row_ranks(scores, mask.into_dispatch()),
        None => Dispatch::row_ranks(scores),
    })
}

pub(crate) fn check_table(num_columns: usize, table_len: usize) {
    assert_eq!(
        table_len, num_columns,
        "the table has {table_len} entries, but must have one for each of the {num_columns} ranks of a row"
    );
}

/// The ranking kernels of a backend. The default bodies compose tensor operations.
#[backend_extension(Autodiff, Flex, Cube: cfg(feature = "cube"))]
pub trait RankOps: Backend {
    /// The kernel behind [`rank_weights`](crate::rank_weights).
    fn rank_weights(scores: FloatTensor<Self>, table: FloatTensor<Self>) -> FloatTensor<Self> {
        portable::rank_weights::<Self>(scores, table)
    }

    /// The kernel behind [`row_ranks`](crate::row_ranks) without a mask.
    fn row_ranks(scores: FloatTensor<Self>) -> IntTensor<Self> {
        portable::row_ranks::<Self>(scores, None)
    }

    /// The kernel behind [`row_ranks`](crate::row_ranks) with a mask.
    fn masked_row_ranks(scores: FloatTensor<Self>, mask: BoolTensor<Self>) -> IntTensor<Self> {
        portable::row_ranks::<Self>(scores, Some(mask))
    }
}

impl<B: Backend + RankOps, C: CheckpointStrategy> RankOps for Autodiff<B, C> {
    fn rank_weights(scores: FloatTensor<Self>, table: FloatTensor<Self>) -> FloatTensor<Self> {
        FloatTensor::<Self>::new(B::rank_weights(scores.into_primitive(), table.into_primitive()))
    }

    fn row_ranks(scores: FloatTensor<Self>) -> IntTensor<Self> {
        B::row_ranks(scores.into_primitive())
    }

    fn masked_row_ranks(scores: FloatTensor<Self>, mask: BoolTensor<Self>) -> IntTensor<Self> {
        B::masked_row_ranks(scores.into_primitive(), mask)
    }
}
