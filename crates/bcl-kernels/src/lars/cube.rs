//! A step of LARS on GPUs: three launches, however many parameters there are.

use burn::backend::tensor::FloatTensor;
use burn::backend::{Cube, TensorMetadata};
use burn::tensor::DType;
use burn_cubecl::tensor::CubeTensor;
use cubecl::prelude::*;

use super::{LarsOps, LarsStep, composed, is_first};
use crate::cube::{THREADS, empty, owned, rows, sum_of_workgroup};
use crate::step_graph::cube::numbers;
use crate::together::cube::{Group, PART, Rule, Update, own_part, settle, submit};

impl LarsOps for Cube {
    fn lars(
        weight: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        velocity: FloatTensor<Self>,
        step: LarsStep,
    ) -> (FloatTensor<Self>, FloatTensor<Self>) {
        let tensors = [&weight, &gradient, &velocity];
        settle(&tensors);
        if weight.shape().num_elements() == 0 || tensors.iter().any(|tensor| tensor.dtype != DType::F32) {
            return composed::<Self>(weight, gradient, velocity, step);
        }
        let first = is_first::<Self>(&weight, &velocity);
        let (weight, gradient) = (rows(weight), rows(gradient));
        let like_weight = || empty(&weight, weight.shape(), DType::F32);
        let velocity = if first { like_weight() } else { owned(velocity) };
        let updated = like_weight();
        submit(Update {
            rule: Box::new(LarsRule::new(step, first)),
            tensors: vec![weight, gradient, velocity.clone(), updated.clone()],
            num_written: 2,
            shared: None,
            writes_shared: false,
        });
        (updated, velocity)
    }
}

/// The numbers of a step. Tensors: weight, gradient, velocity (written in place), new weight.
#[derive(Clone, Copy, PartialEq)]
struct LarsRule {
    rate: f64,
    momentum: f32,
    /// λ, 0 without adaptation.
    decay: f32,
    /// η
    trust: f32,
    adaptive: bool,
    /// Whether there is no velocity yet.
    first: bool,
}

impl LarsRule {
    fn new(step: LarsStep, first: bool) -> Self {
        let [decay, trust] = match step.adaptation {
            Some(adaptation) => [adaptation.weight_decay, adaptation.trust_coefficient],
            None => [0.0, 0.0],
        };
        Self {
            rate: step.rate,
            momentum: step.momentum,
            decay: decay as f32,
            trust: trust as f32,
            adaptive: step.adaptation.is_some(),
            first,
        }
    }

    /// `r` of each tensor.
    fn ratios(self, group: &Group) -> CubeTensor {
        let num_parts = group.num_parts();
        let [of_weights, of_updates] = [(); 2].map(|()| group.empty(num_parts));
        let [weights, gradients] = group.buffers();
        sum_squares::launch(
            group.client(),
            group.workgroups(),
            CubeDim::new_1d(THREADS),
            group.address_type(),
            weights,
            gradients,
            of_weights.clone().into_buffer_arg(),
            of_updates.clone().into_buffer_arg(),
            group.sizes(),
            self.decay,
        );
        let ratios = group.empty(group.len());
        trust_ratios::launch(
            group.client(),
            CubeCount::Static(group.len() as u32, 1, 1),
            CubeDim::new_1d(THREADS),
            group.address_type(),
            of_weights.into_buffer_arg(),
            of_updates.into_buffer_arg(),
            ratios.clone().into_buffer_arg(),
            group.sizes(),
            self.trust,
        );
        ratios
    }
}

impl Rule for LarsRule {
    fn launch(&self, group: &Group<'_>) {
        // Without adaptation nothing reads the ratios, but the kernel has a place for them.
        let ratios = if self.adaptive { self.ratios(group) } else { group.empty(1) };
        let (in_memory, is_in_memory) = numbers(group.tensor(), self.rate, |now| [now.rate as f32]);
        let [weights, gradients, velocities, updated] = group.buffers();
        lars_of_each::launch(
            group.client(),
            group.workgroups(),
            CubeDim::new_1d(THREADS),
            group.address_type(),
            weights,
            gradients,
            velocities,
            updated,
            ratios.into_buffer_arg(),
            in_memory.into_buffer_arg(),
            group.sizes(),
            self.rate as f32,
            self.momentum,
            self.decay,
            self.adaptive,
            self.first,
            is_in_memory,
        );
    }
}

