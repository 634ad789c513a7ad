//! Dot products between anchors and sampled rows of an embedding table.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind, unary};
use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::backend::{Autodiff, Backend, Dispatch, TensorMetadata, backend_extension};
use burn::tensor::{Int, Tensor};

#[cfg(feature = "cube")]
mod cube;
mod flex;
#[cfg(feature = "cube")]
mod inverse;
pub(crate) mod portable;
mod scatter;

/// Computes the dot products of each anchor with the table rows sampled for it.
///
/// ```text
/// out[i, j] = Σ_c anchors[i, c] · table[indices[i, j], c]
/// ```
///
/// Equals the full product `anchors · tableᵀ` gathered at `indices`, with `num_sampled / num_rows` of its work. Differentiable in the
/// anchors and the table. The gradient of a row that was sampled several times is summed in a fixed order.
///
/// # Shapes
/// - anchors: `[num_anchors, dim]`, `f32` or `f64`
/// - table:   `[num_rows, dim]`
/// - indices: `[num_anchors, num_sampled]`, in `0..num_rows`
/// - output:  `[num_anchors, num_sampled]`
///
/// # Panics
/// Panics if the shapes do not match or, on the CPU, if an index lies outside the table. Other backends may not check indices.
///
/// # Example
/// ```
/// use bcl_kernels::sampled_dot;
/// use burn::tensor::{Device, Int, Tensor};
///
/// let device = Device::flex();
/// let users = Tensor::<2>::from_floats([[1.0, 0.0], [0.0, 2.0]], &device);
/// let items = Tensor::<2>::from_floats([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], &device);
/// let sampled = Tensor::<2, Int>::from_ints([[2, 0], [1, 1]], &device);
///
/// let scores = sampled_dot(users, items, sampled).into_data();
///
/// assert_eq!(scores.as_slice::<f32>().unwrap(), [5.0, 1.0, 8.0, 8.0]);
/// ```
pub fn sampled_dot(anchors: Tensor<2>, table: Tensor<2>, indices: Tensor<2, Int>) -> Tensor<2> {
    check_shapes(anchors.dims(), table.dims(), indices.dims());
    Tensor::from_dispatch(Dispatch::sampled_dot(
        anchors.into_dispatch(),
        table.into_dispatch(),
        indices.into_dispatch(),
    ))
}

/// Reads rows of a table, like an embedding layer.
///
/// ```text
/// out[i, c] = table[indices[i], c]
/// ```
///
/// Differentiable in the table. The gradient of a row that was read several times is summed in a fixed order.
///
/// # Shapes
/// - table:   `[num_rows, dim]`, `f32` or `f64`
/// - indices: `[num_read]`, in `0..num_rows`
/// - output:  `[num_read, dim]`
///
/// # Panics
/// Panics on the CPU if an index lies outside the table. Other backends may not check.
///
/// # Example
/// ```
/// use bcl_kernels::gather_rows;
/// use burn::tensor::{Device, Int, Tensor};
///
/// let device = Device::flex();
/// let table = Tensor::<2>::from_floats([[1.0, 2.0], [3.0, 4.0]], &device);
/// let indices = Tensor::<1, Int>::from_ints([1, 1, 0], &device);
///
/// let rows = gather_rows(table, indices).into_data();
///
/// assert_eq!(rows.as_slice::<f32>().unwrap(), [3.0, 4.0, 3.0, 4.0, 1.0, 2.0]);
/// ```
pub fn gather_rows(table: Tensor<2>, indices: Tensor<1, Int>) -> Tensor<2> {
    Tensor::from_dispatch(Dispatch::gather_rows(table.into_dispatch(), indices.into_dispatch()))
}

pub(crate) fn check_shapes(anchors: [usize; 2], table: [usize; 2], indices: [usize; 2]) {
    assert_eq!(
        anchors[1], table[1],
        "the anchors have shape {anchors:?} and the table {table:?}, but their second dimensions must be equal"
    );
    assert_eq!(
        anchors[0], indices[0],
        "the anchors have shape {anchors:?} and the indices {indices:?}, but their first dimensions must be equal"
    );
}

