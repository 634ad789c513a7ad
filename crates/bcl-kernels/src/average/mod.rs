//! Moving averages.

use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, Dispatch, Flex, Scalar, TensorMetadata, backend_extension};
use burn::tensor::{Slice, Tensor};

#[cfg(feature = "cube")]
pub(crate) mod cube;

/// Moves an average towards new values,
///
/// ```text
/// average <- keep · average + share · new
/// ```
///
/// in one pass on GPUs. If the first axis of `new` is a multiple of the average's, its parts move the average one after the other.
///
/// Neither tensor may be on an autodiff device.
///
/// # Shapes
/// - average, output: any
/// - new: the same, or several of them along the first axis
///
/// # Panics
/// Panics if the shapes do not fit together.
///
/// # Example
/// ```
/// use bcl_kernels::moving_average;
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let average = Tensor::<1>::from_floats([4.0], &device);
/// let new = Tensor::from_floats([0.0, 8.0], &device);
///
/// assert_eq!(moving_average(average, new, [0.75, 0.25]).into_scalar::<f32>(), 4.25);
/// ```
pub fn moving_average<const D: usize>(average: Tensor<D>, new: Tensor<D>, [keep, share]: [f64; 2]) -> Tensor<D> {
    let (shape, several) = (average.dims(), new.dims());
    assert!(
        D > 0 && shape[1..] == several[1..] && several[0].is_multiple_of(shape[0].max(1)),
        "values of shape {several:?} do not move an average of shape {shape:?}"
    );
    Tensor::from_dispatch(Dispatch::moving_average(
        average.into_dispatch(),
        new.into_dispatch(),
        keep,
        share,
    ))
}

/// The moving average of a backend. The default body composes tensor operations.
#[backend_extension(Flex, Cube: cfg(feature = "cube"))]
pub trait AverageOps: Backend {
    /// The kernel behind [`moving_average`](crate::moving_average).
    fn moving_average(average: FloatTensor<Self>, new: FloatTensor<Self>, keep: f64, share: f64) -> FloatTensor<Self> {
        composed::<Self>(average, new, keep, share)
    }
}

impl AverageOps for Flex {}

fn composed<B: Backend>(average: FloatTensor<B>, new: FloatTensor<B>, keep: f64, share: f64) -> FloatTensor<B> {
    let (size, total) = (average.shape()[0], new.shape()[0]);
    let moved = |average, new| {
        B::float_add(
            B::float_mul_scalar(average, Scalar::from(keep)),
            B::float_mul_scalar(new, Scalar::from(share)),
        )
    };
    if size == total {
        return moved(average, new);
    }
    (0..total / size).fold(average, |average, part| {
        let new = B::float_slice(new.clone(), &[Slice::from(part * size..(part + 1) * size)]);
        moved(average, new)
    })
}
