//! A linear encoder of fixed data, and its gradients in batches.

use super::super::{noise::exponential, toy::normal};
use super::{ComparedLoss, rates::Rates};
use bcl_core::{Estimator, EstimatorConfig, Pairs, Reduction, SideInformation};
use bcl_data::{Seed, seed::Xoshiro256PlusPlus};
use burn::tensor::{DType, Device, Tensor, TensorData};
use rand::seq::SliceRandom;

const SAMPLES: usize = 256;
const FEATURES: usize = 16;
const GROUPS: usize = 8;
const DIM: usize = 8;
/// Steps of gradient descent before the encoder is kept, and their size.
const STEPS: usize = 10;
const STEP_SIZE: f64 = 0.5;
/// Passes over the data that fill running rates: what is left of the first batch is below a hundredth.
const WARM_UP: usize = 50;

/// Squares of bias and noise, relative to the squared length of the reference.
pub(super) struct Squares {
    pub bias: f64,
    pub noise: f64,
}

/// A linear encoder of fixed data: `[SAMPLES, FEATURES]` for either view, weights `[FEATURES, DIM]`.
pub(super) struct Encoder {
    views: [Vec<f64>; 2],
    weights: Vec<f64>,
    pub temperature: f64,
}

impl Encoder {
    /// Draws data and weights, and trains with the gradient of InfoNCE over all samples.
    pub(super) fn trained(seed: Seed, temperature: f64) -> Self {
        let mut rng = seed.named("data").rng();
        let mut normals = |count: usize, scale: f64| -> Vec<f64> { (0..count).map(|_| scale * normal(&mut rng)).collect() };
        let centres = normals(GROUPS * FEATURES, 1.0);
        let deviations = normals(SAMPLES * FEATURES, 0.7);
        let samples: Vec<f64> = deviations
            .iter()
            .enumerate()
            .map(|(index, deviation)| {
                let (sample, feature) = (index / FEATURES, index % FEATURES);
                centres[sample % GROUPS * FEATURES + feature] + deviation
            })
            .collect();
        let views = [0, 1].map(|_| {
            let noise = normals(SAMPLES * FEATURES, 0.4);
            samples.iter().zip(noise).map(|(sample, noise)| sample + noise).collect()
        });
        let mut encoder = Self {
            views,
            weights: normals(FEATURES * DIM, 0.25),
            temperature,
        };
        for _ in 0..STEPS {
            let gradient = encoder.whole(ComparedLoss::InfoNce);
            for (weight, slope) in encoder.weights.iter_mut().zip(gradient) {
                *weight -= STEP_SIZE * slope;
            }
        }
        encoder
    }

    /// The gradient of the loss of the whole data set.
    pub(super) fn whole(&self, loss: ComparedLoss) -> Vec<f64> {
        let all: Vec<usize> = (0..SAMPLES).collect();
        let estimator = loss.config(self.temperature).init();
        self.gradient(&all, |pairs| {
            estimator.losses(pairs, &SideInformation::none()).reduce(Reduction::Mean)
        })
    }

    /// The gradient of a loss of some samples with respect to the weights.
    fn gradient(&self, samples: &[usize], loss: impl FnOnce(Pairs) -> Tensor<1>) -> Vec<f64> {
        let weights = self.weights_on(&Device::flex().autodiff()).require_grad();
        let gradients = loss(self.pairs(samples, &weights)).backward();
        let gradient = weights.grad(&gradients).expect("the loss depends on the weights");
        gradient.try_into_vec_as().expect("the CPU can be read")
    }

    fn weights_on(&self, device: &Device) -> Tensor<2> {
        Tensor::from_data(TensorData::new(self.weights.clone(), [FEATURES, DIM]), (device, DType::F64))
    }

    /// Both views of some samples, encoded.
    fn pairs(&self, samples: &[usize], weights: &Tensor<2>) -> Pairs {
        let views = self.views.each_ref().map(|view| {
            let rows = samples.iter().flat_map(|&sample| &view[sample * FEATURES..][..FEATURES]);
            let rows = TensorData::new(rows.copied().collect::<Vec<f64>>(), [samples.len(), FEATURES]);
            Tensor::<2>::from_data(rows, (&weights.device(), DType::F64)).matmul(weights.clone())
        });
        views.into()
    }

    /// Measures gradients in random batches against a reference, in two independent chains of `passes` passes over the data together.
    pub(super) fn squares(&self, loss: ComparedLoss, batch_size: usize, passes: usize, reference: &[f64], seed: Seed) -> Squares {
        // Passes that share running rates depend on each other, so only the product of the two chains estimates the squared bias without bias.
        let [one, other] =
            [0, 1].map(|chain| self.deviations(loss, batch_size, passes.div_ceil(2), reference, seed.index(chain)));
        let scale = reference.iter().map(|slope| slope * slope).sum::<f64>();
        let products = one.mean.iter().zip(&other.mean).map(|(one, other)| one * other);
        let bias = products.sum::<f64>();
        Squares {
            bias: bias / scale,
            noise: (f64::midpoint(one.square, other.square) - bias) / scale,
        }
    }

