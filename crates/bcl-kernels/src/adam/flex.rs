//! A step of Adam on the CPU: one pass, parallel over parts of the parameter.

use burn::backend::flex::FlexTensor;
use burn::backend::{Flex, TensorMetadata};
use burn::tensor::DType;
use pulp::Simd;
use rayon::prelude::*;

use super::lazy_flex::{self, Tensors};
use super::{AdamDecay, AdamOps, AdamStep, portable};
use crate::cpu::{self, Kernel, Value, by_float_type};

/// Numbers per task: five arrays of so many fit into the second-level cache, and a task takes tens of microseconds.
pub(super) const PART: usize = 1 << 14;

impl AdamOps for Flex {
    fn adam(
        weight: FlexTensor,
        gradient: FlexTensor,
        moment_1: FlexTensor,
        moment_2: FlexTensor,
        spare: FlexTensor,
        step: AdamStep,
    ) -> (FlexTensor, FlexTensor, FlexTensor, FlexTensor) {
        if !is_of_one_float_type(&weight, [&gradient, &moment_1, &moment_2]) {
            let (weight, moment_1, moment_2) = portable::adam::<Flex>(weight, gradient, moment_1, moment_2, step);
            return (weight, moment_1, moment_2, spare);
        }
        by_float_type!(weight, T => adam::<T>(weight, gradient, moment_1, moment_2, spare, step), unreachable!("one of both types"))
    }

    fn lazy_adam(
        weight: FlexTensor,
        gradient: FlexTensor,
        moment_1: FlexTensor,
        moment_2: FlexTensor,
        before: FlexTensor,
        after: FlexTensor,
        changed: FlexTensor,
        step: AdamStep,
    ) -> (FlexTensor, FlexTensor, FlexTensor, FlexTensor, FlexTensor) {
        if !is_of_one_float_type(&weight, [&gradient, &moment_1, &moment_2]) {
            let (weight, moment_1, moment_2) = portable::lazy_adam::<Flex>(weight, gradient, moment_1, moment_2, step);
            return (weight, moment_1, moment_2, before, changed);
        }
        let tensors = Tensors {
            weight,
            gradient,
            moment_1,
            moment_2,
            before,
            after,
            changed,
        };
        by_float_type!(tensors.weight, T => lazy_flex::lazy_adam::<T>(tensors, step), unreachable!("one of both types"))
    }
}

/// Whether all tensors have the same of the two types with a fast body.
fn is_of_one_float_type(weight: &FlexTensor, others: [&FlexTensor; 3]) -> bool {
    let dtype = weight.dtype();
    matches!(dtype, DType::F32 | DType::F64) && others.iter().all(|other| other.dtype() == dtype)
}

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

fn adam<T: Value>(
    weight: FlexTensor,
    gradient: FlexTensor,
    moment_1: FlexTensor,
    moment_2: FlexTensor,
    spare: FlexTensor,
    step: AdamStep,
) -> (FlexTensor, FlexTensor, FlexTensor, FlexTensor) {
    let numbers = Numbers::<T>::new(step);
    let gradient = cpu::contiguous(gradient);
    let [mut weight, mut moment_1, mut moment_2] = [weight, moment_1, moment_2].map(cpu::owned);
    if weight.is_unique() {
        let out = T::of_mut(&mut weight);
        update(
            out,
            None,
            T::of(&gradient),
            T::of_mut(&mut moment_1),
            T::of_mut(&mut moment_2),
            numbers,
        );
        return (weight, moment_1, moment_2, spare);
    }
    let mut out = reusable(spare, &weight).unwrap_or_else(|| new_like::<T>(&weight));
    update(
        T::of_mut(&mut out),
        Some(T::of(&weight)),
        T::of(&gradient),
        T::of_mut(&mut moment_1),
        T::of_mut(&mut moment_2),
        numbers,
    );
    (out, moment_1, moment_2, weight)
}

/// Updates `out` in place, or writes it from `weight`.
fn update<T: Value>(
    out: &mut [T],
    weight: Option<&[T]>,
    gradient: &[T],
    moment_1: &mut [T],
    moment_2: &mut [T],
    numbers: Numbers<T>,
) {
    let part = |out, number: usize, gradient, moment_1, moment_2| {
        let start = number * PART;
        Update {
            weight: weight.map(|weight| &weight[start..(start + PART).min(weight.len())]),
            out,
            gradient,
            moment_1,
            moment_2,
            numbers,
        }
        .dispatch();
    };
    // Waking the other threads takes longer than a small parameter.
    if out.len() <= PART {
        return part(out, 0, gradient, moment_1, moment_2);
    }
    out.par_chunks_mut(PART)
        .zip(gradient.par_chunks(PART))
        .zip(moment_1.par_chunks_mut(PART).zip(moment_2.par_chunks_mut(PART)))
        .enumerate()
        .for_each(|(number, ((out, gradient), (moment_1, moment_2)))| part(out, number, gradient, moment_1, moment_2));
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

/// Updates a part of a parameter.
struct Update<'a, T> {
    /// The weights before the step, unless they are in `out`.
    weight: Option<&'a [T]>,
    out: &'a mut [T],
    gradient: &'a [T],
    moment_1: &'a mut [T],
    moment_2: &'a mut [T],
    numbers: Numbers<T>,
}

impl<T: Value> Kernel for Update<'_, T> {
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let numbers = self.numbers;
        let moments = self.moment_1.iter_mut().zip(self.moment_2);
        let cells = self.out.iter_mut().zip(self.gradient).zip(moments);
        match self.weight {
            None => {
                for ((out, &gradient), (moment_1, moment_2)) in cells {
                    *out = numbers.step(*out, gradient, moment_1, moment_2);
                }
            }
            Some(weight) => {
                for (&weight, ((out, &gradient), (moment_1, moment_2))) in weight.iter().zip(cells) {
                    *out = numbers.step(weight, gradient, moment_1, moment_2);
                }
            }
        }
    }
}
