//! Steps that are recorded once and replayed have the bits of steps that are computed one by one.

use super::{common::Numbers, gpu};
use bcl_kernels::{
    AdamDecay, AdamInput, AdamStep, LarsAdaptation, LarsInput, LarsStep, Replays, StepGraph, StepRecorder, adam, in_own_memory,
    lars, overwrite, replays, together,
};
use burn::tensor::{DType, Device, Tensor};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Warm-up steps before the recorded one.
const WARM_UP: usize = 2;
const STEPS: usize = 7;

/// Two weights, as more than one workgroup and launch has them, and the state of their optimizer.
struct Training {
    weights: Vec<Tensor<2>>,
    state: Vec<Option<[Tensor<2>; 2]>>,
    time: usize,
    replays: Option<Replays>,
    rule: Rule,
}

#[derive(Debug, Clone, Copy)]
enum Rule {
    Adam(AdamDecay),
    Lars(Option<LarsAdaptation>),
}

const RULES: [Rule; 4] = [
    Rule::Adam(AdamDecay::Coupled(0.1)),
    Rule::Adam(AdamDecay::Decoupled(0.1)),
    Rule::Lars(None),
    Rule::Lars(Some(LarsAdaptation {
        trust_coefficient: 0.02,
        weight_decay: 0.1,
    })),
];

fn matrix(seed: usize, shape: [usize; 2], device: &Device) -> Tensor<2> {
    Numbers(seed as u64).matrix(shape, DType::F32, device)
}

/// The learning rate and the batch of a step.
fn rate(step: usize) -> f64 {
    0.01 / (step + 1) as f64
}

fn batch(step: usize, device: &Device) -> Tensor<2> {
    matrix(100 + step, [16, 90], device)
}

/// Burn copies data when it is first looked at, so this looks at once.
fn read(tensor: &Tensor<2>) -> Vec<f32> {
    tensor.to_data().iter().collect()
}

impl Training {
    fn new(rule: Rule, device: &Device) -> Self {
        Self {
            weights: vec![matrix(1, [90, 70], device), matrix(2, [70, 3], device)],
            state: vec![None, None],
            time: 0,
            replays: None,
            rule,
        }
    }

    /// Number of steps so far.
    fn time(&self) -> usize {
        self.time - usize::from(self.replays.is_some()) + self.replays.as_ref().map_or(0, Replays::count)
    }

    /// Returns a loss, and leaves the new weights in the memory of the old ones.
    fn step(&mut self, batch: Tensor<2>, rate: f64) -> Tensor<2> {
        let [first, second] = [0, 1].map(|layer| self.weights[layer].clone());
        let hidden = batch.clone().matmul(first).tanh();
        let out = hidden.clone().matmul(second.clone());
        let gradients = [
            batch.transpose().matmul(out.clone().matmul(second.transpose())),
            hidden.transpose().matmul(out.clone()),
        ];
        self.time = self.time() + 1;
        self.replays = replays();
        let updated: Vec<_> = together(|| {
            let layers = self.weights.iter().zip(gradients).zip(&mut self.state);
            layers
                .map(|((weight, gradient), state)| {
                    let (updated, new) = updated(self.rule, self.time, rate, weight.clone(), gradient, state.take());
                    *state = Some(new);
                    updated
                })
                .collect()
        });
        together(|| {
            for (weight, updated) in self.weights.iter().zip(updated) {
                overwrite(weight, updated);
            }
        });
        out.powf_scalar(2.0).sum_dim(0)
    }

    fn numbers(&self) -> Vec<Vec<f32>> {
        let state = self.state.iter().flatten().flatten();
        self.weights.iter().chain(state).map(read).collect()
    }
}

fn updated(
    rule: Rule,
    time: usize,
    rate: f64,
    weight: Tensor<2>,
    gradient: Tensor<2>,
    state: Option<[Tensor<2>; 2]>,
) -> (Tensor<2>, [Tensor<2>; 2]) {
    match rule {
        Rule::Adam(decay) => {
            let step = AdamStep {
                rate,
                beta_1: 0.9,
                beta_2: 0.999,
                epsilon: 1e-8,
                decay,
                time,
            };
            let input = AdamInput {
                weight,
                gradient,
                moments: state,
                spare: None,
            };
            let updated = adam(input, step);
            (updated.weight, updated.moments)
        }
        Rule::Lars(adaptation) => {
            let step = LarsStep {
                rate,
                momentum: 0.9,
                adaptation,
            };
            let (velocity, unused) = state.map_or_else(
                || (None, Tensor::zeros([1, 1], &weight.device())),
                |[velocity, unused]| (Some(velocity), unused),
            );
            let input = LarsInput {
                weight,
                gradient,
                velocity,
            };
            let updated = lars(input, step);
            (updated.weight, [updated.velocity, unused])
        }
    }
}

