//! Every kernel as a composition of Burn's tensor operations, to compare the fast versions with.
//!
//! These functions run the default bodies of the extension traits through Burn's dispatching backend, so every step is an ordinary
//! tensor operation and the gradients are Burn's own. They are the reference in the tests and the baseline of `bcl-bench kernels`.
//! Programs should call the functions at the root of the crate, which choose the fastest body for the device.

use burn::backend::Dispatch;
use burn::tensor::{Bool, Int, Tensor, activation::relu, module::batch_norm_train};

use crate::{BatchNormalised, Contrast, SparseMatrix};

/// [`rank_weights`](crate::rank_weights) composed of tensor operations.
pub fn rank_weights(scores: Tensor<2>, table: Tensor<1>) -> Tensor<2> {
    let [_, num_columns] = scores.dims();
    crate::ranks::check_table(num_columns, table.dims()[0]);
    Tensor::from_dispatch(crate::ranks::portable::rank_weights::<Dispatch>(
        scores.detach().into_dispatch(),
        table.detach().into_dispatch(),
    ))
}

/// [`row_ranks`](crate::row_ranks) composed of tensor operations.
pub fn row_ranks(scores: Tensor<2>, mask: Option<Tensor<2, Bool>>) -> Tensor<2, Int> {
    Tensor::from_dispatch(crate::ranks::portable::row_ranks::<Dispatch>(
        scores.detach().into_dispatch(),
        mask.map(Tensor::into_dispatch),
    ))
}

/// [`contrast`](crate::contrast()) composed of tensor operations.
pub fn contrast(anchors: Tensor<2>, positives: Tensor<2>, negatives: Tensor<2>, loss: &Contrast) -> Tensor<1> {
    let (table, plan) = crate::contrast::table_and_plan(&anchors, &positives, &negatives, loss);
    let losses = crate::contrast::portable::losses::<Dispatch>(
        anchors.into_dispatch(),
        positives.into_dispatch(),
        negatives.into_dispatch(),
        table.into_dispatch(),
        &plan,
    );
    Tensor::<2>::from_dispatch(losses).squeeze_dim(1)
}

/// [`sparse_matmul`](crate::sparse_matmul) composed of tensor operations.
pub fn sparse_matmul(matrix: &SparseMatrix, dense: Tensor<2>) -> Tensor<2> {
    crate::sparse::check_shapes(matrix, dense.dims());
    Tensor::from_dispatch(crate::sparse::portable::sparse_matmul::<Dispatch>(
        matrix,
        dense.into_dispatch(),
    ))
}

/// [`sampled_dot`](crate::sampled_dot) composed of tensor operations.
pub fn sampled_dot(anchors: Tensor<2>, table: Tensor<2>, indices: Tensor<2, Int>) -> Tensor<2> {
    crate::sampled::check_shapes(anchors.dims(), table.dims(), indices.dims());
    Tensor::from_dispatch(crate::sampled::portable::sampled_dot::<Dispatch>(
        anchors.into_dispatch(),
        table.into_dispatch(),
        indices.into_dispatch(),
    ))
}

/// [`gather_rows`](crate::gather_rows) composed of tensor operations.
pub fn gather_rows(table: Tensor<2>, indices: Tensor<1, Int>) -> Tensor<2> {
    table.select(0, indices)
}

/// [`unit_rows`](crate::unit_rows) composed of tensor operations.
pub fn unit_rows(rows: Tensor<2>) -> Tensor<2> {
    Tensor::from_dispatch(crate::unit::portable::unit_rows::<Dispatch>(rows.into_dispatch()))
}

/// [`convolve`](crate::convolve) through Burn's convolution.
pub fn convolve(input: Tensor<4>, weight: Tensor<4>, stride: usize, padding: usize) -> Tensor<4> {
    crate::convolution::check_shapes(input.dims(), weight.dims(), stride, padding);
    Tensor::from_dispatch(crate::convolution::portable::convolve::<Dispatch>(
        input.into_dispatch(),
        weight.into_dispatch(),
        stride,
        padding,
    ))
}

/// [`propagate`](crate::propagate) composed of tensor operations.
pub fn propagate(matrix: &SparseMatrix, users: Tensor<2>, items: Tensor<2>, num_layers: usize) -> (Tensor<2>, Tensor<2>) {
    let transpose = matrix.transpose();
    let (mut user_layer, mut item_layer) = (users.clone(), items.clone());
    let (mut user_sum, mut item_sum) = (users, items);
    for _ in 0..num_layers {
        let next = sparse_matmul(matrix, item_layer);
        item_layer = sparse_matmul(&transpose, user_layer);
        user_layer = next;
        user_sum = user_sum + user_layer.clone();
        item_sum = item_sum + item_layer.clone();
    }
    let scale = 1.0 / (num_layers + 1) as f64;
    (user_sum * scale, item_sum * scale)
}

/// [`batch_norm`](crate::batch_norm) composed of tensor operations.
pub fn batch_norm<const D: usize>(input: Tensor<D>, weight: Tensor<1>, bias: Tensor<1>, epsilon: f64) -> BatchNormalised<D> {
    crate::norm::check_shapes(input.dims(), weight.dims()[0], bias.dims()[0]);
    let normalised = batch_norm_train(input, weight, bias, epsilon);
    BatchNormalised {
        output: normalised.output,
        mean: normalised.mean,
        variance: normalised.variance,
    }
}

/// [`batch_norm_relu`](crate::batch_norm_relu) composed of tensor operations.
pub fn batch_norm_relu<const D: usize>(input: Tensor<D>, weight: Tensor<1>, bias: Tensor<1>, epsilon: f64) -> BatchNormalised<D> {
    let normalised = batch_norm(input, weight, bias, epsilon);
    BatchNormalised {
        output: relu(normalised.output),
        ..normalised
    }
}
