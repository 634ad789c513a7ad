//! A paired bootstrap over samples and seeds; samples are samples or graphs.

use bcl_data::Seed;
use rand::{Rng, RngExt};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Number of draws. They settle a standard error to about 1 %.
const DRAWS: u64 = 10_000;

/// Means of all rows over samples and seeds that are drawn with replacement, the same ones for each row.
///
/// Samples and seeds are crossed: each sample is measured with each seed. Drawing both covers what another training *and* other samples of the
/// same kind would change; a test over seeds alone covers the first of these only. The estimate is cautious: it
/// counts the variance of sample and seed together up to three times (Owen, 2007, The pigeonhole bootstrap).
pub(in super::super) struct Bootstrap {
    /// One mean per row for each draw.
    draws: Vec<Vec<f64>>,
    /// The means without drawing.
    means: Vec<f64>,
}

impl Bootstrap {
    /// Draws, given the metric of each sample by seed, for each row. `None` if the rows have fewer than two seeds in common, or not the same
    /// samples.
    pub(in super::super) fn new(rows: &[&BTreeMap<u64, Vec<f64>>]) -> Option<Self> {
        Self::with_draws(rows, DRAWS)
    }

    pub(super) fn with_draws(rows: &[&BTreeMap<u64, Vec<f64>>], number: u64) -> Option<Self> {
        let first = rows.first()?;
        let seeds: Vec<u64> = first
            .keys()
            .copied()
            .filter(|seed| rows.iter().all(|row| row.contains_key(seed)))
            .collect();
        let num_samples = first.values().next()?.len();
        let all = || rows.iter().flat_map(|row| row.values());
        if seeds.len() < 2 || num_samples == 0 || all().any(|figures| figures.len() != num_samples) {
            return None;
        }
        let figures: Vec<Vec<&[f64]>> = rows
            .iter()
            .map(|row| seeds.iter().map(|seed| row[seed].as_slice()).collect())
            .collect();
        let seed = Seed(0).named("bootstrap");
        let draws = (0..number)
            .into_par_iter()
            .map(|draw| {
                let mut random = seed.index(draw).rng();
                let samples = counts(num_samples, &mut random);
                let of_seeds = counts(seeds.len(), &mut random);
                means(&figures, &of_seeds, &samples)
            })
            .collect();
        Some(Self {
            draws,
            means: means(&figures, &vec![1.0; seeds.len()], &vec![1.0; num_samples]),
        })
    }

    /// The standard error of one row minus another, given by their numbers.
    pub(in super::super) fn standard_error(&self, row: usize, other: usize) -> f64 {
        let mean = self.means[row] - self.means[other];
        let squares = self.draws.iter().map(|means| (means[row] - means[other] - mean).powi(2));
        (squares.sum::<f64>() / self.draws.len() as f64).sqrt()
    }
}

/// How often each of `number` things is drawn in `number` draws with replacement.
fn counts(number: usize, random: &mut impl Rng) -> Vec<f64> {
    let mut counts = vec![0.0; number];
    for _ in 0..number {
        counts[random.random_range(0..number)] += 1.0;
    }
    counts
}

/// The mean of each row over seeds and samples with these counts.
fn means(figures: &[Vec<&[f64]>], of_seeds: &[f64], samples: &[f64]) -> Vec<f64> {
    let number = (of_seeds.len() * samples.len()) as f64;
    let of_row = |row: &Vec<&[f64]>| {
        let sums = row
            .iter()
            .zip(of_seeds)
            .filter(|(_, count)| **count > 0.0)
            .map(|(figures, count)| count * dot(figures, samples));
        sums.sum::<f64>() / number
    };
    figures.iter().map(of_row).collect()
}

/// The sum of products.
fn dot(figures: &[f64], counts: &[f64]) -> f64 {
    // Eight sums that do not wait for each other.
    let ((figures, last_figures), (counts, last_counts)) = (figures.as_chunks::<8>(), counts.as_chunks::<8>());
    let mut sums = [0.0; 8];
    for (figures, counts) in figures.iter().zip(counts) {
        for ((sum, figure), count) in sums.iter_mut().zip(figures).zip(counts) {
            *sum += figure * count;
        }
    }
    let rest: f64 = last_figures
        .iter()
        .zip(last_counts)
        .map(|(figure, count)| figure * count)
        .sum();
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests;
