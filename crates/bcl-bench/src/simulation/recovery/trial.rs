//! One seed of one world: all methods, with the same samples, views and first weights.

use super::loss::{Detected, loss};
use super::method::{RecoveryMethod, Source};
use super::network::{Adam, HIDDEN, Network, hidden, output};
use super::probe::{Labelled, accuracy};
use super::world::{Samples, Scene, World};
use bcl_clusters::{Bank, Detection, Detector};
use bcl_core::{Pairs, Similarity, unit_rows};
use bcl_data::Seed;
use burn::tensor::{Device, Tensor};
use rand::seq::SliceRandom;
use serde::Serialize;

/// Share by which the momentum network follows in each step.
const MOMENTUM_SHARE: f32 = 0.02;
/// Principal components of the bank that are clustered.
const COMPONENTS: usize = 20;
/// Epochs between two detections, and detections between two that try all numbers of clusters.
const REFRESH: usize = 2;
const FULL: usize = 4;
/// Epochs over which detected pairs come to count in full.
const RAMP: f64 = 4.0;
/// Samples whose pairs are compared with the truth.
const COMPARED: usize = 1_000;

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

/// What a detector read, and what it would have had to read.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reading {
    /// Trust in the clusters.
    pub gate: f64,
    /// Their stability.
    pub stability: f64,
    /// Their number.
    pub num_clusters: usize,
    /// Share of pairs with P > 0.
    pub touched: f64,
    /// Share of pairs with P > 0 that share a class.
    pub precision: f64,
    /// Share of pairs of a class with P > 0.
    pub recall: f64,
    /// Every number of clusters that was tried, with its stability.
    pub candidates: Vec<(usize, f64)>,
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
    size: RecoverySize,
    seed: Seed,
    samples: Samples,
    /// The samples of each step, and both views of them.
    steps: Vec<(Vec<usize>, [Tensor<2>; 2])>,
    /// Two views of all samples for each update of the bank.
    for_bank: Vec<[Tensor<2>; 2]>,
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
    fn first_update(&self) -> usize {
        self.warm_up.saturating_sub(2)
    }
}

/// The bank and what was detected in it.
struct Clusters {
    detector: Detector,
    bank: Bank,
    detection: Option<Detection>,
    lambda: f64,
    readings: Vec<Reading>,
}

impl Clusters {
    fn new(detector: Detector, trial: &Trial) -> Self {
        Self {
            detector,
            bank: Bank::new(trial.samples.len(), HIDDEN),
            detection: None,
            lambda: 0.0,
            readings: Vec::new(),
        }
    }

    /// λP of two samples.
    fn share(&self, first: usize, second: usize) -> f64 {
        let probability = |found: &Detection| self.lambda * found.probability(first, second);
        self.detection.as_ref().map_or(0.0, probability)
    }

    fn start_epoch(&mut self, epoch: usize, momentum: &Network, trial: &Trial) {
        let size = &trial.size;
        let Some(update) = epoch.checked_sub(size.first_update()) else {
            return;
        };
        let parameters = momentum.tensors(&Device::flex());
        let [first, second] = trial.for_bank[update]
            .each_ref()
            .map(|views| unit_rows(hidden(&parameters, views.clone())));
        let means = to_host((first + second) * 0.5);
        for (row, features) in means.chunks_exact(HIDDEN).enumerate() {
            self.bank.update(row, features).expect("features are finite");
        }
        let Some(since) = epoch.checked_sub(size.warm_up) else {
            return;
        };
        if since.is_multiple_of(REFRESH) {
            self.detect(since / REFRESH, trial);
        }
        let gate = self.detection.as_ref().map_or(0.0, |found| found.gate);
        self.lambda = gate * ((since + 1) as f64 / RAMP).min(1.0);
    }

    fn detect(&mut self, refresh: usize, trial: &Trial) {
        let near = match &self.detection {
            Some(found) if !refresh.is_multiple_of(FULL) => Some(found.num_clusters),
            _ => None,
        };
        let points = self.bank.points().and_then(|points| points.principal_components(COMPONENTS));
        let mut rng = trial.seed.named("clusters").index(refresh as u64).rng();
        let found = points.and_then(|points| self.detector.detect(&points, near, &mut rng));
        let found = found.expect("there are finite features of thousands of samples");
        self.readings.push(reading(&found, &trial.samples.labels));
        self.detection = Some(found);
    }

    fn into_readings(self) -> [Reading; 2] {
        let ends = [self.readings.first(), self.readings.last()];
        ends.map(|reading| reading.cloned().expect("training goes on after the first detection"))
    }
}

/// Compares a detection with the truth.
fn reading(found: &Detection, labels: &[usize]) -> Reading {
    let (mut touched, mut same, mut both) = (0_usize, 0_usize, 0_usize);
    let count = labels.len().min(COMPARED);
    for first in 0..count {
        for second in 0..first {
            let is_touched = found.probability(first, second) > 0.0;
            let is_same = labels[first] == labels[second];
            touched += usize::from(is_touched);
            same += usize::from(is_same);
            both += usize::from(is_touched && is_same);
        }
    }
    let share = |part: usize, whole: usize| part as f64 / whole.max(1) as f64;
    Reading {
        gate: found.gate,
        stability: found.stability,
        num_clusters: found.num_clusters,
        touched: share(touched, count * (count - 1) / 2),
        precision: share(both, touched),
        recall: share(both, same),
        candidates: found.candidates.clone(),
    }
}

fn to_host(tensor: Tensor<2>) -> Vec<f32> {
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

    #[test]
    fn a_reading_counts_pairs() {
        let found = Detection {
            labels: [vec![0, 0, 1, 1], vec![0, 0, 1, 2]],
            num_clusters: 3,
            stability: 0.2,
            gate: 0.5,
            candidates: Vec::new(),
        };
        // Touched: (0, 1) and (2, 3); of one class: (0, 1), (0, 3) and (1, 3).
        let found = reading(&found, &[5, 5, 6, 5]);
        assert_eq!([found.touched, found.precision, found.recall], [2.0 / 6.0, 0.5, 1.0 / 3.0]);
    }
}
