//! The worlds: samples whose classes are known, and random views of them.

use bcl_core::matmul;
use bcl_data::{Seed, seed::Xoshiro256PlusPlus};
use burn::tensor::{Device, Tensor, TensorData};
use rand::RngExt;
use serde::Serialize;
use std::f64::consts::PI;

/// Dimensions with the class, beside it, and of noise.
const CLASS: usize = 16;
const BESIDE: usize = 16;
const NOISE: usize = 32;
/// Dimensions of a sample without noise, and of a view.
const LATENT: usize = CLASS + BESIDE;
pub(super) const VIEW: usize = LATENT + NOISE;
/// Sub-clusters per class, and nuisance clusters.
const SUB_CLUSTERS: usize = 3;
const NUISANCES: usize = 10;
/// Degrees of freedom of heavy tails.
const TAIL: usize = 5;

/// What a world has beside its classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Structure {
    /// Classes only.
    Plain,
    /// Three sub-clusters per class.
    SubClusters,
    /// The largest class has ten times the samples of the smallest.
    Imbalance,
    /// Every class has a covariance of its own, and tails are heavy: Student's t with five degrees of freedom.
    Shapes,
    /// Ten clusters that are independent of the class.
    Nuisance,
}

/// A distribution of samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct World {
    /// Number of classes C.
    pub num_classes: usize,
    /// What there is beside them.
    pub structure: Structure,
}

impl World {
    pub(super) const ALL: [Self; 8] = [
        Self::plain(2),
        Self::plain(4),
        Self::plain(10),
        Self::plain(30),
        Self::ten(Structure::SubClusters),
        Self::ten(Structure::Imbalance),
        Self::ten(Structure::Shapes),
        Self::ten(Structure::Nuisance),
    ];

    pub(super) const fn plain(num_classes: usize) -> Self {
        Self {
            num_classes,
            structure: Structure::Plain,
        }
    }

    pub(super) const fn ten(structure: Structure) -> Self {
        Self {
            num_classes: 10,
            structure,
        }
    }

    pub(super) fn name(self) -> String {
        match self.structure {
            Structure::Plain => format!("C = {}", self.num_classes),
            Structure::SubClusters => "3 sub-clusters per class".to_owned(),
            Structure::Imbalance => "imbalance 10:1".to_owned(),
            Structure::Shapes => "shapes and heavy tails".to_owned(),
            Structure::Nuisance => "10 nuisance clusters".to_owned(),
        }
    }

    /// Distance of the classes.
    fn separation(self) -> f64 {
        match self.num_classes {
            2 => 0.4,
            4 => 0.6,
            30 => 1.6,
            _ => 1.0,
        }
    }

    /// The probability of each class.
    fn prior(self) -> Vec<f64> {
        let last = (self.num_classes - 1) as f64;
        let weight = |class: usize| match self.structure {
            Structure::Imbalance => 10f64.powf(-(class as f64) / last),
            _ => 1.0,
        };
        let weights: Vec<f64> = (0..self.num_classes).map(weight).collect();
        let sum: f64 = weights.iter().sum();
        weights.into_iter().map(|weight| weight / sum).collect()
    }

    /// The probability that two samples share a class, τ+.
    pub(super) fn tau_plus(self) -> f64 {
        self.prior().into_iter().map(|share| share * share).sum()
    }
}

/// Samples with their classes.
pub(super) struct Samples {
    pub labels: Vec<usize>,
    /// `[num_samples, LATENT]`
    latents: Vec<f32>,
}

impl Samples {
    pub(super) fn len(&self) -> usize {
        self.labels.len()
    }
}

/// A world with its random centres and its random mixing.
pub(super) struct Scene {
    world: World,
    centres: Vec<f64>,
    sub_centres: Vec<f64>,
    nuisances: Vec<f64>,
    /// `[VIEW, VIEW]`
    mixing: Vec<f32>,
    /// `[num_classes, CLASS, CLASS]`: turns unit noise into noise of a class. Variances are 1 on average.
    shapes: Vec<f64>,
}

