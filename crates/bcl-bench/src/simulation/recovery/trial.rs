//! One seed of one world: the samples and views that all methods share.

use super::world::{Samples, Scene, World};
use bcl_data::Seed;
use burn::tensor::Tensor;
use rand::seq::SliceRandom;
use serde::Serialize;

/// The size of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RecoverySize {
    /// Training samples.
    pub num_samples: usize,
    /// Samples per batch, with two views each.
    pub batch_size: usize,
    /// Epochs.
    pub epochs: usize,
    /// Epochs before the first detection.
    pub warm_up: usize,
    /// Samples that fit the probe, and as many that test it.
    pub num_probe: usize,
}

impl Default for RecoverySize {
    fn default() -> Self {
        Self {
            num_samples: 4_096,
            batch_size: 64,
            epochs: 16,
            warm_up: 4,
            num_probe: 4_000,
        }
    }
}

/// What all methods of one seed share.
pub(super) struct Trial {
    pub(super) world: World,
    pub(super) size: RecoverySize,
    pub(super) seed: Seed,
    pub(super) samples: Samples,
    /// The samples of each step, and both views of them.
    pub(super) steps: Vec<(Vec<usize>, [Tensor<2>; 2])>,
    /// Two views of all samples for each update of the bank.
    pub(super) for_bank: Vec<[Tensor<2>; 2]>,
    pub(super) probe: [(Samples, Tensor<2>); 2],
}

impl Trial {
    pub(super) fn draw(world: World, size: RecoverySize, seed: Seed) -> Self {
        let scene = Scene::draw(world, seed);
        let samples = scene.samples(size.num_samples, &mut seed.named("samples").rng());
        let mut rng = seed.named("training").rng();
        let mut order: Vec<usize> = (0..samples.len()).collect();
        let mut steps = Vec::new();
        for _ in 0..size.epochs {
            order.shuffle(&mut rng);
            for which in order.chunks_exact(size.batch_size) {
                let views = [0, 1].map(|_| scene.views(&samples, which, &mut rng));
                steps.push((which.to_vec(), views));
            }
        }
        let mut rng = seed.named("bank").rng();
        let all: Vec<usize> = (0..samples.len()).collect();
        let updates = size.epochs - size.first_update();
        let for_bank = (0..updates)
            .map(|_| [0, 1].map(|_| scene.views(&samples, &all, &mut rng)))
            .collect();
        let mut rng = seed.named("probe").rng();
        let probe = [0, 1].map(|_| {
            let samples = scene.samples(size.num_probe, &mut rng);
            let all: Vec<usize> = (0..samples.len()).collect();
            let views = scene.views(&samples, &all, &mut rng);
            (samples, views)
        });
        Self {
            world,
            size,
            seed,
            samples,
            steps,
            for_bank,
            probe,
        }
    }
}

impl RecoverySize {
    /// The epoch before which the bank is updated first.
    pub(super) fn first_update(&self) -> usize {
        self.warm_up.saturating_sub(2)
    }
}

pub(super) fn to_host(tensor: Tensor<2>) -> Vec<f32> {
    tensor.try_into_vec_as().expect("the CPU can be read")
}
