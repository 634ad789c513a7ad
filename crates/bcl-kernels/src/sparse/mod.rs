//! Products of a sparse and a dense matrix.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind, unary};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, backend_extension};
use burn::tensor::Tensor;

mod add;
#[cfg(feature = "cube")]
mod cube;
mod flex;
mod matrix;
pub(crate) mod portable;
mod propagate;
#[cfg(feature = "cube")]
mod uploads;

pub use add::sparse_matmul_add;
pub use matrix::SparseMatrix;
pub use propagate::propagate;

/// Multiplies a sparse matrix with a dense one.
///
/// ```text
/// out[r, c] = Σ_k matrix[r, k] · dense[k, c]
/// ```
///
/// Differentiable in `dense`; the gradient is the product of the transpose with the gradient of the output. The sparse values are
/// constants.
///
/// # Shapes
/// - matrix: `[num_rows, num_inner]`
/// - dense:  `[num_inner, num_columns]`, `f32` or `f64`
/// - output: `[num_rows, num_columns]`
///
/// # Panics
/// Panics if the inner dimensions differ.
///
/// # Example
/// ```
/// use bcl_kernels::{SparseMatrix, sparse_matmul};
/// use burn::tensor::{Device, Tensor};
///
/// let matrix = SparseMatrix::from_triplets(2, 3, [(0, 1, 2.0), (1, 0, 1.0), (1, 2, -1.0)]);
/// let dense = Tensor::<2>::from_floats([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], &Device::flex());
///
/// let product = sparse_matmul(&matrix, dense).into_data();
///
/// assert_eq!(product.as_slice::<f32>().unwrap(), [6.0, 8.0, -4.0, -4.0]);
/// ```
pub fn sparse_matmul(matrix: &SparseMatrix, dense: Tensor<2>) -> Tensor<2> {
    check_shapes(matrix, dense.dims());
    Tensor::from_dispatch(Dispatch::sparse_matmul(matrix.clone(), dense.into_dispatch()))
}

pub(crate) fn check_shapes(matrix: &SparseMatrix, dense: [usize; 2]) {
    let [num_rows, num_inner] = matrix.shape();
    assert_eq!(
        num_inner, dense[0],
        "the sparse matrix has shape [{num_rows}, {num_inner}], so the dense one must have {num_inner} rows, but has shape {dense:?}"
    );
}

/// The sparse kernels of a backend. The default bodies compose tensor operations.
#[backend_extension(Autodiff, Flex, Cube: cfg(feature = "cube"))]
pub trait SparseOps: Backend {
    /// The kernel behind [`sparse_matmul`](crate::sparse_matmul).
    fn sparse_matmul(matrix: SparseMatrix, dense: FloatTensor<Self>) -> FloatTensor<Self> {
        portable::sparse_matmul::<Self>(&matrix, dense)
    }

    /// The kernel behind [`sparse_matmul_add`](crate::sparse_matmul_add): `scale · (addend + matrix · dense)`.
    fn sparse_matmul_add(
        matrix: SparseMatrix,
        dense: FloatTensor<Self>,
        addend: FloatTensor<Self>,
        scale: f64,
    ) -> FloatTensor<Self> {
        portable::sparse_matmul_add::<Self>(matrix, dense, addend, scale)
    }

    /// The kernel behind [`propagate`](crate::propagate).
    fn propagate(
        matrix: SparseMatrix,
        users: FloatTensor<Self>,
        items: FloatTensor<Self>,
        num_layers: usize,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        portable::propagate::<Self>(&matrix, users, items, num_layers)
    }
}

impl<B: Backend + SparseOps, C: CheckpointStrategy> SparseOps for Autodiff<B, C> {
    fn sparse_matmul(matrix: SparseMatrix, dense: FloatTensor<Self>) -> FloatTensor<Self> {
        let (dense, node) = dense.into_parts();
        match SparseMatmul.prepare::<C>([node]).compute_bound().stateful() {
            OpsKind::Tracked(prep) => {
                let output = B::sparse_matmul(matrix.clone(), dense);
                prep.finish(matrix, output)
            }
            OpsKind::UnTracked(prep) => prep.finish(B::sparse_matmul(matrix, dense)),
        }
    }

    fn sparse_matmul_add(
        matrix: SparseMatrix,
        dense: FloatTensor<Self>,
        addend: FloatTensor<Self>,
        scale: f64,
    ) -> FloatTensor<Self> {
        add::tracked::<B, C>(matrix, dense, addend, scale)
    }

    fn propagate(
        matrix: SparseMatrix,
        users: FloatTensor<Self>,
        items: FloatTensor<Self>,
        num_layers: usize,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        propagate::tracked::<B, C>(matrix, users, items, num_layers)
    }
}

#[derive(Debug)]
struct SparseMatmul;

impl<B: Backend + SparseOps> Backward<B, 1> for SparseMatmul {
    type State = SparseMatrix;

    fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let matrix = ops.state;
        unary::<B, _>(ops.parents, ops.node, grads, |grad| {
            B::sparse_matmul(matrix.transpose(), grad)
        });
    }
}
