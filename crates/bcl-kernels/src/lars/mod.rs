//! A step of LARS.

use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, Dispatch, Flex, Scalar, TensorMetadata, backend_extension, get_or_init_device_settings};
use burn::tensor::Tensor;

#[cfg(feature = "cube")]
pub(crate) mod cube;

/// The numbers of one step of [`lars`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LarsStep {
    /// Learning rate γ.
    pub rate: f64,
    /// Momentum m.
    pub momentum: f32,
    /// How the learning rate adapts to the parameter; `None` for `u = g` and `r = 1`.
    pub adaptation: Option<LarsAdaptation>,
}

/// How the learning rate adapts to a parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LarsAdaptation {
    /// Trust coefficient η.
    pub trust_coefficient: f64,
    /// Weight decay λ.
    pub weight_decay: f64,
}

/// What a step of [`lars`] reads.
#[derive(Debug)]
pub struct LarsInput<const D: usize> {
    /// The parameter w.
    pub weight: Tensor<D>,
    /// Its gradient g.
    pub gradient: Tensor<D>,
    /// The velocity v; `None` before the first step.
    pub velocity: Option<Tensor<D>>,
}

/// What a parameter and its velocity are after a step.
#[derive(Debug)]
pub struct LarsUpdated<const D: usize> {
    /// The parameter.
    pub weight: Tensor<D>,
    /// The velocity.
    pub velocity: Tensor<D>,
}

/// Updates a parameter by LARS, which is SGD with momentum and a learning rate that adapts to the parameter,
///
/// ```text
/// u = g + λ w
/// r = η ‖w‖ / ‖u‖                   (1 if either norm is 0)
/// v <- m v + γ r u
/// w <- w - v
/// ```
///
/// On GPUs, a step is three launches, and within [`together`](crate::together()) as many for all parameters. Norms stay on the device.
///
/// # Shapes
/// - all tensors: the parameter's shape; `f32` for the fast version
///
/// # Example
/// ```
/// use bcl_kernels::{LarsAdaptation, LarsInput, LarsStep, lars};
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let input = LarsInput {
///     weight: Tensor::<1>::from_floats([3.0, 4.0], &device),
///     gradient: Tensor::from_floats([0.0, 10.0], &device),
///     velocity: None,
/// };
/// let adaptation = Some(LarsAdaptation { trust_coefficient: 0.1, weight_decay: 0.0 });
/// let step = LarsStep { rate: 1.0, momentum: 0.9, adaptation };
///
/// // A step has the length η ‖w‖.
/// assert_eq!(lars(input, step).weight.into_data().as_slice::<f32>().unwrap(), [3.0, 3.5]);
/// ```
pub fn lars<const D: usize>(input: LarsInput<D>, step: LarsStep) -> LarsUpdated<D> {
    let LarsInput {
        weight,
        gradient,
        velocity,
    } = input;
    let velocity = velocity.unwrap_or_else(|| Tensor::zeros([0; D], (&weight.device(), weight.dtype())));
    let (weight, velocity) = Dispatch::lars(
        weight.into_dispatch(),
        gradient.into_dispatch(),
        velocity.into_dispatch(),
        step,
    );
    LarsUpdated {
        weight: Tensor::from_dispatch(weight),
        velocity: Tensor::from_dispatch(velocity),
    }
}

/// The step of LARS of a backend. The default body composes tensor operations.
#[backend_extension(Flex, Cube: cfg(feature = "cube"))]
pub trait LarsOps: Backend {
    /// The kernel behind [`lars`](crate::lars()): weight and velocity after a step. Before the first step, the velocity is empty.
    fn lars(
        weight: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        velocity: FloatTensor<Self>,
        step: LarsStep,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        composed::<Self>(weight, gradient, velocity, step)
    }
}

impl LarsOps for Flex {}

fn composed<B: Backend>(
    weight: FloatTensor<B>,
    gradient: FloatTensor<B>,
    velocity: FloatTensor<B>,
    step: LarsStep,
) -> (FloatTensor<B>, FloatTensor<B>) {
    let is_first = is_first::<B>(&weight, &velocity);
    let times = |tensor, factor: f64| B::float_mul_scalar(tensor, Scalar::from(factor));
    let update = match step.adaptation {
        None => times(gradient, step.rate),
        Some(adaptation) => {
            let decayed = B::float_add(gradient, times(weight.clone(), adaptation.weight_decay));
            let norms = [&weight, &decayed].map(|tensor| norm::<B>(tensor.clone()));
            let factor = times(trust_ratio::<B>(norms, adaptation.trust_coefficient), step.rate);
            let one_each = vec![1; decayed.rank()].into();
            B::float_mul(decayed, B::float_reshape(factor, one_each))
        }
    };
    // The learning rate is part of the velocity, so a new rate does not rescale earlier steps.
    let velocity = if is_first {
        update
    } else {
        B::float_add(update, B::float_mul_scalar(velocity, Scalar::from(step.momentum)))
    };
    (B::float_sub(weight, velocity.clone()), velocity)
}

/// Whether there is no velocity yet.
fn is_first<B: Backend>(weight: &FloatTensor<B>, velocity: &FloatTensor<B>) -> bool {
    weight.shape() != velocity.shape()
}

/// `r`, `[1]`, computed on the device, so nothing waits for the host.
fn trust_ratio<B: Backend>([weight, update]: [FloatTensor<B>; 2], coefficient: f64) -> FloatTensor<B> {
    let bool_dtype = get_or_init_device_settings::<B>(&weight.device()).bool_dtype;
    let [no_weight, no_update] = [&weight, &update].map(|norm| B::float_equal_elem(norm.clone(), Scalar::from(0.0), bool_dtype));
    let ratio = B::float_mul_scalar(B::float_div(weight, update), Scalar::from(coefficient));
    B::float_mask_fill(ratio, B::bool_or(no_weight, no_update), Scalar::from(1.0))
}

/// Euclidean norm of all entries, `[1]`.
fn norm<B: Backend>(tensor: FloatTensor<B>) -> FloatTensor<B> {
    B::float_sqrt(B::float_sum(B::float_mul(tensor.clone(), tensor)))
}
