//! What clipping by the global norm needs: the squares of many tensors, and a factor for all of them.

use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, Dispatch, Flex, TensorMetadata, backend_extension};
use burn::tensor::Tensor;

#[cfg(feature = "cube")]
pub(crate) mod cube;

/// Adds the squares of all numbers of a tensor to a sum: `sum + Σ tensor²`.
///
/// On GPUs, this is two launches, and within [`together`](crate::together()) as many for all tensors whose squares a sum collects.
///
/// # Shapes
/// - sum, output: `[1]`
/// - tensor: any
///
/// # Panics
/// Panics if the sum is not a single number.
///
/// # Example
/// ```
/// use bcl_kernels::{add_squares, together};
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let (matrix, vector) = (Tensor::<2>::ones([2, 3], &device), Tensor::<1>::ones([4], &device));
///
/// let sum = together(|| add_squares(add_squares(Tensor::zeros([1], &device), matrix), vector));
///
/// assert_eq!(sum.into_scalar::<f32>(), 10.0);
/// ```
pub fn add_squares<const D: usize>(sum: Tensor<1>, tensor: Tensor<D>) -> Tensor<1> {
    assert_eq!(sum.dims(), [1], "a sum is a single number");
    Tensor::from_dispatch(Dispatch::add_squares(sum.into_dispatch(), tensor.into_dispatch()))
}

/// Multiplies a tensor by a number that is on its device. On GPUs, many tensors have one launch within [`together`](crate::together()).
///
/// # Shapes
/// - tensor, output: any
/// - factor: `[1]`
///
/// # Panics
/// Panics if the factor is not a single number.
///
/// # Example
/// ```
/// use bcl_kernels::scale_by;
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let scaled = scale_by(Tensor::<1>::from_floats([1.0, 2.0], &device), Tensor::from_floats([0.5], &device));
///
/// assert_eq!(scaled.into_data().as_slice::<f32>().unwrap(), [0.5, 1.0]);
/// ```
pub fn scale_by<const D: usize>(tensor: Tensor<D>, factor: Tensor<1>) -> Tensor<D> {
    assert_eq!(factor.dims(), [1], "a factor is a single number");
    Tensor::from_dispatch(Dispatch::scale_by(tensor.into_dispatch(), factor.into_dispatch()))
}

/// What clipping needs of a backend. The default bodies compose tensor operations.
#[backend_extension(Flex, Cube: cfg(feature = "cube"))]
pub trait ClipOps: Backend {
    /// The kernel behind [`add_squares`](crate::add_squares).
    fn add_squares(sum: FloatTensor<Self>, tensor: FloatTensor<Self>) -> FloatTensor<Self> {
        composed_squares::<Self>(sum, tensor)
    }

    /// The kernel behind [`scale_by`](crate::scale_by).
    fn scale_by(tensor: FloatTensor<Self>, factor: FloatTensor<Self>) -> FloatTensor<Self> {
        composed_scale::<Self>(tensor, factor)
    }
}

impl ClipOps for Flex {}

fn composed_squares<B: Backend>(sum: FloatTensor<B>, tensor: FloatTensor<B>) -> FloatTensor<B> {
    B::float_add(sum, B::float_sum(B::float_mul(tensor.clone(), tensor)))
}

fn composed_scale<B: Backend>(tensor: FloatTensor<B>, factor: FloatTensor<B>) -> FloatTensor<B> {
    let one_each = vec![1; tensor.rank()].into();
    B::float_mul(tensor, B::float_reshape(factor, one_each))
}
