//! A step of Adam on GPUs: few launches for all parameters instead of a dozen per parameter, and each number read once.

use burn::backend::tensor::FloatTensor;
use burn::backend::{Cube, TensorMetadata};
use burn::tensor::DType;
use cubecl::prelude::*;

use super::{AdamDecay, AdamOps, AdamStep, portable};
use crate::cube::{THREADS, empty, owned, rows};
use crate::step_graph::{Now, cube::numbers};
use crate::together::cube::{Group, PART, Rule, Update, own_part, settle, submit};

impl AdamOps for Cube {
    fn adam(
        weight: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        moment_1: FloatTensor<Self>,
        moment_2: FloatTensor<Self>,
        spare: FloatTensor<Self>,
        step: AdamStep,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        let tensors = [&weight, &gradient, &moment_1, &moment_2];
        settle(&tensors);
        if weight.shape().num_elements() == 0 || tensors.iter().any(|tensor| tensor.dtype != DType::F32) {
            let (weight, moment_1, moment_2) = portable::adam::<Self>(weight, gradient, moment_1, moment_2, step);
            return (weight, moment_1, moment_2, spare);
        }
        let (weight, gradient) = (rows(weight), rows(gradient));
        let (moment_1, moment_2) = (owned(moment_1), owned(moment_2));
        let updated = empty(&weight, weight.shape(), DType::F32);
        submit(Update {
            rule: Box::new(AdamRule(step)),
            tensors: vec![weight, gradient, moment_1.clone(), moment_2.clone(), updated.clone()],
            num_written: 3,
            shared: None,
            writes_shared: false,
        });
        (updated, moment_1, moment_2, spare)
    }
}

/// Tensors: weight, gradient, both moments (written in place), new weight.
#[derive(Clone, Copy, PartialEq)]
struct AdamRule(AdamStep);

impl AdamRule {
    fn is_decoupled(self) -> bool {
        matches!(self.0.decay, AdamDecay::Decoupled(_))
    }

    /// What differs from step to step: the rate; λ for Adam, and the factor of the weights for `AdamW`; the factor of the first moment; for `AdamW` the factor of the
    /// second; ε.
    fn numbers(self) -> [f32; 5] {
        let step = self.0;
        let decay = match step.decay {
            AdamDecay::Coupled(decay) => decay,
            AdamDecay::Decoupled(decay) => step.shrinkage(decay) as f32,
        };
        let [first, second] = step.corrections();
        let [factor, epsilon] = if self.is_decoupled() {
            [first.recip(), step.epsilon]
        } else {
            step.combined()
        };
        [step.rate as f32, decay, factor, second.recip(), epsilon]
    }

    /// The step when it is replayed.
    fn at(self, now: Now) -> Self {
        Self(AdamStep {
            rate: now.rate,
            time: self.0.time + now.replays,
            ..self.0
        })
    }
}

impl Rule for AdamRule {
    fn launch(&self, group: &Group<'_>) {
        let (rule, step) = (*self, self.0);
        let (in_memory, are_in_memory) = numbers(group.tensor(), step.rate, move |now| rule.at(now).numbers());
        let [rate, decay, factor, correction, epsilon] = self.numbers();
        let [weights, gradients, moments_1, moments_2, updated] = group.buffers();
        adam_of_each::launch(
            group.client(),
            group.workgroups(),
            CubeDim::new_1d(THREADS),
            group.address_type(),
            weights,
            gradients,
            moments_1,
            moments_2,
            updated,
            in_memory.into_buffer_arg(),
            group.sizes(),
            rate,
            step.beta_1,
            step.beta_2,
            decay,
            factor,
            correction,
            epsilon,
            self.is_decoupled(),
            are_in_memory,
        );
    }
}

/// Adam and `AdamW` differ in where the corrections and ε stand.
#[cube(launch, address_type = "dynamic")]
#[allow(clippy::too_many_arguments)] // one binding or number each
fn adam_of_each(
    weights: &Sequence<Box<[f32]>>,
    gradients: &Sequence<Box<[f32]>>,
    moments_1: &mut Sequence<Box<[f32]>>,
    moments_2: &mut Sequence<Box<[f32]>>,
    updated: &mut Sequence<Box<[f32]>>,
    in_memory: &[f32],
    sizes: &Sequence<usize>,
    rate: f32,
    beta_1: f32,
    beta_2: f32,
    decay: f32,
    factor: f32,
    correction: f32,
    epsilon: f32,
    #[comptime] decoupled: bool,
    #[comptime] are_in_memory: bool,
) {
    let mut rate = rate;
    let mut decay = decay;
    let mut factor = factor;
    let mut correction = correction;
    let mut epsilon = epsilon;
    if comptime!(are_in_memory) {
        rate = in_memory[0];
        decay = in_memory[1];
        factor = in_memory[2];
        correction = in_memory[3];
        epsilon = in_memory[4];
    }
    let mut first = 0usize.runtime();
    #[unroll]
    for tensor in 0..sizes.len() {
        let size = sizes[tensor];
        let moment_1 = &mut moments_1[tensor];
        let moment_2 = &mut moments_2[tensor];
        let new = &mut updated[tensor];
        let (start, end) = own_part(first, size);
        let mut position = start + UNIT_POS as usize;
        while position < end {
            let mut old = weights[tensor][position];
            let mut slope = gradients[tensor][position];
            if comptime!(decoupled) {
                old *= decay;
            } else {
                slope += old * decay;
            }
            let mean = moment_1[position] * beta_1 + slope * (1.0f32 - beta_1);
            let mut square = moment_2[position] * beta_2 + slope * slope * (1.0f32 - beta_2);
            moment_1[position] = mean;
            moment_2[position] = square;
            if comptime!(decoupled) {
                square *= correction;
            }
            new[position] = old - rate * (mean * factor / (square.sqrt() + epsilon));
            position += THREADS as usize;
        }
        first += size.div_ceil(PART);
    }
}
