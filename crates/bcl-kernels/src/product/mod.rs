//! Matrix products in the precision of their operands, on every backend.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, backend_extension};
use burn::tensor::Tensor;

#[cfg(feature = "cube")]
mod cube;

/// Multiplies two matrices in the precision of their elements.
///
/// ```text
/// out = left · right
/// ```
///
/// Burn's `matmul` rounds 32-bit operands to TF32 (10 bits after the point) on NVIDIA GPUs with tensor cores: scores are off by a thousandth, and
/// losses at low temperatures by a hundredth. This function does not round; elsewhere it is Burn's, to the bit. Differentiable in both
/// operands.
///
/// # Shapes
/// - left:   `[num_rows, num_shared]`
/// - right:  `[num_shared, num_columns]`
/// - output: `[num_rows, num_columns]`
///
/// # Panics
/// Panics if the operands do not share a dimension.
///
/// # Example
/// ```
/// use bcl_kernels::matmul;
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let left = Tensor::<2>::from_floats([[1.0, 2.0]], &device);
/// let right = Tensor::<2>::from_floats([[3.0], [4.0]], &device);
///
/// assert_eq!(matmul(left, right).into_scalar::<f32>(), 11.0);
/// ```
pub fn matmul(left: Tensor<2>, right: Tensor<2>) -> Tensor<2> {
    let (of_left, of_right) = (left.dims(), right.dims());
    assert_eq!(
        of_left[1], of_right[0],
        "a matrix of shape {of_left:?} cannot be multiplied with one of shape {of_right:?}"
    );
    Tensor::from_dispatch(Dispatch::product(left.into_dispatch(), right.into_dispatch()))
}

/// Applies a linear layer in the precision of its input: [`matmul`] with a bias.
///
/// # Shapes
/// - input:  `[num_rows, size_in]`
/// - weight: `[size_in, size_out]`
/// - bias:   `[size_out]`
/// - output: `[num_rows, size_out]`
///
/// # Panics
/// Panics if the sizes do not fit.
///
/// # Example
/// ```
/// use bcl_kernels::linear;
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let input = Tensor::<2>::from_floats([[1.0, 2.0]], &device);
/// let weight = Tensor::<2>::from_floats([[3.0], [4.0]], &device);
/// let bias = Tensor::<1>::from_floats([0.5], &device);
///
/// assert_eq!(linear(input, weight, Some(bias)).into_scalar::<f32>(), 11.5);
/// ```
pub fn linear(input: Tensor<2>, weight: Tensor<2>, bias: Option<Tensor<1>>) -> Tensor<2> {
    let output = matmul(input, weight);
    match bias {
        Some(bias) => output + bias.unsqueeze(),
        None => output,
    }
}

/// The matrix product of a backend. The default body is Burn's.
#[backend_extension(Autodiff, Flex, Cube: cfg(feature = "cube"))]
pub trait ProductOps: Backend {
    /// The kernel behind [`matmul`](crate::matmul()).
    fn product(left: FloatTensor<Self>, right: FloatTensor<Self>) -> FloatTensor<Self> {
        Self::float_matmul(left, right)
    }
}

impl ProductOps for burn::backend::Flex {}

impl<B: Backend + ProductOps, C: CheckpointStrategy> ProductOps for Autodiff<B, C> {
    fn product(left: FloatTensor<Self>, right: FloatTensor<Self>) -> FloatTensor<Self> {
        let (left, left_node) = left.into_parts();
        let (right, right_node) = right.into_parts();
        let output = B::product(left.clone(), right.clone());
        match Product.prepare::<C>([left_node, right_node]).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish((left, right), output),
            OpsKind::UnTracked(prep) => prep.finish(output),
        }
    }
}

#[derive(Debug)]
struct Product;

impl<B: Backend + ProductOps> Backward<B, 2> for Product {
    /// The operands.
    type State = (FloatTensor<B>, FloatTensor<B>);

    fn backward(self, ops: Ops<Self::State, 2>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let grad = grads.consume::<B>(&ops.node);
        let (left, right) = ops.state;
        let [left_node, right_node] = ops.parents;
        if let Some(node) = left_node {
            let transposed = B::float_swap_dims(right, 0, 1);
            grads.register::<B>(node.id, B::product(grad.clone(), transposed));
        }
        if let Some(node) = right_node {
            let transposed = B::float_swap_dims(left, 0, 1);
            grads.register::<B>(node.id, B::product(transposed, grad));
        }
    }
}
