//! Weights that depend on a score's rank alone: one vector a row length, computed once and looked up by rank.

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
}

/// Per-rank weight vectors by row length, kept on the device they were last used on.
///
/// In-batch scores keep one length for a whole run, so the table is computed once; ragged rows (a mask) have as many lengths as
/// rows and go through the tensor form of the weight instead.
#[derive(Debug, Default)]
pub(crate) struct RankTable {
    cached: Mutex<Option<Table>>,
}

#[derive(Debug)]
struct Table {
    device: Device,
    dtype: DType,
    weights: Tensor<1>,
}

impl RankTable {
    /// The weight of every negative, constant in the gradient.
    ///
    /// # Shapes
    /// - output: `[num_anchors, num_negatives]`, 0 where masked out
    pub(crate) fn weights(&self, scores: &Scores, weight: &impl RankWeight) -> Tensor<2> {
        let negatives = scores.negatives.clone().detach();
        let Some(mask) = &scores.mask else {
            let table = self.get(&negatives, weight);
            return rank_weights(negatives, table);
        };
        let ranks = row_ranks(negatives.clone(), Some(mask.clone()))
            .float()
            .cast(negatives.dtype());
        let weights = weight.by_ecdf(ranks / scores.counts().clamp_min(1.0));
        crate::margins::masked(weights, Some(mask))
    }

    /// The mass of all negatives at these weights, `[num_anchors, 1]`; the weights are stored only where rows are ragged.
    pub(crate) fn mass(&self, scores: &Scores, margins: &Margins, weight: &impl RankWeight) -> Tensor<2> {
        if scores.mask.is_some() {
            return margins.mass(Some(self.weights(scores, weight)));
        }
        margins.ranked_mass(self.get(&scores.negatives.clone().detach(), weight))
    }

    fn get(&self, negatives: &Tensor<2>, weight: &impl RankWeight) -> Tensor<1> {
        let [_, length] = negatives.dims();
        let (device, dtype) = (negatives.device(), negatives.dtype());
        let mut cached = self.cached.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(table) = cached.as_ref()
            && table.device == device
            && table.dtype == dtype
            && table.weights.dims() == [length]
        {
            return table.weights.clone();
        }
        let weights = Tensor::from_data(TensorData::from(weight.by_rank(length).as_slice()), (&device, dtype));
        *cached = Some(Table {
            device,
            dtype,
            weights: weights.clone(),
        });
        weights
    }
}
