//! `log(1 + x)` that is exact for small `x`.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind, unary};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, Flex, Scalar, backend_extension};
use burn::tensor::Tensor;

#[cfg(feature = "cube")]
pub(crate) mod cube;

/// Computes `log(1 + x)` to full relative precision, even for tiny `x`.
///
/// Burn's own function does so on the CPU. Shading languages have no such function, and computing `1 + x` there loses what is below the
/// resolution of 1: the loss of an anchor whose positive beats all negatives.
///
/// # Shapes
/// - x: any shape, with values above -1; the output has the same shape
///
/// # Example
/// ```
/// use bcl_kernels::log1p;
/// use burn::tensor::{Device, Tensor};
///
/// let x = Tensor::<1>::from_floats([1e-12, 1.0], &Device::flex());
///
/// assert_eq!(log1p(x).into_data().as_slice::<f32>().unwrap(), [1e-12, 2f32.ln()]);
/// ```
pub fn log1p<const D: usize>(x: Tensor<D>) -> Tensor<D> {
    Tensor::from_dispatch(Dispatch::precise_log1p(x.into_dispatch()))
}

/// The logarithm of a backend. The default body is Burn's.
#[backend_extension(Autodiff, Flex, Cube: cfg(feature = "cube"))]
pub trait LogarithmOps: Backend {
    /// The kernel behind [`log1p`](crate::log1p).
    fn precise_log1p(x: FloatTensor<Self>) -> FloatTensor<Self> {
        Self::float_log1p(x)
    }
}

impl LogarithmOps for Flex {}

impl<B: Backend + LogarithmOps, C: CheckpointStrategy> LogarithmOps for Autodiff<B, C> {
    fn precise_log1p(x: FloatTensor<Self>) -> FloatTensor<Self> {
        let (x, node) = x.into_parts();
        match Log1p.prepare::<C>([node]).compute_bound().stateful() {
            OpsKind::Tracked(prep) => prep.finish(x.clone(), B::precise_log1p(x)),
            OpsKind::UnTracked(prep) => prep.finish(B::precise_log1p(x)),
        }
    }
}

#[derive(Debug)]
struct Log1p;

impl<B: Backend> Backward<B, 1> for Log1p {
    type State = FloatTensor<B>;

    fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let x = ops.state;
        unary::<B, _>(ops.parents, ops.node, grads, |grad| {
            B::float_div(grad, B::float_add_scalar(x, Scalar::from(1.0)))
        });
    }
}