/// The squares of `w` and of `u = g + λ w`, added up over each part of each tensor.
#[cube(launch, address_type = "dynamic")]
fn sum_squares(
    weights: &Sequence<Box<[f32]>>,
    gradients: &Sequence<Box<[f32]>>,
    of_weights: &mut [f32],
    of_updates: &mut [f32],
    sizes: &Sequence<usize>,
    decay: f32,
) {
    let mut of_weight = 0.0f32;
    let mut of_update = 0.0f32;
    let mut first = 0usize.runtime();
    #[unroll]
    for tensor in 0..sizes.len() {
        let size = sizes[tensor];
        let (start, end) = own_part(first, size);
        let mut position = start + UNIT_POS as usize;
        while position < end {
            let weight = weights[tensor][position];
            let update = gradients[tensor][position] + weight * decay;
            of_weight += weight * weight;
            of_update += update * update;
            position += THREADS as usize;
        }
        first += size.div_ceil(PART);
    }
    let mut scratch = Shared::<[u32]>::new_slice(comptime!(THREADS as usize));
    let of_weight = sum_of_workgroup(of_weight, &mut scratch);
    let of_update = sum_of_workgroup(of_update, &mut scratch);
    if UNIT_POS == 0 && CUBE_POS < first {
        of_weights[CUBE_POS] = of_weight;
        of_updates[CUBE_POS] = of_update;
    }
}

/// One workgroup per tensor adds up its parts.
#[cube(launch, address_type = "dynamic")]
fn trust_ratios(of_weights: &[f32], of_updates: &[f32], ratios: &mut [f32], sizes: &Sequence<usize>, trust: f32) {
    let mut part = 0usize.runtime();
    let mut last = 0usize.runtime();
    let mut first = 0usize.runtime();
    #[unroll]
    for tensor in 0..sizes.len() {
        let parts = sizes[tensor].div_ceil(PART);
        if CUBE_POS == tensor {
            part = first + UNIT_POS as usize;
            last = first + parts;
        }
        first += parts;
    }
    let mut of_weight = 0.0f32;
    let mut of_update = 0.0f32;
    while part < last {
        of_weight += of_weights[part];
        of_update += of_updates[part];
        part += THREADS as usize;
    }
    let mut scratch = Shared::<[u32]>::new_slice(comptime!(THREADS as usize));
    let of_weight = sum_of_workgroup(of_weight, &mut scratch);
    let of_update = sum_of_workgroup(of_update, &mut scratch);
    if UNIT_POS == 0 {
        let mut ratio = 1.0f32;
        if of_weight > 0.0f32 && of_update > 0.0f32 {
            ratio = of_weight.sqrt() / of_update.sqrt() * trust;
        }
        ratios[CUBE_POS] = ratio;
    }
}

#[cube(launch, address_type = "dynamic")]
#[allow(clippy::too_many_arguments)] // one binding or number each
fn lars_of_each(
    weights: &Sequence<Box<[f32]>>,
    gradients: &Sequence<Box<[f32]>>,
    velocities: &mut Sequence<Box<[f32]>>,
    updated: &mut Sequence<Box<[f32]>>,
    ratios: &[f32],
    in_memory: &[f32],
    sizes: &Sequence<usize>,
    rate: f32,
    momentum: f32,
    decay: f32,
    #[comptime] adaptive: bool,
    #[comptime] is_first: bool,
    #[comptime] is_in_memory: bool,
) {
    let mut rate = rate;
    if comptime!(is_in_memory) {
        rate = in_memory[0];
    }
    let mut first = 0usize.runtime();
    #[unroll]
    for tensor in 0..sizes.len() {
        let size = sizes[tensor];
        let velocity = &mut velocities[tensor];
        let new = &mut updated[tensor];
        let (start, end) = own_part(first, size);
        let mut position = start + UNIT_POS as usize;
        while position < end {
            let old = weights[tensor][position];
            let mut update = gradients[tensor][position];
            if comptime!(adaptive) {
                update = (update + old * decay) * (ratios[tensor] * rate);
            } else {
                update *= rate;
            }
            if comptime!(!is_first) {
                update += velocity[position] * momentum;
            }
            velocity[position] = update;
            new[position] = old - update;
            position += THREADS as usize;
        }
        first += size.div_ceil(PART);
    }
}