impl Scene {
    pub(super) fn draw(world: World, seed: Seed) -> Self {
        let mut rng = seed.named("scene").rng();
        let mut normals =
            |count: usize, scale: f64| -> Vec<f64> { normals(count, &mut rng).map(|value| scale * value).collect() };
        let separation = world.separation();
        Self {
            world,
            centres: normals(world.num_classes * CLASS, separation),
            sub_centres: normals(world.num_classes * SUB_CLUSTERS * CLASS, separation),
            nuisances: normals(NUISANCES * BESIDE, 1.0),
            mixing: normals(VIEW * VIEW, 0.25).into_iter().map(|value| value as f32).collect(),
            shapes: normals(world.num_classes * CLASS * CLASS, (CLASS as f64).sqrt().recip()),
        }
    }

    pub(super) fn samples(&self, count: usize, rng: &mut Xoshiro256PlusPlus) -> Samples {
        let prior = self.world.prior();
        let mut samples = Samples {
            labels: Vec::with_capacity(count),
            latents: Vec::with_capacity(count * LATENT),
        };
        for _ in 0..count {
            let mut left = rng.random::<f64>();
            let class = prior.iter().position(|share| {
                left -= share;
                left < 0.0
            });
            let class = class.unwrap_or(self.world.num_classes - 1);
            // Drawn in every world, so that worlds differ as little as they can.
            let (sub, nuisance) = (rng.random_range(0..SUB_CLUSTERS), rng.random_range(0..NUISANCES));
            let sub = &self.sub_centres[(class * SUB_CLUSTERS + sub) * CLASS..][..CLASS];
            let mut noise: Vec<f64> = normals(LATENT, rng).collect();
            if self.world.structure == Structure::Shapes {
                let shaped = self.shaped(class, &noise[..CLASS], rng);
                noise[..CLASS].copy_from_slice(&shaped);
            }
            for dim in 0..CLASS {
                let of_sub = if self.world.structure == Structure::SubClusters {
                    sub[dim]
                } else {
                    0.0
                };
                let value = self.centres[class * CLASS + dim] + of_sub + 0.7 * noise[dim];
                samples.latents.push(value as f32);
            }
            for dim in 0..BESIDE {
                let noise = noise[CLASS + dim];
                let value = match self.world.structure {
                    Structure::Nuisance => self.nuisances[nuisance * BESIDE + dim] + 0.7 * noise,
                    _ => 1.3 * noise,
                };
                samples.latents.push(value as f32);
            }
            samples.labels.push(class);
        }
        samples
    }

    /// Noise of a class from unit noise: with the covariance of the class, and as a multivariate t, which divides all dimensions by one draw.
    fn shaped(&self, class: usize, noise: &[f64], rng: &mut Xoshiro256PlusPlus) -> [f64; CLASS] {
        let shape = &self.shapes[class * CLASS * CLASS..][..CLASS * CLASS];
        let squares: f64 = normals(TAIL, rng).map(|value| value * value).sum();
        let scale = ((TAIL - 2) as f64 / squares).sqrt();
        let product = |dim: usize| {
            let row = &shape[dim * CLASS..][..CLASS];
            row.iter().zip(noise).map(|(weight, value)| weight * value).sum::<f64>()
        };
        std::array::from_fn(|dim| scale * product(dim))
    }

    /// One fresh view of each of some samples, `[count, VIEW]`: `tanh([L + 0.5 N, N] M)`.
    pub(super) fn views(&self, samples: &Samples, which: &[usize], rng: &mut Xoshiro256PlusPlus) -> Tensor<2> {
        let mut rows = Vec::with_capacity(which.len() * VIEW);
        for &sample in which {
            let latent = &samples.latents[sample * LATENT..][..LATENT];
            let noise = normals(VIEW, rng).enumerate();
            rows.extend(noise.map(|(dim, noise)| match latent.get(dim) {
                Some(value) => value + 0.5 * noise as f32,
                None => noise as f32,
            }));
        }
        let device = Device::flex();
        let rows = Tensor::from_data(TensorData::new(rows, [which.len(), VIEW]), &device);
        let mixing = Tensor::from_data(TensorData::new(self.mixing.clone(), [VIEW, VIEW]), &device);
        matmul(rows, mixing).tanh()
    }
}

