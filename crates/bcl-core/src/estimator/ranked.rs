//! Weights that depend on the rank of a score alone: one vector per row length, computed once and looked up by rank.

use crate::{
    Losses, Pairs, Scores,
    margins::PositiveMargins,
    scores::{masked, nonzero},
};
use bcl_kernels::{Weighing, rank_weights, row_ranks};
use burn::tensor::{DType, Device, Tensor, TensorData};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A weight as a function of the rank.
pub(crate) trait RankWeight {
    /// The weights of the ranks `1..=num_negatives`.
    fn by_rank(&self, num_negatives: usize) -> Vec<f64>;

    /// The same weight as a function of the eCDF, `[num_anchors, num_negatives]`, for rows of different lengths or with log-weights.
    fn by_ecdf(&self, ecdf: Tensor<2>) -> Tensor<2>;

    /// Whether the weights of a row are divided by their mean.
    fn normalised(&self) -> bool {
        false
    }
}

/// Per-rank weight vectors by row length.
///
/// In-batch scores keep one length for a whole run, so the table is computed once, and stays on the device it was last used on. If lists leave out
/// rows, most lengths come back in the next batch. Scores with a mask or log-weights use the tensor form of the weight instead.
#[derive(Debug, Default)]
pub(crate) struct RankTable {
    cached: Mutex<Option<Table>>,
    by_length: Mutex<HashMap<usize, ByLength>>,
}

/// The weights of the ranks of one length.
#[derive(Debug)]
struct ByLength {
    weights: Arc<[f64]>,
    zeros: Zeros,
}

#[derive(Debug, Clone)]
struct Table {
    device: Device,
    dtype: DType,
    weights: Tensor<1>,
    zeros: Zeros,
}

/// How many ranks have the weight 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Zeros {
    None,
    Some,
    All,
}

impl Zeros {
    fn among(weights: &[f64]) -> Self {
        match weights.iter().filter(|&&weight| weight == 0.0).count() {
            0 => Self::None,
            all if all == weights.len() => Self::All,
            _ => Self::Some,
        }
    }
}

/// Exponentials of cosines relative to the highest are above `exp(-2 / t)`, and normal numbers in single precision from this temperature on.
const LOWEST_TEMPERATURE: f64 = 2.0 / 80.0;

impl RankTable {
    /// The weight of every negative, constant in the gradient, without the log-weights of the scores.
    ///
    /// # Shapes
    /// - output: `[num_anchors, num_negatives]`, 0 where masked out
    pub(crate) fn weights(&self, scores: &Scores, weight: &impl RankWeight) -> Tensor<2> {
        let weights = self.plain_weights(scores, weight);
        if !weight.normalised() {
            return weights;
        }
        let means = scores.weighted(weights.clone()).sum_dim(1) / nonzero(scores.counts());
        // A row whose weights are all 0 keeps them.
        weights / means.clamp_min(f64::from(f32::MIN_POSITIVE))
    }

    fn plain_weights(&self, scores: &Scores, weight: &impl RankWeight) -> Tensor<2> {
        if scores.mask.is_none() && scores.log_weights.is_none() {
            let negatives = scores.negatives.clone().detach();
            let table = self.get(&negatives, scores.num_negatives(), weight);
            return rank_weights(negatives, table.weights);
        }
        masked(weight.by_ecdf(ecdf(scores)), scores.mask.as_ref())
    }

    /// The losses at these weights. The matrix of weights is stored only if there is a mask or log-weights, if some rank has the weight
    /// 0, or if weights are normalised.
    pub(crate) fn losses(&self, scores: &Scores, temperature: f64, weight: &impl RankWeight) -> Losses {
        if scores.mask.is_none() && scores.log_weights.is_none() && !weight.normalised() {
            let table = self.get(&scores.negatives, scores.num_negatives(), weight);
            if table.zeros == Zeros::None {
                let margins = PositiveMargins::new(scores, temperature);
                return margins.losses(margins.loss(margins.ranked_mass(table.weights)));
            }
        }
        PositiveMargins::weighted_losses(scores, temperature, self.weights(scores, weight))
    }

    /// The weights by rank of these pairs, if weights by rank are all that their losses need.
    ///
    /// Kernels take exponentials relative to the highest score. If its weight may be 0, the others must not be too far below to be represented:
    /// the scores must be cosines, and the temperature not too low.
    pub(crate) fn of(&self, pairs: &Pairs, temperature: f64, weight: &impl RankWeight) -> Option<Weighing> {
        if weight.normalised() {
            return None;
        }
        let are_near = pairs.least_similarity() == Some(-1.0) && temperature >= LOWEST_TEMPERATURE;
        let is_possible = |zeros| match zeros {
            Zeros::None => true,
            Zeros::Some => are_near,
            Zeros::All => false,
        };
        let Some(lengths) = pairs.row_lengths() else {
            let table = self.get(pairs.like(), pairs.num_negatives(), weight);
            return is_possible(table.zeros).then_some(Weighing::ByRank(table.weights));
        };
        let mut by_length = locked(&self.by_length);
        // No more than a batch needs is kept.
        by_length.retain(|length, _| lengths.contains(length));
        let tables = lengths.into_iter().map(|length| {
            let table = by_length.entry(length).or_insert_with(|| {
                let weights = weight.by_rank(length);
                ByLength {
                    zeros: Zeros::among(&weights),
                    weights: weights.into(),
                }
            });
            is_possible(table.zeros).then(|| table.weights.clone())
        });
        let tables: Vec<_> = tables.collect::<Option<_>>()?;
        (!tables.is_empty()).then_some(Weighing::ByRankOf(tables))
    }

    /// The table for rows of this length, on the device and in the precision of a tensor.
    fn get(&self, like: &Tensor<2>, length: usize, weight: &impl RankWeight) -> Table {
        let (device, dtype) = (like.device(), like.dtype());
        let mut cached = locked(&self.cached);
        if let Some(table) = cached.as_ref()
            && table.device == device
            && table.dtype == dtype
            && table.weights.dims() == [length]
        {
            return table.clone();
        }
        let by_rank = weight.by_rank(length);
        let table = Table {
            zeros: Zeros::among(&by_rank),
            weights: Tensor::from_data(TensorData::from(by_rank.as_slice()), (&device, dtype)),
            device,
            dtype,
        };
        *cached = Some(table.clone());
        table
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The share of the weight of its row that each negative and those at most as large have, `[num_anchors, num_negatives]`.
fn ecdf(scores: &Scores) -> Tensor<2> {
    let negatives = scores.negatives.clone().detach();
    let ranks = row_ranks(negatives.clone(), scores.mask.clone());
    if scores.log_weights.is_some() {
        // In ascending order, with those that are masked out at the end, a rank is the length of a prefix.
        let keys = match &scores.mask {
            Some(mask) => negatives.mask_fill(mask.clone().bool_not(), f64::INFINITY),
            None => negatives,
        };
        let weights = scores.weighted(keys.ones_like());
        let [_, num_negatives] = weights.dims();
        let sums = weights.gather(1, keys.argsort(1)).cumsum(1);
        // A sum in another order would round otherwise, and the share of the largest must be exactly 1.
        let total = sums.clone().slice_dim(1, num_negatives - 1..num_negatives);
        return sums.gather(1, ranks.sub_scalar(1).clamp_min(0)) / nonzero(total);
    }
    ranks.float().cast(negatives.dtype()) / nonzero(scores.counts())
}
