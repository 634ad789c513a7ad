//! Trains one method on the samples of a trial, and probes it.

use super::clusters::{Clusters, Reading};
use super::loss::{Detected, loss};
use super::method::{RecoveryMethod, Source};
use super::network::{Adam, Network, output};
use super::probe::{Labelled, accuracy};
use super::trial::{Trial, to_host};
use bcl_core::{Pairs, Similarity, unit_rows};
use burn::tensor::{Device, Tensor};
use serde::Serialize;

/// Share by which the momentum network follows in each step.
const MOMENTUM_SHARE: f32 = 0.02;

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

impl Trial {
    /// Trains a method from the first weights of the seed.
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

#[cfg(test)]
mod tests {
    use super::super::trial::RecoverySize;
    use super::super::world::World;
    use super::*;
    use bcl_data::Seed;

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
