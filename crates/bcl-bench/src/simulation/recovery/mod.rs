//! How much of the supervised loss's gain detectors and weights recover without labels, in worlds whose classes are known.
//!
//! Samples have dimensions u with the class and v beside it; a view mixes both with noise:
//!
//! ```text
//! y uniform,  u = mu_y + 0.7 N,  v = 1.3 N,  L = (u, v)          mu = sep · N(0, 1), sep 0.4, 0.6, 1, 1.6 for C = 2, 4, 10, 30
//! x = tanh([L + 0.5 N, N] M)                                     16 + 16 + 32 dimensions, M = N(0, 1) / 4
//! ```
//!
//! | world | differs in |
//! | --- | --- |
//! | sub-clusters | each class has three centres, sep · N(0, 1) around its own |
//! | imbalance | the probability of class c falls as 10^(-c / (C - 1)) |
//! | nuisance | `v = nu_j + 0.7 N` with one of ten centres nu = N(0, 1), independent of the class |
//!
//! A network 64-96-8 learns from 4,096 samples for 16 epochs in batches of 64 samples with two fresh views each. A ridge regression measures its accuracy on the unit
//! outputs of 4,000 other samples, tested on 4,000 more. All methods of a seed have the same samples, views, batches and first weights.
//!
//! `wcc` and `finer` find false negatives by [`bcl_clusters`]: from epoch 2 on, a bank averages the hidden layer of a momentum network, and every second epoch from 4 on its
//! first 20 principal components are clustered. They have to be named in `--only`: a run takes minutes.

mod clusters;
mod loss;
mod method;
mod network;
mod probe;
mod report;
mod run;
mod trial;
mod world;

pub use clusters::Reading;
pub use method::RecoveryMethod;
pub use run::Outcome;
pub use trial::RecoverySize;
pub use world::{Structure, World};

pub(super) use report::{Gains, Readings, drawings};

use super::repeat::interval;
use crate::tables::Recovery;
use bcl_data::Seed;
use bcl_report::Interval;
use rayon::prelude::*;
use serde::Serialize;
use trial::Trial;

/// The results of all methods in one world.
#[derive(Debug, Clone, Serialize)]
pub struct WorldRecovery {
    /// The world.
    pub world: World,
    /// The probability that two samples share a class.
    pub tau_plus: f64,
    /// One row per method.
    pub rows: Vec<RecoveryRow>,
    /// The results of each seed.
    pub seeds: Vec<Vec<Outcome>>,
}

/// One method in one world.
#[derive(Debug, Clone, Serialize)]
pub struct RecoveryRow {
    /// The method.
    pub method: RecoveryMethod,
    /// Temperature t.
    pub temperature: f64,
    /// Accuracy in %.
    pub accuracy: Interval,
    /// Accuracy less InfoNCE's on the same seeds, in points.
    pub gain: Interval,
    /// The share of the supervised loss's gain; `None` if that may be 0.
    pub recovered: Option<Recovery>,
    /// Means over seeds of the first detection and the last.
    pub readings: Option<[MeanReading; 2]>,
}

/// Means of [readings](Reading) over seeds.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct MeanReading {
    /// Trust in the clusters.
    pub gate: Interval,
    /// Seeds whose gate was shut.
    pub num_shut: usize,
    /// Their stability.
    pub stability: Interval,
    /// Their number.
    pub num_clusters: Interval,
    /// Share of pairs with P > 0.
    pub touched: Interval,
    /// Share of them that share a class.
    pub precision: Interval,
    /// Share of pairs of a class with P > 0.
    pub recall: Interval,
}

impl MeanReading {
    fn of(readings: &[&Reading]) -> Self {
        let mean = |value: fn(&Reading) -> f64| interval(readings, |reading| value(reading));
        Self {
            gate: mean(|reading| reading.gate),
            num_shut: readings.iter().filter(|reading| reading.gate == 0.0).count(),
            stability: mean(|reading| reading.stability),
            num_clusters: mean(|reading| reading.num_clusters as f64),
            touched: mean(|reading| reading.touched),
            precision: mean(|reading| reading.precision),
            recall: mean(|reading| reading.recall),
        }
    }
}

/// Trains all methods on `seeds` seeds of every world.
pub(super) fn recoveries(seed: Seed, seeds: usize) -> Vec<WorldRecovery> {
    measured(seed, seeds, &World::ALL, RecoverySize::default())
}