/// Draws of N(0, 1), two per radius and angle (Box and Muller).
pub(super) fn normals(count: usize, rng: &mut Xoshiro256PlusPlus) -> impl Iterator<Item = f64> {
    let pairs = (0..count.div_ceil(2)).flat_map(|_| {
        let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
        let (sin, cos) = (2.0 * PI * rng.random::<f64>()).sin_cos();
        [radius * cos, radius * sin]
    });
    pairs.take(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_have_their_shares_and_pairs_their_prior() {
        let world = World::ten(Structure::Imbalance);
        let samples = Scene::draw(world, Seed(1)).samples(20_000, &mut Seed(2).rng());
        let count = |class: usize| samples.labels.iter().filter(|&&label| label == class).count() as f64;
        let ratio = count(0) / count(9);
        assert!((ratio - 10.0).abs() < 1.5, "{ratio}");
        let pairs: f64 = (0..10).map(|class| (count(class) / 20_000.0).powi(2)).sum();
        assert!((pairs - world.tau_plus()).abs() < 0.005, "{pairs} and {}", world.tau_plus());
        assert!((World::plain(4).tau_plus() - 0.25).abs() < 1e-12);
    }

    #[test]
    fn shaped_classes_have_the_variance_of_plain_ones_and_heavier_tails() {
        let draw = |structure| {
            let samples = Scene::draw(World::ten(structure), Seed(3)).samples(40_000, &mut Seed(4).rng());
            // Of one class, in all dimensions that carry it, around the mean of each.
            let rows: Vec<&[f32]> = samples.latents.chunks(LATENT).collect();
            let of_class: Vec<&[f32]> = rows
                .into_iter()
                .zip(&samples.labels)
                .filter(|(_, label)| **label == 2)
                .map(|(row, _)| row)
                .collect();
            let count = of_class.len() as f64;
            let moment = |power: i32| -> f64 {
                let of_dim = |dim: usize| {
                    let mean = of_class.iter().map(|row| f64::from(row[dim])).sum::<f64>() / count;
                    of_class
                        .iter()
                        .map(|row| (f64::from(row[dim]) - mean).powi(power))
                        .sum::<f64>()
                        / count
                };
                (0..CLASS).map(of_dim).sum::<f64>() / CLASS as f64
            };
            (moment(2), moment(4) / moment(2).powi(2))
        };
        let (plain, shaped) = (draw(Structure::Plain), draw(Structure::Shapes));
        assert!(
            (plain.0 - 0.49).abs() < 0.02 && (shaped.0 - 0.49).abs() < 0.15,
            "{plain:?} {shaped:?}"
        );
        assert!((plain.1 - 3.0).abs() < 0.2 && shaped.1 > 5.0, "{plain:?} {shaped:?}");
    }

    #[test]
    fn nuisance_clusters_are_independent_of_the_class() {
        let draw = |structure| Scene::draw(World::ten(structure), Seed(3)).samples(8_000, &mut Seed(4).rng());
        let variance = |samples: &Samples, dim: usize| {
            let values: Vec<f64> = samples
                .latents
                .iter()
                .skip(dim)
                .step_by(LATENT)
                .map(|value| f64::from(*value))
                .collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64
        };
        let [plain, nuisance] = [Structure::Plain, Structure::Nuisance].map(draw);
        assert_eq!(plain.labels, nuisance.labels);
        assert_eq!(plain.latents[..CLASS], nuisance.latents[..CLASS]);
        assert!((variance(&plain, CLASS) - 1.69).abs() < 0.1);
        assert!(variance(&nuisance, CLASS) > 0.49);
    }
}
