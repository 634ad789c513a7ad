//! Weights that depend on a score's rank alone: one vector a row length, computed once and looked up by rank.

use super::Losses;
use crate::{Scores, margins::Margins};
use bcl_kernels::{rank_weights, row_ranks};
use burn::tensor::{DType, Device, Tensor, TensorData};
use std::sync::Mutex;

/// A weight as a function of the rank.
pub(crate) trait RankWeight {
    /// The weights of ranks `1..=num_negatives` in a row of so many.
    fn by_rank(&self, num_negatives: usize) -> Vec<f64>;

    /// The same weight as a function of the eCDF, `[num_anchors, num_negatives]`, for rows of different lengths.
    fn by_ecdf(&self, ecdf: Tensor<2>) -> Tensor<2>;

    /// Whether the weights of a row are divided by their mean.
    fn normalised(&self) -> bool {
        false
    }
}

/// Per-rank weight vectors by row length, kept on the device they were last used on.
///
/// In-batch scores keep one length for a whole run, so the table is computed once; ragged rows (a mask) have as many lengths as
/// rows and go through the tensor form of the weight instead.
#[derive(Debug, Default)]
pub(crate) struct RankTable {
    cached: Mutex<Option<Table>>,
}

#[derive(Debug, Clone)]
struct Table {
    device: Device,
    dtype: DType,
    weights: Tensor<1>,
    /// Whether some rank has no weight at all.
    has_zeros: bool,
}

impl RankTable {
    /// The weight of every negative, constant in the gradient.
    ///
    /// # Shapes
    /// - output: `[num_anchors, num_negatives]`, 0 where masked out
    pub(crate) fn weights(&self, scores: &Scores, weight: &impl RankWeight) -> Tensor<2> {
        let weights = self.plain_weights(scores, weight);
        if !weight.normalised() {
            return weights;
        }
        let means = weights.clone().sum_dim(1) / scores.counts().clamp_min(1.0);
        // A row whose weights are all 0 keeps them.
        weights / means.clamp_min(f64::from(f32::MIN_POSITIVE))
    }

    fn plain_weights(&self, scores: &Scores, weight: &impl RankWeight) -> Tensor<2> {
        let negatives = scores.negatives.clone().detach();
        let Some(mask) = &scores.mask else {
            let table = self.get(&negatives, weight);
            return rank_weights(negatives, table.weights);
        };
        let ranks = row_ranks(negatives.clone(), Some(mask.clone()))
            .float()
            .cast(negatives.dtype());
        let weights = weight.by_ecdf(ranks / scores.counts().clamp_min(1.0));
        crate::margins::masked(weights, Some(mask))
    }

    /// The losses at these weights. The weights are stored only where rows are ragged, some ranks have none, or they are normalised.
    pub(crate) fn losses(&self, scores: &Scores, temperature: f64, weight: &impl RankWeight) -> Losses {
        if scores.mask.is_none() && !weight.normalised() {
            let table = self.get(&scores.negatives.clone().detach(), weight);
            if !table.has_zeros {
                let margins = Margins::new(scores, temperature);
                return Losses::new(margins.loss(margins.ranked_mass(table.weights)), None);
            }
        }
        let weights = self.weights(scores, weight);
        let margins = Margins::weighed(scores, temperature, &weights);
        Losses::new(margins.loss(margins.mass(Some(weights))), margins.has_negatives())
    }

    fn get(&self, negatives: &Tensor<2>, weight: &impl RankWeight) -> Table {
        let [_, length] = negatives.dims();
        let (device, dtype) = (negatives.device(), negatives.dtype());
        let mut cached = self.cached.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(table) = cached.as_ref()
            && table.device == device
            && table.dtype == dtype
            && table.weights.dims() == [length]
        {
            return table.clone();
        }
        let by_rank = weight.by_rank(length);
        let table = Table {
            has_zeros: by_rank.contains(&0.0),
            weights: Tensor::from_data(TensorData::from(by_rank.as_slice()), (&device, dtype)),
            device,
            dtype,
        };
        *cached = Some(table.clone());
        table
    }
}
