//! A step of Adam in one pass over memory.

use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::backend::{Backend, Dispatch, backend_extension};
use burn::tensor::Tensor;

#[cfg(feature = "cube")]
pub(crate) mod cube;
mod flex;
mod lazy;
mod lazy_flex;
mod numbers;
pub(crate) mod portable;

pub use lazy::{LazyMemory, LazyUpdated, lazy_adam};

/// The numbers of one step of [`adam`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdamStep {
    /// Learning rate γ.
    pub rate: f64,
    /// β₁, the decay of the mean of the gradients.
    pub beta_1: f32,
    /// β₂, the decay of the mean of their squares.
    pub beta_2: f32,
    /// ε
    pub epsilon: f32,
    /// Weight decay.
    pub decay: AdamDecay,
    /// Number of this step, from 1.
    pub time: usize,
}

/// Weight decay λ; 0 for none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AdamDecay {
    /// Adam: `λ w` is added to the gradient.
    Coupled(f32),
    /// `AdamW`: the weights are multiplied by `1 - γ λ`.
    Decoupled(f32),
}

/// What a parameter and its optimizer state are after a step.
#[derive(Debug)]
pub struct AdamUpdated<const D: usize> {
    /// The parameter.
    pub weight: Tensor<D>,
    /// The moments.
    pub moments: [Tensor<D>; 2],
    /// The parameter before the step, for [`AdamInput::spare`] of the next one; `None` if nothing would be gained.
    pub spare: Option<Tensor<D>>,
}

/// What a step of [`adam`] reads.
#[derive(Debug)]
pub struct AdamInput<const D: usize> {
    /// The parameter w.
    pub weight: Tensor<D>,
    /// Its gradient g.
    pub gradient: Tensor<D>,
    /// The moments m and v; `None` before the first step.
    pub moments: Option<[Tensor<D>; 2]>,
    /// A tensor that is no longer needed. If nothing else holds it, the new parameter reuses its memory.
    pub spare: Option<Tensor<D>>,
}

/// Updates a parameter by Adam or `AdamW`,
///
/// ```text
/// m <- β₁ m + (1 - β₁) g
/// v <- β₂ v + (1 - β₂) g²
/// w <- w - γ m / (1 - β₁ᵗ) / (sqrt(v / (1 - β₂ᵗ)) + ε)
/// ```
///
/// with the arithmetic of Burn's own optimizers, operation by operation, so the result has their bits. On the CPU, all happens in one parallel pass,
/// the moments are updated in place if no other handle of them is left, and nothing is allocated if there is a spare tensor. Composed of tensor
/// operations, a step takes a dozen passes, most of which allocate a tensor of the size of the parameter.
///
/// # Shapes
/// - all tensors: the parameter's shape; `f32` or `f64` for the fast version
///
/// # Example
/// ```
/// use bcl_kernels::{AdamDecay, AdamInput, AdamStep, adam};
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let input = AdamInput {
///     weight: Tensor::<1>::from_floats([1.0, 1.0], &device),
///     gradient: Tensor::from_floats([0.5, -2.0], &device),
///     moments: None,
///     spare: None,
/// };
/// let step = AdamStep { rate: 0.1, beta_1: 0.9, beta_2: 0.999, epsilon: 1e-8, decay: AdamDecay::Coupled(0.0), time: 1 };
///
/// let weight = adam(input, step).weight.into_data();
///
/// // The first step has the length of the learning rate.
/// assert!(weight.iter::<f32>().zip([0.9, 1.1]).all(|(found, expected)| (found - expected).abs() < 1e-6));
/// ```
pub fn adam<const D: usize>(input: AdamInput<D>, step: AdamStep) -> AdamUpdated<D> {
    let AdamInput {
        weight,
        gradient,
        moments,
        spare,
    } = input;
    let nothing = || Tensor::zeros([0; D], (&weight.device(), weight.dtype()));
    let [moment_1, moment_2] = moments.unwrap_or_else(|| [weight.zeros_like(), weight.zeros_like()]);
    let spare = spare.unwrap_or_else(nothing);
    let (weight, moment_1, moment_2, spare) = Dispatch::adam(
        weight.into_dispatch(),
        gradient.into_dispatch(),
        moment_1.into_dispatch(),
        moment_2.into_dispatch(),
        spare.into_dispatch(),
        step,
    );
    let spare = Tensor::<D>::from_dispatch(spare);
    AdamUpdated {
        weight: Tensor::from_dispatch(weight),
        moments: [Tensor::from_dispatch(moment_1), Tensor::from_dispatch(moment_2)],
        spare: (spare.shape().num_elements() > 0).then_some(spare),
    }
}

impl AdamStep {
    /// `1 - β₁ᵗ` and `1 - β₂ᵗ`
    fn corrections(&self) -> [f32; 2] {
        let time = self.time as i32;
        [1.0 - self.beta_1.powi(time), 1.0 - self.beta_2.powi(time)]
    }

    /// For Adam: the factor of m and the summand of `sqrt(v)`, after both sides of the fraction were multiplied by `sqrt(1 - β₂ᵗ)`.
    fn combined(&self) -> [f32; 2] {
        let [first, second] = self.corrections();
        let root = second.sqrt();
        [root / first, self.epsilon * root]
    }

    /// For `AdamW`: the factor of the weights.
    fn shrinkage(&self, decay: f32) -> f64 {
        1.0 - self.rate * f64::from(decay)
    }
}

/// The optimizer kernels of a backend. The default bodies compose tensor operations.
#[backend_extension(Flex, Cube: cfg(feature = "cube"))]
pub trait AdamOps: Backend {
    /// The kernel behind [`adam`](crate::adam): weight, moments and spare tensor after a step.
    fn adam(
        weight: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        moment_1: FloatTensor<Self>,
        moment_2: FloatTensor<Self>,
        spare: FloatTensor<Self>,
        step: AdamStep,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        let (weight, moment_1, moment_2) = portable::adam::<Self>(weight, gradient, moment_1, moment_2, step);
        (weight, moment_1, moment_2, spare)
    }

    /// The kernel behind [`lazy_adam`](crate::lazy_adam()): weight and moments after a step, the weight before it, and the rows in which both weights differ,
    /// or none if they are unknown. `before`, `after` and `changed` come from the last step.
    #[allow(clippy::too_many_arguments, clippy::type_complexity)] // backend tensors cannot be put into a struct here
    fn lazy_adam(
        weight: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        moment_1: FloatTensor<Self>,
        moment_2: FloatTensor<Self>,
        before: FloatTensor<Self>,
        after: FloatTensor<Self>,
        changed: IntTensor<Self>,
        step: AdamStep,
    ) -> (
        FloatTensor<Self>,
        FloatTensor<Self>,
        FloatTensor<Self>,
        FloatTensor<Self>,
        IntTensor<Self>,
    ) {
        // This serves backends that reuse memory.
        drop(after);
        let (weight, moment_1, moment_2) = portable::lazy_adam::<Self>(weight, gradient, moment_1, moment_2, step);
        (weight, moment_1, moment_2, before, changed)
    }
}
