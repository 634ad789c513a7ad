//! Sums over the ranks of a [`Collective`], with gradients.

use bcl_collective::Collective;
use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, Dispatch, Flex, TensorMetadata, backend_extension};
use burn::tensor::{DType, Tensor, TensorData, try_read_sync};
use std::sync::Arc;

mod autodiff;

/// Sums a tensor over ranks; all of them get the same bits.
///
/// The gradient of a rank's addend is the sum of the gradients with respect to the sums of all ranks: training minimises the sum of the losses
/// of all ranks, and each loss depends on all addends. So all ranks have to go backward through it, too.
///
/// # Shapes
/// - values: any shape, the same on all ranks, `f32` or `f64`; the output has the same shape
///
/// # Panics
/// Panics if the shapes or types differ between ranks.
///
/// # Example
/// ```
/// use bcl_collective::Threads;
/// use bcl_kernels::sum_over_ranks;
/// use burn::tensor::{Device, Tensor};
///
/// let sums = Threads::run(2, |ranks| {
///     let own = Tensor::<1>::from_floats([1.0, ranks.rank() as f32], &Device::flex());
///     sum_over_ranks(own, &ranks).into_data().iter::<f32>().collect::<Vec<_>>()
/// });
///
/// assert_eq!(sums, [[2.0, 1.0], [2.0, 1.0]]);
/// ```
pub fn sum_over_ranks<const D: usize>(values: Tensor<D>, ranks: &Arc<dyn Collective>) -> Tensor<D> {
    Tensor::from_dispatch(Dispatch::sum_over_ranks(values.into_dispatch(), ranks.clone()))
}

/// Sums over ranks of a backend. The default body adds up on the host.
#[backend_extension(Autodiff, Flex, Cube: cfg(feature = "cube"))]
pub trait CollectiveOps: Backend {
    /// The kernel behind [`sum_over_ranks`](crate::sum_over_ranks).
    fn sum_over_ranks(values: FloatTensor<Self>, ranks: Arc<dyn Collective>) -> FloatTensor<Self> {
        on_host::<Self>(values, &*ranks)
    }
}

impl CollectiveOps for Flex {}

#[cfg(feature = "cube")]
impl CollectiveOps for burn::backend::Cube {}

fn on_host<B: Backend>(values: FloatTensor<B>, ranks: &dyn Collective) -> FloatTensor<B> {
    let device = values.device();
    let read = try_read_sync(B::float_into_data(values)).expect("the host waits for the device");
    let data = read.expect("the device can be read");
    let shape = data.shape().clone();
    let sums = if data.dtype() == DType::F64 {
        let mut numbers: Vec<f64> = data.iter().collect();
        ranks.all_reduce(&mut numbers);
        TensorData::new(numbers, shape)
    } else {
        let dtype = data.dtype();
        let mut numbers: Vec<f32> = data.iter().collect();
        ranks.all_reduce(&mut numbers);
        TensorData::new(numbers, shape).convert_dtype(dtype)
    };
    B::float_from_data(sums, &device)
}
