//! L2 normalisation of rows.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind, unary};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, backend_extension};
use burn::tensor::Tensor;

mod flex;
pub(crate) mod portable;

/// Scales each row to unit length (L2), so that dot products become cosine similarities.
///
/// ```text
/// out[r] = rows[r] / |rows[r]|,   or 0 if the row is 0
/// ```
///
/// Differentiable. A row of zeros has no direction, so its gradient is zero.
///
/// # Shapes
/// - rows:   `[num_rows, dim]`, `f32` or `f64`
/// - output: `[num_rows, dim]`
///
/// # Example
/// ```
/// use bcl_kernels::unit_rows;
/// use burn::tensor::{Device, Tensor};
///
/// let rows = Tensor::<2>::from_floats([[3.0, 4.0], [0.0, 0.0]], &Device::flex());
///
/// let units = unit_rows(rows).into_data();
///
/// assert_eq!(units.as_slice::<f32>().unwrap(), [0.6, 0.8, 0.0, 0.0]);
/// ```
pub fn unit_rows(rows: Tensor<2>) -> Tensor<2> {
    Tensor::from_dispatch(Dispatch::unit_rows(rows.into_dispatch()))
}

/// The L2 normalisation kernels of a backend. The default bodies compose tensor operations.
#[backend_extension(Autodiff, Flex, Cube: cfg(feature = "cube"))]
pub trait UnitOps: Backend {
    /// The kernel behind [`unit_rows`](crate::unit_rows).
    fn unit_rows(rows: FloatTensor<Self>) -> FloatTensor<Self> {
        portable::unit_rows::<Self>(rows)
    }

    /// The gradient of [`unit_rows`](crate::unit_rows): with `u = row / |row|`, `(grad - u (u · grad)) / |row|`.
    fn unit_rows_backward(rows: FloatTensor<Self>, grad: FloatTensor<Self>) -> FloatTensor<Self> {
        portable::unit_rows_backward::<Self>(rows, grad)
    }
}

#[cfg(feature = "cube")]
impl UnitOps for burn::backend::Cube {}

impl<B: Backend + UnitOps, C: CheckpointStrategy> UnitOps for Autodiff<B, C> {
    fn unit_rows(rows: FloatTensor<Self>) -> FloatTensor<Self> {
        let (rows, node) = rows.into_parts();
        match UnitRows.prepare::<C>([node]).compute_bound().stateful() {
            OpsKind::Tracked(prep) => {
                let output = B::unit_rows(rows.clone());
                prep.finish(rows, output)
            }
            OpsKind::UnTracked(prep) => prep.finish(B::unit_rows(rows)),
        }
    }
}

#[derive(Debug)]
struct UnitRows;

impl<B: Backend + UnitOps> Backward<B, 1> for UnitRows {
    type State = FloatTensor<B>;

    fn backward(self, ops: Ops<Self::State, 1>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let rows = ops.state;
        unary::<B, _>(ops.parents, ops.node, grads, |grad| B::unit_rows_backward(rows, grad));
    }
}
