//! Sampled dot products composed of tensor operations: gather `[num_anchors, num_sampled, dim]` rows, multiply, and add up.

use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::backend::{Backend, TensorMetadata};
use burn::tensor::{IndexingUpdateOp, Shape};

pub(crate) fn sampled_dot<B: Backend>(anchors: FloatTensor<B>, table: FloatTensor<B>, indices: IntTensor<B>) -> FloatTensor<B> {
    let [num_anchors, dim] = anchors.shape().dims();
    let [_, num_sampled] = indices.shape().dims();
    let anchors = B::float_reshape(anchors, Shape::from([num_anchors, 1, dim]));
    let products = B::float_mul(sampled_rows::<B>(table, indices), anchors);
    B::float_reshape(B::float_sum_dim(products, 2), Shape::from([num_anchors, num_sampled]))
}

pub(crate) fn sampled_sum<B: Backend>(weights: FloatTensor<B>, table: FloatTensor<B>, indices: IntTensor<B>) -> FloatTensor<B> {
    let [num_anchors, num_sampled] = indices.shape().dims();
    let dim = table.shape()[1];
    let weights = B::float_reshape(weights, Shape::from([num_anchors, num_sampled, 1]));
    let products = B::float_mul(sampled_rows::<B>(table, indices), weights);
    B::float_reshape(B::float_sum_dim(products, 1), Shape::from([num_anchors, dim]))
}

pub(crate) fn scatter_sum<B: Backend>(
    weights: FloatTensor<B>,
    anchors: FloatTensor<B>,
    indices: IntTensor<B>,
    num_rows: usize,
) -> FloatTensor<B> {
    let [num_anchors, num_sampled] = indices.shape().dims();
    let dim = anchors.shape()[1];
    let weights = B::float_reshape(weights, Shape::from([num_anchors, num_sampled, 1]));
    let anchors = B::float_reshape(anchors, Shape::from([num_anchors, 1, dim]));
    let rows = B::float_reshape(B::float_mul(weights, anchors), Shape::from([num_anchors * num_sampled, dim]));
    let indices = B::int_reshape(indices, Shape::from([num_anchors * num_sampled]));
    scatter_rows::<B>(rows, indices, num_rows)
}

pub(crate) fn scatter_rows<B: Backend>(rows: FloatTensor<B>, indices: IntTensor<B>, num_rows: usize) -> FloatTensor<B> {
    let shape = Shape::from([num_rows, rows.shape()[1]]);
    let zeros = B::float_zeros(shape, &rows.device(), rows.dtype().into());
    B::float_select_assign(zeros, 0, indices, rows, IndexingUpdateOp::Add)
}

fn sampled_rows<B: Backend>(table: FloatTensor<B>, indices: IntTensor<B>) -> FloatTensor<B> {
    let [num_anchors, num_sampled] = indices.shape().dims();
    let dim = table.shape()[1];
    let indices = B::int_reshape(indices, Shape::from([num_anchors * num_sampled]));
    B::float_reshape(
        B::float_select(table, 0, indices),
        Shape::from([num_anchors, num_sampled, dim]),
    )
}
