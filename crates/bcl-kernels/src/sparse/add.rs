//! The sparse product with an addend, as a single node of the autodiff graph.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, Scalar};
use burn::tensor::Tensor;

use super::{SparseMatrix, SparseOps, check_shapes};

/// Multiplies a sparse matrix with a dense one and adds another, in one pass.
///
/// ```text
/// out[r, c] = addend[r, c] + Σ_k matrix[r, k] · dense[k, c]
/// ```
///
/// Differentiable in `dense` and `addend`. If both are the same tensor, such as the nodes of a graph to which the sums of their neighbours
/// are added, the backward pass is one pass, too. The sparse values are constants.
///
/// # Shapes
/// - matrix: `[num_rows, num_inner]`
/// - dense:  `[num_inner, num_columns]`, `f32` or `f64`
/// - addend: `[num_rows, num_columns]`
/// - output: `[num_rows, num_columns]`
///
/// # Panics
/// Panics if the shapes do not match.
///
/// # Example
/// ```
/// use bcl_kernels::{SparseMatrix, sparse_matmul_add};
/// use burn::tensor::{Device, Tensor};
///
/// // The path 0 - 1 - 2.
/// let path = SparseMatrix::symmetric_ones(vec![0, 1, 3, 4], vec![1, 0, 2, 1]);
/// let nodes = Tensor::<2>::from_floats([[1.0], [10.0], [100.0]], &Device::flex());
///
/// let sums = sparse_matmul_add(&path, nodes.clone(), nodes).into_data();
///
/// assert_eq!(sums.as_slice::<f32>().unwrap(), [11.0, 111.0, 110.0]);
/// ```
pub fn sparse_matmul_add(matrix: &SparseMatrix, dense: Tensor<2>, addend: Tensor<2>) -> Tensor<2> {
    check_shapes(matrix, dense.dims());
    let shape = [matrix.shape()[0], dense.dims()[1]];
    assert_eq!(
        addend.dims(),
        shape,
        "the product has shape {shape:?}, but the addend {:?}",
        addend.dims()
    );
    Tensor::from_dispatch(Dispatch::sparse_matmul_add(
        matrix.clone(),
        dense.into_dispatch(),
        addend.into_dispatch(),
        1.0,
    ))
}

pub(super) fn tracked<B: Backend + SparseOps, C: CheckpointStrategy>(
    matrix: SparseMatrix,
    dense: FloatTensor<Autodiff<B, C>>,
    addend: FloatTensor<Autodiff<B, C>>,
    scale: f64,
) -> FloatTensor<Autodiff<B, C>> {
    let nodes = [dense.node(), addend.node()];
    let (dense, addend) = (dense.into_primitive(), addend.into_primitive());
    let output = B::sparse_matmul_add(matrix.clone(), dense, addend, scale);
    match SparseMatmulAdd.prepare::<C>(nodes).compute_bound().stateful() {
        OpsKind::Tracked(prep) => prep.finish((matrix, scale), output),
        OpsKind::UnTracked(prep) => prep.finish(output),
    }
}

/// Its parents are the dense matrix and the addend.
#[derive(Debug)]
struct SparseMatmulAdd;

impl<B: Backend + SparseOps> Backward<B, 2> for SparseMatmulAdd {
    type State = (SparseMatrix, f64);

    fn backward(self, ops: Ops<Self::State, 2>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let (matrix, scale) = ops.state;
        let transpose = matrix.transpose();
        let grad = grads.consume::<B>(&ops.node);
        let [dense, addend] = ops.parents;
        if let (Some(dense), Some(addend)) = (&dense, &addend)
            && dense.id == addend.id
        {
            let grad = B::sparse_matmul_add(transpose, grad.clone(), grad, scale);
            grads.register::<B>(dense.id, grad);
            return;
        }
        let grad = if scale == 1.0 {
            grad
        } else {
            B::float_mul_scalar(grad, Scalar::from(scale))
        };
        if let Some(node) = dense {
            grads.register::<B>(node.id, B::sparse_matmul(transpose, grad.clone()));
        }
        if let Some(node) = addend {
            grads.register::<B>(node.id, grad);
        }
    }
}