    fn deviations(&self, loss: ComparedLoss, batch_size: usize, passes: usize, reference: &[f64], seed: Seed) -> Deviations {
        // Apart, so that all losses get the same batches.
        let (rng, of_rates) = (&mut seed.rng(), &mut seed.named("rates").rng());
        let mut rates = self.rates(loss, batch_size, of_rates);
        let number = (passes * (SAMPLES / batch_size)) as f64;
        let (mut mean, mut square) = (vec![0.0; reference.len()], 0.0);
        for _ in 0..passes {
            for (samples, noise) in batches(batch_size, rng) {
                let config = loss.config(self.temperature);
                let gradient = self.gradient(&samples, |pairs| losses(&config, pairs, noise, &samples, &mut rates));
                for ((mean, slope), reference) in mean.iter_mut().zip(gradient).zip(reference) {
                    *mean += (slope - reference) / number;
                    square += (slope - reference).powi(2) / number;
                }
            }
        }
        Deviations { mean, square }
    }

    /// The rates before the first pass that is measured.
    fn rates(&self, loss: ComparedLoss, batch_size: usize, rng: &mut Xoshiro256PlusPlus) -> Rates {
        let mut rates = Rates::new(SAMPLES, loss == ComparedLoss::AugmentedExact);
        let (passes, batch_size) = match loss {
            ComparedLoss::AugmentedRunning => (WARM_UP, batch_size),
            ComparedLoss::AugmentedExact => (1, SAMPLES),
            _ => (0, batch_size),
        };
        let weights = self.weights_on(&Device::flex());
        for (samples, noise) in (0..passes).flat_map(|_| batches(batch_size, rng)) {
            losses(
                &loss.config(self.temperature),
                self.pairs(&samples, &weights),
                noise,
                &samples,
                &mut rates,
            );
        }
        rates
    }
}

/// How far the gradients of batches are from a reference G.
struct Deviations {
    /// The mean of `g - G`.
    mean: Vec<f64>,
    /// The mean of `|g - G|²`.
    square: f64,
}

/// The batches of one pass over the data, in a random order, each with draws for its anchors.
fn batches(batch_size: usize, rng: &mut Xoshiro256PlusPlus) -> Vec<(Vec<usize>, Vec<f64>)> {
    let mut order: Vec<usize> = (0..SAMPLES).collect();
    order.shuffle(rng);
    let batches = order.chunks_exact(batch_size);
    batches
        .map(|samples| (samples.to_vec(), (0..2 * batch_size).map(|_| exponential(rng)).collect()))
        .collect()
}

/// The loss of a batch.
fn losses(config: &EstimatorConfig, pairs: Pairs, noise: Vec<f64>, samples: &[usize], rates: &mut Rates) -> Tensor<1> {
    let EstimatorConfig::Augmented(config) = config else {
        return config.init().losses(pairs, &SideInformation::none()).reduce(Reduction::Mean);
    };
    let (loss, scores) = (config.init(), pairs.into_scores());
    let device = scores.positives.device();
    let tensor = |values: Vec<f64>| Tensor::<1>::from_data(TensorData::from(&*values), (&device, DType::F64));
    let mut side = SideInformation::none().with_noise(tensor(noise));
    if loss.running().is_some() {
        let means: Vec<f64> = loss.log_means(&scores).try_into_vec_as().expect("the CPU can be read");
        side = side.with_log_rates(loss.log_rates(&scores, tensor(rates.log_of(samples, &means))));
        rates.update(samples, &means);
    }
    loss.losses(scores.into(), &side).reduce(Reduction::Mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bias(encoder: &Encoder, loss: ComparedLoss, batch_size: usize) -> f64 {
        let reference = encoder.whole(loss.reference());
        let squares = encoder.squares(loss, batch_size, 6, &reference, Seed(4));
        squares.bias.max(0.0).sqrt()
    }

    #[test]
    fn the_bias_falls_with_the_batch_and_is_gone_in_a_batch_of_all() {
        let encoder = Encoder::trained(Seed(1), 0.1);
        let [small, large] = [16, 64].map(|batch_size| bias(&encoder, ComparedLoss::Decoupled, batch_size));
        assert!(small > 0.5 && large < 0.5 * small, "{small} and {large}");
        assert!(bias(&encoder, ComparedLoss::Decoupled, SAMPLES) < 1e-6);
    }

    #[test]
    fn at_exact_rates_the_gradient_of_the_whole_data_set_is_the_decoupled_loss_s() {
        let encoder = Encoder::trained(Seed(1), 0.1);
        let mut rates = encoder.rates(ComparedLoss::AugmentedExact, SAMPLES, &mut Seed(2).rng());
        let all: Vec<usize> = (0..SAMPLES).collect();
        let config = ComparedLoss::AugmentedExact.config(0.1);
        let found = encoder.gradient(&all, |pairs| losses(&config, pairs, vec![1.0; 2 * SAMPLES], &all, &mut rates));
        for (found, expected) in found.iter().zip(encoder.whole(ComparedLoss::Decoupled)) {
            assert!((found - expected).abs() < 1e-10, "{found} and {expected}");
        }
    }
}