/// The sampling kernels of a backend. The default bodies compose tensor operations.
#[backend_extension(Autodiff, Flex, Cube: cfg(feature = "cube"))]
pub trait SampledOps: Backend {
    /// The kernel behind [`sampled_dot`](crate::sampled_dot).
    fn sampled_dot(anchors: FloatTensor<Self>, table: FloatTensor<Self>, indices: IntTensor<Self>) -> FloatTensor<Self> {
        portable::sampled_dot::<Self>(anchors, table, indices)
    }

    /// `out[i] = Σ_j weights[i, j] · table[indices[i, j]]`: the gradient of [`sampled_dot`](crate::sampled_dot) with respect to the anchors.
    fn sampled_sum(weights: FloatTensor<Self>, table: FloatTensor<Self>, indices: IntTensor<Self>) -> FloatTensor<Self> {
        portable::sampled_sum::<Self>(weights, table, indices)
    }

    /// `out[r] = Σ_{i, j : indices[i, j] = r} weights[i, j] · anchors[i]`: the gradient of [`sampled_dot`](crate::sampled_dot) with respect
    /// to the table.
    fn scatter_sum(
        weights: FloatTensor<Self>,
        anchors: FloatTensor<Self>,
        indices: IntTensor<Self>,
        num_rows: usize,
    ) -> FloatTensor<Self> {
        portable::scatter_sum::<Self>(weights, anchors, indices, num_rows)
    }

    /// The kernel behind [`gather_rows`](crate::gather_rows).
    fn gather_rows(table: FloatTensor<Self>, indices: IntTensor<Self>) -> FloatTensor<Self> {
        Self::float_select(table, 0, indices)
    }

    /// `out[r] = Σ_{i : indices[i] = r} rows[i]`: the gradient of [`gather_rows`](crate::gather_rows).
    fn scatter_rows(rows: FloatTensor<Self>, indices: IntTensor<Self>, num_rows: usize) -> FloatTensor<Self> {
        portable::scatter_rows::<Self>(rows, indices, num_rows)
    }
}

impl<B: Backend + SampledOps, C: CheckpointStrategy> SampledOps for Autodiff<B, C> {
    fn sampled_dot(anchors: FloatTensor<Self>, table: FloatTensor<Self>, indices: IntTensor<Self>) -> FloatTensor<Self> {
        let (anchors, anchors_node) = anchors.into_parts();
        let (table, table_node) = table.into_parts();
        match SampledDot.prepare::<C>([anchors_node, table_node]).compute_bound().stateful() {
            OpsKind::Tracked(prep) => {
                let state = (anchors.clone(), table.clone(), indices.clone());
                prep.finish(state, B::sampled_dot(anchors, table, indices))
            }
            OpsKind::UnTracked(prep) => prep.finish(B::sampled_dot(anchors, table, indices)),
        }
    }

    fn gather_rows(table: FloatTensor<Self>, indices: IntTensor<Self>) -> FloatTensor<Self> {
        let (table, node) = table.into_parts();
        let num_rows = table.shape()[0];
        match GatherRows.prepare::<C>([node]).compute_bound().stateful() {
            OpsKind::Tracked(prep) => {
                let output = B::gather_rows(table, indices.clone());
                prep.finish((indices, num_rows), output)
            }
            OpsKind::UnTracked(prep) => prep.finish(B::gather_rows(table, indices)),
        }
    }
}

#[derive(Debug)]
struct SampledDot;

impl<B: Backend + SampledOps> Backward<B, 2> for SampledDot {
    type State = (FloatTensor<B>, FloatTensor<B>, IntTensor<B>);

    fn backward(self, ops: Ops<Self::State, 2>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let [anchors_node, table_node] = ops.parents;
        let (anchors, table, indices) = ops.state;
        let grad = grads.consume::<B>(&ops.node);
        let num_rows = table.shape()[0];
        if let Some(node) = anchors_node {
            let grad = B::sampled_sum(grad.clone(), table, indices.clone());
            grads.register::<B>(node.id, grad);
        }
        if let Some(node) = table_node {
            let grad = B::scatter_sum(grad, anchors, indices, num_rows);
            grads.register::<B>(node.id, grad);
        }
    }
}

#[derive(Debug)]
struct GatherRows;

impl<B: Backend + SampledOps> Backward<B, 1> for GatherRows {
    type State = (IntTensor<B>, usize);

    fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let (indices, num_rows) = ops.state;
        unary::<B, _>(ops.parents, ops.node, grads, |grad| B::scatter_rows(grad, indices, num_rows));
    }
}
