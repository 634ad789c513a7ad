//! Unit rows composed of tensor operations.

use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, Scalar, TensorMetadata, get_or_init_device_settings};

pub(crate) fn unit_rows<B: Backend>(rows: FloatTensor<B>) -> FloatTensor<B> {
    let lengths = lengths::<B>(rows.clone());
    B::float_div(rows, lengths)
}

pub(crate) fn unit_rows_backward<B: Backend>(rows: FloatTensor<B>, grad: FloatTensor<B>) -> FloatTensor<B> {
    let lengths = lengths::<B>(rows.clone());
    let units = B::float_div(rows, lengths.clone());
    let along = B::float_sum_dim(B::float_mul(units.clone(), grad.clone()), 1);
    let across = B::float_sub(grad, B::float_mul(units.clone(), along));
    let across = B::float_div(across, lengths);
    // A row of zeros is its own unit row, so its gradient is zero.
    let bool_dtype = get_or_init_device_settings::<B>(&units.device()).bool_dtype;
    let nowhere = B::float_equal_elem(B::float_sum_dim(B::float_abs(units), 1), Scalar::from(0.0), bool_dtype);
    let nowhere = B::bool_expand(nowhere, across.shape());
    B::float_mask_fill(across, nowhere, Scalar::from(0.0))
}

/// The norm of each row, `[num_rows, 1]`, with 1 in place of 0.
fn lengths<B: Backend>(rows: FloatTensor<B>) -> FloatTensor<B> {
    let bool_dtype = get_or_init_device_settings::<B>(&rows.device()).bool_dtype;
    let squares = B::float_sum_dim(B::float_mul(rows.clone(), rows), 1);
    let nowhere = B::float_equal_elem(squares.clone(), Scalar::from(0.0), bool_dtype);
    // Filled before the square root, whose derivative at zero is infinite.
    B::float_sqrt(B::float_mask_fill(squares, nowhere, Scalar::from(1.0)))
}
