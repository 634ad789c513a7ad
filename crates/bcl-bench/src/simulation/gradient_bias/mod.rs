//! How far the expected gradient of a batch is from the gradient of the whole data set, the premise of *Bayesian data augmentation*.
//!
//! The logarithm of the denominator does not split into samples, so the mean gradient over batches is not the gradient of the loss of all samples in
//! one batch, which gradient caching computes. Here a linear encoder of 256 samples in eight groups, with two views each, is trained for a few steps
//! and then kept. For each batch size, with G the gradient of the whole data set and g the gradient of a random batch,
//!
//! ```text
//! bias = |E g - G| / |G|        noise = sqrt(E |g - E g|²) / |G|
//! ```
//!
//! The squared bias is estimated without bias, as the product of the mean deviations in two independent chains of batches, whose running rates are
//! averages over 50 passes before.
//!
//! | loss | G |
//! | --- | --- |
//! | InfoNCE | InfoNCE's; fewer negatives also change the loss, by the share of the positive in the denominator |
//! | decoupled | the decoupled loss's |
//! | augmented | the decoupled loss's: the rate is the sum of the batch's negatives |
//! | augmented, running rate | the decoupled loss's: the rate of a sample is averaged over earlier batches of the same encoder |
//! | augmented, exact rate | the decoupled loss's: the rate of an anchor is its mean over the whole data set |
//!
//! With an exact rate the loss is a sum over pairs, so no batch size has a bias.

mod encoder;
mod rates;

use super::drawing::{Csv, Drawing, cells, columns};
use super::repeat::interval;
use bcl_core::{
    AugmentedBase, AugmentedLossConfig, AugmentedRate, DecoupledLossConfig, EstimatorConfig, InfoNceLossConfig,
    simulation::SimulationConfig,
};
use bcl_data::Seed;
use bcl_report::{
    Column, Interval, Table,
    chart::{Axis, LineChart, Series, Shape},
};
use encoder::{Encoder, Squares};
use rates::SHARE;
use rayon::prelude::*;
use serde::Serialize;
use std::fmt;

const BATCH_SIZES: [usize; 5] = [8, 16, 32, 64, 128];
/// Anchors of a simulation per pass over the data: 10 passes at the default number.
const ANCHORS_PER_PASS: usize = 100;

/// A loss whose gradients are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ComparedLoss {
    /// `InfoNCE`.
    InfoNce,
    /// Decoupled.
    Decoupled,
    /// Augmented, with the rate of the batch.
    Augmented,
    /// Augmented, with a rate averaged over earlier batches.
    AugmentedRunning,
    /// Augmented, with the rate of the whole data set.
    AugmentedExact,
}

impl ComparedLoss {
    const ALL: [Self; 5] = [
        Self::InfoNce,
        Self::Decoupled,
        Self::Augmented,
        Self::AugmentedRunning,
        Self::AugmentedExact,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::InfoNce => "info_nce",
            Self::Decoupled => "decoupled",
            Self::Augmented => "augmented",
            Self::AugmentedRunning => "augmented, running rate",
            Self::AugmentedExact => "augmented, exact rate",
        }
    }

    /// The loss whose gradient over the whole data set is the reference.
    fn reference(self) -> Self {
        match self {
            Self::InfoNce => Self::InfoNce,
            _ => Self::Decoupled,
        }
    }

    fn config(self, temperature: f64) -> EstimatorConfig {
        let augmented = AugmentedLossConfig::new()
            .with_temperature(temperature)
            .with_rate(AugmentedRate::Negatives)
            .with_base(AugmentedBase::Decoupled);
        match self {
            Self::InfoNce => EstimatorConfig::InfoNce(InfoNceLossConfig::new().with_temperature(temperature)),
            Self::Decoupled => EstimatorConfig::Decoupled(DecoupledLossConfig::new().with_temperature(temperature)),
            Self::Augmented => EstimatorConfig::Augmented(augmented),
            Self::AugmentedRunning | Self::AugmentedExact => EstimatorConfig::Augmented(augmented.with_running(Some(SHARE))),
        }
    }
}

/// Bias and noise of the gradients of one loss in batches of one size.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct GradientBias {
    /// The loss.
    pub loss: ComparedLoss,
    /// Temperature t.
    pub temperature: f64,
    /// Number of samples in a batch, with two views each.
    pub batch_size: usize,
    /// `|E g - G| / |G|`.
    pub bias: Interval,
    /// `sqrt(E |g - E g|²) / |G|`.
    pub noise: Interval,
}

