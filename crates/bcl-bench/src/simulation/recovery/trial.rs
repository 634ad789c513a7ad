//! One seed of one world: all methods, with the same samples, views and first weights.

use super::clusters::{Clusters, Reading};
use super::loss::{Detected, loss};
use super::method::{RecoveryMethod, Source};
use super::network::{Adam, Network, output};
use super::probe::{Labelled, accuracy};
use super::world::{Samples, Scene, World};
use bcl_core::{Pairs, Similarity, unit_rows};
use bcl_data::Seed;
use burn::tensor::{Device, Tensor};
use rand::seq::SliceRandom;
use serde::Serialize;

/// Share by which the momentum network follows in each step.
const MOMENTUM_SHARE: f32 = 0.02;
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

/// The result of one method.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// The method.
    pub method: RecoveryMethod,
    /// Accuracy of the probe.
    pub accuracy: f64,
    /// The first detection, before any pair is attracted, and the last.
    pub readings: Option<[Reading; 2]>,
}

/// What all methods of one seed share.
pub(super) struct Trial {
    world: World,
    pub(super) size: RecoverySize,
    pub(super) seed: Seed,
    pub(super) samples: Samples,
    /// The samples of each step, and both views of them.
    steps: Vec<(Vec<usize>, [Tensor<2>; 2])>,
    /// Two views of all samples for each update of the bank.
    pub(super) for_bank: Vec<[Tensor<2>; 2]>,
    probe: [(Samples, Tensor<2>); 2],
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

    pub(super) fn run(&self, method: RecoveryMethod) -> Outcome {
        let (estimator, source) = (method.estimator(self.world), method.source());
        let mut network = Network::draw(self.seed);
        let mut momentum = network.clone();
        let mut adam = Adam::new(self.steps.len());
        let mut clusters = match source {
            Source::Clusters(detector) => Some(Clusters::new(detector, self)),
            Source::Nowhere | Source::Labels => None,
        };
        let steps_per_epoch = self.size.num_samples / self.size.batch_size;
        let device = Device::flex().autodiff();
        for (step, (which, views)) in self.steps.iter().enumerate() {
            if let Some(clusters) = &mut clusters
                && step.is_multiple_of(steps_per_epoch)
            {
                clusters.start_epoch(step / steps_per_epoch, &momentum, self);
            }
            let detected = Detected::of(which.len(), |first, second| {
                let (first, second) = (which[first], which[second]);
                match (source, &clusters) {
                    (Source::Labels, _) => f64::from(u8::from(self.samples.labels[first] == self.samples.labels[second])),
                    (_, Some(clusters)) => clusters.share(first, second),
                    _ => 0.0,
                }
            });
            let parameters = network.tensors(&device).map(Tensor::require_grad);
            let outputs = views.each_ref().map(|view| output(&parameters, view.clone().autodiff()));
            let [first, second] = outputs;
            let scores = Pairs::from_views(first, second, Similarity::Cosine).into_scores();
            let gradients = loss(&*estimator, scores, detected.as_ref(), method.use_of_pairs()).backward();
            let gradients = parameters.map(|parameter| {
                let gradient = parameter.grad(&gradients).expect("the loss depends on all parameters");
                to_host(gradient)
            });
            adam.step(&mut network, gradients);
            momentum.follow(&network, MOMENTUM_SHARE);
        }
        Outcome {
            method,
            accuracy: self.accuracy(&network),
            readings: clusters.map(Clusters::into_readings),
        }
    }

    fn accuracy(&self, network: &Network) -> f64 {
        let parameters = network.tensors(&Device::flex());
        let features = self
            .probe
            .each_ref()
            .map(|(_, views)| to_host(unit_rows(output(&parameters, views.clone()))));
        let [train, test] = [0, 1].map(|part| Labelled {
            features: &features[part],
            labels: &self.probe[part].0.labels,
        });
        accuracy(&train, &test, self.world.num_classes)
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Small enough for a test, with well separated classes.
    fn trial() -> Trial {
        let size = RecoverySize {
            num_samples: 256,
            batch_size: 32,
            epochs: 5,
            warm_up: 2,
            num_probe: 300,
        };
        Trial::draw(World::plain(30), size, Seed(1))
    }

    #[test]
    fn labels_help_and_a_run_repeats_bit_by_bit_on_any_number_of_threads() {
        let run = |threads: usize, method: RecoveryMethod| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| trial().run(method))
        };
        let found = run(1, RecoveryMethod::Finer);
        assert_eq!(found, run(3, RecoveryMethod::Finer));
        let [before, after] = found.readings.expect("clusters were read");
        assert!(before.candidates.len() > 3 && after.candidates.len() <= 3);
        let [plain, supervised] = [RecoveryMethod::InfoNce, RecoveryMethod::SupervisedAttract].map(|method| trial().run(method));
        assert!(plain.accuracy > 2.0 / 30.0, "{}", plain.accuracy);
        assert!(
            supervised.accuracy > plain.accuracy,
            "{} and {}",
            supervised.accuracy,
            plain.accuracy
        );
        assert_eq!(plain.readings, None);
    }
}
