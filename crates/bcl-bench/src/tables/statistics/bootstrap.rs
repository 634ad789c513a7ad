//! A paired bootstrap over samples and seeds; samples are users or graphs.

use bcl_data::Seed;
use bcl_kernels::matmul;
use burn::tensor::{DType, Device, Tensor, TensorData};
use rand::{Rng, RngExt};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Number of draws. They settle a standard error to about 1 %.
const DRAWS: u64 = 10_000;

/// Draws whose counts are in memory at a time.
const BLOCK: u64 = 250;

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
        let figures = rows.iter().flat_map(|row| seeds.iter().map(|seed| row[seed].as_slice()));
        let sums = Sums {
            figures: matrix(figures.flatten().copied().collect(), num_samples).transpose(),
            num_seeds: seeds.len(),
        };
        let seed = Seed(0).named("bootstrap");
        let blocks = (0..number)
            .step_by(BLOCK as usize)
            .map(|start| start..number.min(start + BLOCK));
        let draws = blocks.flat_map(|block| {
            let drawn = block.into_par_iter().map(|draw| {
                let mut random = seed.index(draw).rng();
                let samples = counts(num_samples, &mut random);
                (samples, counts(seeds.len(), &mut random))
            });
            let (samples, of_seeds): (Vec<_>, Vec<_>) = drawn.unzip();
            sums.means(samples, &of_seeds)
        });
        Some(Self {
            draws: draws.collect(),
            means: sums
                .means(vec![vec![1.0; num_samples]], &[vec![1.0; seeds.len()]])
                .swap_remove(0),
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

/// The figures of all rows, for sums over samples.
struct Sums {
    /// `[num_samples, num_rows · num_seeds]`
    figures: Tensor<2>,
    num_seeds: usize,
}

impl Sums {
    /// For each draw, the mean of each row over seeds and samples with these counts.
    fn means(&self, samples: Vec<Vec<f64>>, of_seeds: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let [num_samples, _] = self.figures.dims();
        let sums = matmul(matrix(samples.concat(), num_samples), self.figures.clone());
        let [_, num_columns] = sums.dims();
        let sums: Vec<f64> = sums.try_into_vec_as().expect("the CPU can be read");
        let number = (num_samples * self.num_seeds) as f64;
        let mean =
            |of_row: &[f64], counts: &[f64]| of_row.iter().zip(counts).map(|(sum, count)| sum * count).sum::<f64>() / number;
        let of_draw =
            |(sums, counts): (&[f64], &Vec<f64>)| sums.chunks(self.num_seeds).map(|of_row| mean(of_row, counts)).collect();
        sums.chunks(num_columns).zip(of_seeds).map(of_draw).collect()
    }
}

/// Values in rows of this length, in 64 bits.
fn matrix(values: Vec<f64>, length: usize) -> Tensor<2> {
    let shape = [values.len() / length, length];
    Tensor::from_data(TensorData::new(values, shape), (&Device::flex(), DType::F64))
}

#[cfg(test)]
mod tests;
