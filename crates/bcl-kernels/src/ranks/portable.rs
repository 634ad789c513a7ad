//! Ranks composed of tensor operations: sort, find the end of each run of equal scores, and scatter the ends back.

use burn::backend::tensor::{BoolTensor, FloatTensor, IntTensor};
use burn::backend::{Backend, Scalar, TensorMetadata, get_or_init_device_settings};
use burn::tensor::{IndexingUpdateOp, Shape, Slice};

pub(crate) fn rank_weights<B: Backend>(scores: FloatTensor<B>, table: FloatTensor<B>) -> FloatTensor<B> {
    let shape = scores.shape();
    if shape.num_elements() == 0 {
        return scores;
    }
    let indices = B::int_sub_scalar(last_ranks::<B>(scores), Scalar::from(1));
    let indices = B::int_reshape(indices, Shape::from([shape.num_elements()]));
    B::float_reshape(B::float_select(table, 0, indices), shape)
}

pub(crate) fn row_ranks<B: Backend>(scores: FloatTensor<B>, mask: Option<BoolTensor<B>>) -> IntTensor<B> {
    let shape = scores.shape();
    if shape.num_elements() == 0 {
        let device = scores.device();
        let int_dtype = get_or_init_device_settings::<B>(&device).int_dtype;
        return B::int_zeros(shape, &device, int_dtype);
    }
    match mask {
        Some(mask) => masked::<B>(scores, mask, last_ranks::<B>),
        None => last_ranks::<B>(scores),
    }
}

/// Ranks the unmasked entries among themselves, given a function that ranks all entries; masked entries get rank 0.
pub(crate) fn masked<B: Backend>(
    scores: FloatTensor<B>,
    mask: BoolTensor<B>,
    ranks: impl FnOnce(FloatTensor<B>) -> IntTensor<B>,
) -> IntTensor<B> {
    let settings = get_or_init_device_settings::<B>(&scores.device());
    let excluded = B::bool_not(mask.clone());
    let counted = B::bool_into_int(mask, settings.int_dtype);
    let num_counted = B::int_expand(B::int_sum_dim(counted, 1), scores.shape());
    let ranks = ranks(B::float_mask_fill(scores, excluded.clone(), Scalar::from(f64::INFINITY)));
    // Only an infinite score ties with the masked entries, and such a score has the highest rank of all.
    let above = B::int_greater(ranks.clone(), num_counted.clone(), settings.bool_dtype);
    let ranks = B::int_mask_where(ranks, above, num_counted);
    B::int_mask_fill(ranks, excluded, Scalar::from(0))
}

/// `#{ j : scores[r, j] <= scores[r, i] }`. The scores must not be empty.
fn last_ranks<B: Backend>(scores: FloatTensor<B>) -> IntTensor<B> {
    let device = scores.device();
    let settings = get_or_init_device_settings::<B>(&device);
    let shape = scores.shape();
    let [num_rows, num_columns] = shape.dims();

    let nan = B::float_is_nan(scores.clone(), settings.bool_dtype);
    let scores = B::float_mask_fill(scores, nan, Scalar::from(f64::INFINITY));
    let order = B::float_argsort(scores.clone(), 1, false, settings.int_dtype);
    let sorted = B::float_gather(1, scores, order.clone());

    let positions = B::int_arange(1..num_columns as i64 + 1, &device, settings.int_dtype);
    let positions = B::int_reshape(positions, Shape::from([1, num_columns]));
    let mut ends = B::int_expand(positions, shape.clone());
    if num_columns > 1 {
        let rows = Slice::from(0..num_rows as isize);
        let here = B::float_slice(sorted.clone(), &[rows, Slice::from(0..num_columns as isize - 1)]);
        let next = B::float_slice(sorted, &[rows, Slice::from(1..num_columns as isize)]);
        let last = B::bool_zeros(Shape::from([num_rows, 1]), &device, settings.bool_dtype);
        let continues = B::float_equal(here, next, settings.bool_dtype);
        let continues = B::bool_cat(vec![continues, last], 1);
        ends = B::int_mask_fill(ends, continues, Scalar::from(num_columns as i64));
        // Only the ends of runs still hold their position, so the running minimum from the right finds the nearest end.
        ends = B::int_flip(B::int_cummin(B::int_flip(ends, &[1]), 1), &[1]);
    }
    let ranks = B::int_zeros(shape, &device, settings.int_dtype);
    B::int_scatter(1, ranks, order, ends, IndexingUpdateOp::Add)
}