/// Measures bias and noise at the temperature of `base` and at 0.1.
pub(super) fn gradient_biases(seed: Seed, base: &SimulationConfig) -> Vec<GradientBias> {
    let seed = seed.named("gradient bias");
    let mut temperatures = vec![base.temperature, 0.1];
    temperatures.dedup();
    let passes = (base.num_anchors / ANCHORS_PER_PASS).max(2);
    let encoders: Vec<Encoder> = temperatures
        .iter()
        .map(|&temperature| Encoder::trained(seed, temperature))
        .collect();
    let points: Vec<(&Encoder, ComparedLoss, usize)> = encoders
        .iter()
        .flat_map(|encoder| ComparedLoss::ALL.map(|loss| (encoder, loss)))
        .flat_map(|(encoder, loss)| BATCH_SIZES.map(|batch_size| (encoder, loss, batch_size)))
        .collect();
    let measure = |&(encoder, loss, batch_size): &(&Encoder, ComparedLoss, usize)| {
        let reference = encoder.whole(loss.reference());
        let repetitions: Vec<Squares> = (0..base.repetitions as u64)
            .into_par_iter()
            // The same batches for all losses.
            .map(|repetition| encoder.squares(loss, batch_size, passes, &reference, seed.index(repetition)))
            .collect();
        GradientBias {
            loss,
            temperature: encoder.temperature,
            batch_size,
            bias: root(interval(&repetitions, |squares| squares.bias)),
            noise: root(interval(&repetitions, |squares| squares.noise)),
        }
    };
    points.par_iter().map(measure).collect()
}

/// The square root of a quantity whose square was estimated, with the half-width of a linear approximation.
fn root(square: Interval) -> Interval {
    let mean = square.mean.max(0.0).sqrt();
    Interval {
        mean,
        half_width: square.half_width.map(|half_width| {
            if mean * mean > half_width {
                half_width / (2.0 * mean)
            } else {
                half_width.sqrt()
            }
        }),
        ..square
    }
}

/// The bias over the batch size, a figure per temperature.
pub(super) fn drawings(found: &[GradientBias]) -> Vec<Drawing> {
    let mut temperatures: Vec<f64> = found.iter().map(|point| point.temperature).collect();
    temperatures.dedup();
    temperatures
        .into_iter()
        .map(|temperature| drawing(found, temperature))
        .collect()
}

fn drawing(found: &[GradientBias], temperature: f64) -> Drawing {
    let of = || found.iter().filter(move |point| point.temperature == temperature);
    let mut csv = Csv::new(&format!("loss,batch_size,{},{}", columns("bias"), columns("noise")));
    for point in of() {
        let name = point.loss.name().replace(", ", "_").replace(' ', "_");
        csv.row(&[&name, &point.batch_size, &cells(&point.bias), &cells(&point.noise)]);
    }
    let series = ComparedLoss::ALL.into_iter().enumerate().map(|(colour, loss)| {
        let points = of()
            .filter(|point| point.loss == loss)
            .map(|point| (point.batch_size as f64, point.bias));
        Series::new(loss.name(), Shape::MarkedLine, points).with_colour(colour)
    });
    let chart = LineChart::new(
        format!("Bias of the gradient of a batch, t = {temperature}"),
        "The distance of the expected gradient of a batch from the gradient of the whole data set, over its length, with 95 % intervals over repetitions.",
        Axis::logarithmic("batch size", 2),
        Axis::linear("relative bias").including(0.0),
    );
    Drawing::new(format!("gradient-bias-{temperature}"), chart.with_series(series), csv)
}

/// Bias and noise as a table.
pub(super) struct Biases<'a>(pub(super) &'a [GradientBias]);

impl fmt::Display for Biases<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = |point: &GradientBias| {
            [
                point.temperature.to_string(),
                point.loss.name().to_owned(),
                point.batch_size.to_string(),
                point.bias.to_string(),
                format!("{:.2}", point.noise.mean),
            ]
        };
        let columns = [
            Column::number("t"),
            Column::text("loss"),
            Column::number("batch size"),
            Column::number("bias of the gradient"),
            Column::number("noise"),
        ];
        Table::new(columns, self.0.iter().map(row)).fmt(f)
    }
}