fn measured(seed: Seed, seeds: usize, worlds: &[World], size: RecoverySize) -> Vec<WorldRecovery> {
    let seed = seed.named("recovery");
    let trials: Vec<(World, u64)> = worlds
        .iter()
        .flat_map(|world| (0..seeds as u64).map(|index| (*world, index)))
        .collect();
    let outcomes: Vec<Vec<Outcome>> = trials
        .par_iter()
        // One at a time per thread: a trial keeps all its views.
        .with_max_len(1)
        .map(|(world, index)| {
            let trial = Trial::draw(*world, size, seed.named(&world.name()).index(*index));
            RecoveryMethod::ALL.map(|method| trial.run(method)).into()
        })
        .collect();
    let of_worlds = worlds.iter().zip(outcomes.chunks(seeds));
    of_worlds
        .map(|(world, outcomes)| WorldRecovery::of(*world, outcomes))
        .collect()
}

impl WorldRecovery {
    fn of(world: World, outcomes: &[Vec<Outcome>]) -> Self {
        let accuracies =
            |method: usize| -> Vec<f64> { outcomes.iter().map(|outcome| 100.0 * outcome[method].accuracy).collect() };
        let gains = |method: usize| -> Vec<f64> {
            let pairs = accuracies(method).into_iter().zip(accuracies(0));
            pairs.map(|(accuracy, of_info_nce)| accuracy - of_info_nce).collect()
        };
        let mean = |values: &[f64]| interval(values, |value| *value);
        let row = |(index, method): (usize, RecoveryMethod)| {
            let readings = |at: usize| -> Option<Vec<&Reading>> {
                outcomes
                    .iter()
                    .map(|outcome| outcome[index].readings.as_ref().map(|readings| &readings[at]))
                    .collect()
            };
            let ends = readings(0).zip(readings(1));
            RecoveryRow {
                method,
                temperature: method.temperature(world),
                accuracy: mean(&accuracies(index)),
                gain: mean(&gains(index)),
                recovered: Recovery::of(&gains(index), &gains(1)),
                readings: ends.map(|(first, last)| [MeanReading::of(&first), MeanReading::of(&last)]),
            }
        };
        Self {
            world,
            tau_plus: world.tau_plus(),
            rows: RecoveryMethod::ALL.into_iter().enumerate().map(row).collect(),
            seeds: outcomes.to_vec(),
        }
    }

    /// The stability of each number of clusters at the first detection of the finer rule, over seeds.
    fn stabilities(&self) -> Vec<(usize, Interval)> {
        let index = RecoveryMethod::ALL.iter().position(|method| *method == RecoveryMethod::Finer);
        let readings = self
            .seeds
            .iter()
            .filter_map(|outcomes| Some(&outcomes[index?].readings.as_ref()?[0]));
        let curves: Vec<&Vec<(usize, f64)>> = readings.map(|reading| &reading.candidates).collect();
        let at = |place: usize| (curves[0][place].0, interval(&curves, |curve| curve[place].1));
        (0..curves[0].len()).map(at).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gains_are_paired_by_seed_and_shares_are_of_the_supervised_gain() {
        let outcome = |method, accuracy| Outcome {
            method,
            accuracy,
            readings: None,
        };
        let outcomes: Vec<Vec<Outcome>> = [0.5, 0.7]
            .into_iter()
            .map(|base| {
                let gain = |index: usize| [0.0, 0.1, 0.05].get(index).copied().unwrap_or(0.0);
                let each = RecoveryMethod::ALL.into_iter().enumerate();
                each.map(|(index, method)| outcome(method, base + gain(index))).collect()
            })
            .collect();
        let found = WorldRecovery::of(World::plain(4), &outcomes);
        let row = &found.rows[2];
        assert!((row.accuracy.mean - 65.0).abs() < 1e-9 && (row.gain.mean - 5.0).abs() < 1e-9);
        assert!(row.gain.half_width.unwrap() < 1e-9, "seeds are paired");
        assert!((row.recovered.unwrap().share - 0.5).abs() < 1e-9);
        assert!(Gains(&[found]).to_string().contains("0.50 [0.50, 0.50]"));
    }

    #[test]
    fn a_small_run_has_a_row_per_method_and_two_figures() {
        let size = RecoverySize {
            num_samples: 64,
            batch_size: 16,
            epochs: 3,
            warm_up: 1,
            num_probe: 50,
        };
        let found = measured(Seed(1), 2, &[World::plain(4), World::ten(Structure::Nuisance)], size);
        assert!(
            found
                .iter()
                .all(|world| world.rows.len() == RecoveryMethod::ALL.len() && world.seeds.len() == 2)
        );
        let [gains, stabilities] = drawings(&found);
        assert_eq!(gains.csv.to_string().lines().count(), 1 + 2 * RecoveryMethod::ALL.len());
        let header = gains.csv.to_string().lines().next().unwrap().split(',').count();
        assert!(gains.csv.to_string().lines().all(|line| line.split(',').count() == header));
        assert_eq!(
            stabilities.csv.to_string().lines().count(),
            1 + 2 * 5,
            "k = 2 to 32 of 64 samples"
        );
        assert_eq!(Readings(&found).to_string().matches("finer, eliminate").count(), 2);
    }
}
