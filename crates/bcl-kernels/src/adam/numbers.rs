//! What both steps on the CPU share.

use burn::backend::TensorMetadata;
use burn::backend::flex::FlexTensor;

use super::{AdamDecay, AdamStep};
use crate::cpu::{self, Value};

/// Numbers per task: five arrays of so many fit into the second-level cache, and a task takes tens of microseconds.
pub(super) const PART: usize = 1 << 14;

/// The memory of a spare tensor, if nobody else has it and a weight fits into it.
pub(super) fn reusable(spare: FlexTensor, weight: &FlexTensor) -> Option<FlexTensor> {
    let fits = spare.is_unique() && spare.dtype() == weight.dtype() && spare.shape() == weight.shape();
    fits.then(|| cpu::owned(spare))
}

/// Memory for a weight.
pub(super) fn new_like<T: Value>(weight: &FlexTensor) -> FlexTensor {
    let shape = weight.shape();
    cpu::tensor(vec![T::ZERO; shape.num_elements()], shape)
}

/// The numbers of a step in the type of the parameter.
#[derive(Clone, Copy)]
pub(super) struct Numbers<T> {
    rate: T,
    betas: [T; 2],
    /// `1 - β`
    rests: [T; 2],
    /// What is added to the root of the second moment.
    epsilon: T,
    /// Weight decay of the gradient, if any.
    coupled: Option<T>,
    bias: Bias<T>,
}

/// How the moments, which begin at 0, are corrected.
#[derive(Clone, Copy)]
enum Bias<T> {
    /// Adam: a factor of the first moment.
    Combined(T),
    /// `AdamW`: divisors of both moments, and the factor of the weights.
    Separate([T; 2], T),
}

impl<T: Value> Numbers<T> {
    pub(super) fn new(step: AdamStep) -> Self {
        let number = |value: f32| T::from_f64(value.into());
        let (coupled, epsilon, bias) = match step.decay {
            AdamDecay::Coupled(decay) => {
                let [factor, epsilon] = step.combined();
                ((decay > 0.0).then(|| number(decay)), epsilon, Bias::Combined(number(factor)))
            }
            AdamDecay::Decoupled(decay) => {
                let shrinkage = T::from_f64(step.shrinkage(decay));
                (None, step.epsilon, Bias::Separate(step.corrections().map(number), shrinkage))
            }
        };
        Self {
            rate: T::from_f64(step.rate),
            betas: [step.beta_1, step.beta_2].map(number),
            rests: [1.0 - step.beta_1, 1.0 - step.beta_2].map(number),
            epsilon: number(epsilon),
            coupled,
            bias,
        }
    }

    /// The weight after the step; updates the moments.
    #[inline(always)]
    pub(super) fn step(&self, weight: T, gradient: T, moment_1: &mut T, moment_2: &mut T) -> T {
        let gradient = match self.coupled {
            Some(decay) => weight * decay + gradient,
            None => gradient,
        };
        *moment_1 = *moment_1 * self.betas[0] + gradient * self.rests[0];
        *moment_2 = *moment_2 * self.betas[1] + gradient * gradient * self.rests[1];
        match self.bias {
            Bias::Combined(factor) => weight - *moment_1 * factor / (moment_2.square_root() + self.epsilon) * self.rate,
            Bias::Separate([first, second], shrinkage) => {
                let root = (*moment_2 / second).square_root() + self.epsilon;
                weight * shrinkage - *moment_1 / first / root * self.rate
            }
        }
    }
}
