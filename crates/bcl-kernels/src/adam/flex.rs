//! A step of Adam on the CPU: one pass, parallel over parts of the parameter.

use burn::backend::Flex;
use burn::backend::flex::FlexTensor;
use burn::tensor::DType;
use pulp::Simd;
use rayon::prelude::*;

use super::lazy_flex::{self, Tensors};
use super::numbers::{Numbers, PART, new_like, reusable};
use super::{AdamOps, AdamStep, portable};
use crate::cpu::{self, Kernel, Value, by_float_type};

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