/// Losses of all steps, and weights and state after them.
type Outcome = (Vec<Vec<f32>>, Vec<Vec<f32>>);

fn one_by_one(rule: Rule, device: &Device) -> Outcome {
    let mut training = Training::new(rule, device);
    let losses = (0..STEPS).map(|step| read(&training.step(batch(step, device), rate(step))));
    (losses.collect(), training.numbers())
}

fn replayed(rule: Rule, device: &Device) -> Outcome {
    let mut training = Training::new(rule, device);
    let input = in_own_memory(batch(0, device) * 0.0);
    let mut losses = Vec::new();
    let recorder = StepRecorder::prepare(device).unwrap().expect("a GPU has graphs");
    for step in 0..WARM_UP {
        overwrite(&input, batch(step, device));
        losses.push(read(&training.step(input.clone(), rate(step))));
    }
    overwrite(&input, batch(WARM_UP, device));
    let recorder = recorder.begin().unwrap();
    // The rate at which a step is recorded does not count.
    let loss = training.step(input.clone(), 123.0);
    let mut graph: StepGraph = recorder.end().unwrap();
    assert_eq!(training.time(), WARM_UP, "it has not run yet");
    for step in WARM_UP..STEPS {
        overwrite(&input, batch(step, device));
        graph.replay(rate(step));
        losses.push(read(&loss));
    }
    assert_eq!(training.time(), STEPS);
    (losses, training.numbers())
}

#[test]
fn replayed_steps_have_the_bits_of_steps_one_by_one() {
    let device = gpu();
    for rule in RULES {
        let (expected_losses, expected) = one_by_one(rule, &device);
        let (losses, found) = replayed(rule, &device);
        for (step, (found, expected)) in losses.iter().zip(&expected_losses).enumerate() {
            assert_eq!(found, expected, "{rule:?}, step {step}");
        }
        assert_eq!(found, expected, "{rule:?}");
        assert!(expected.iter().flatten().all(|number| number.is_finite()), "{rule:?}");
    }
}

#[test]
fn a_step_computes_as_always_after_a_recording_was_given_up() {
    let device = gpu();
    let rule = RULES[0];
    let expected = one_by_one(rule, &device);
    let prepared = StepRecorder::prepare(&device).unwrap().expect("a GPU has graphs");
    drop(prepared.begin().unwrap());
    drop(StepRecorder::prepare(&device).unwrap());
    assert!(replays().is_none());
    assert_eq!(one_by_one(rule, &device).1, expected.1);
    // And a later one succeeds.
    assert_eq!(replayed(rule, &device).1, expected.1);
}

#[test]
fn a_step_that_reads_from_the_device_is_not_recorded() {
    let device = gpu();
    let mut training = Training::new(RULES[0], &device);
    let recorder = StepRecorder::prepare(&device).unwrap().expect("a GPU has graphs");
    for step in 0..WARM_UP {
        training.step(batch(step, &device), rate(step));
    }
    let input = batch(WARM_UP, &device);
    let recorder = recorder.begin().unwrap();
    let loss = training.step(input, 0.1);
    assert!(
        catch_unwind(AssertUnwindSafe(|| read(&loss))).is_err(),
        "nothing was computed"
    );
    drop(recorder);
    assert_eq!(read(&matrix(3, [2, 2], &device)).len(), 4, "the device works again");
}

#[test]
fn the_processor_has_no_graphs() {
    assert!(StepRecorder::prepare(&Device::flex()).unwrap().is_none());
    let (tensor, values) = (Tensor::<1>::zeros([2], &Device::flex()), Tensor::ones([2], &Device::flex()));
    assert_eq!(overwrite(&tensor, values).into_data().iter::<f32>().sum::<f32>(), 2.0);
}
