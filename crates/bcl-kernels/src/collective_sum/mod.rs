//! Sums over the processes of a [`Collective`], with gradients.

use bcl_collective::Collective;
use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, Dispatch, Flex, TensorMetadata, backend_extension};
use burn::tensor::{DType, Tensor, TensorData, try_read_sync};
use std::sync::Arc;

mod autodiff;

/// Sums a tensor over processes; all of them get the same bits.
///
/// The gradient of a process's addend is the sum of the gradients with respect to the sums of all processes: training minimises the sum of the losses
/// of all processes, and each loss depends on all addends. So all processes have to go backward through it, too.
///
/// # Shapes
/// - values: any shape, the same on all processes, `f32` or `f64`; the output has the same shape
///
/// # Panics
/// Panics if the shapes or types differ between processes.
///
/// # Example
/// ```
/// use bcl_collective::Threads;
/// use bcl_kernels::sum_over_processes;
/// use burn::tensor::{Device, Tensor};
///
/// let sums = Threads::run(2, |processes| {
///     let own = Tensor::<1>::from_floats([1.0, processes.index() as f32], &Device::flex());
///     sum_over_processes(own, &processes).into_data().iter::<f32>().collect::<Vec<_>>()
/// });
///
/// assert_eq!(sums, [[2.0, 1.0], [2.0, 1.0]]);
/// ```
pub fn sum_over_processes<const D: usize>(values: Tensor<D>, processes: &Arc<dyn Collective>) -> Tensor<D> {
    Tensor::from_dispatch(Dispatch::sum_over_processes(values.into_dispatch(), processes.clone()))
}

/// Sums over processes of a backend. The default body adds up on the host.
#[backend_extension(Autodiff, Flex, Cube: cfg(feature = "cube"))]
pub trait CollectiveOps: Backend {
    /// The kernel behind [`sum_over_processes`](crate::sum_over_processes).
    fn sum_over_processes(values: FloatTensor<Self>, processes: Arc<dyn Collective>) -> FloatTensor<Self> {
        on_host::<Self>(values, &*processes)
    }
}

impl CollectiveOps for Flex {}

#[cfg(feature = "cube")]
impl CollectiveOps for burn::backend::Cube {}

fn on_host<B: Backend>(values: FloatTensor<B>, processes: &dyn Collective) -> FloatTensor<B> {
    let device = values.device();
    let read = try_read_sync(B::float_into_data(values)).expect("the host waits for the device");
    let data = read.expect("the device can be read");
    let shape = data.shape().clone();
    let sums = if data.dtype() == DType::F64 {
        let mut numbers: Vec<f64> = data.iter().collect();
        processes.all_reduce(&mut numbers);
        TensorData::new(numbers, shape)
    } else {
        let dtype = data.dtype();
        let mut numbers: Vec<f32> = data.iter().collect();
        processes.all_reduce(&mut numbers);
        TensorData::new(numbers, shape).convert_dtype(dtype)
    };
    B::float_from_data(sums, &device)
}
