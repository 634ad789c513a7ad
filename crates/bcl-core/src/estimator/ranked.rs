//! Weights that depend on a score's rank alone: one vector a row length, computed once and looked up by rank.

use crate::Scores;
use bcl_kernels::{rank_weights, row_ranks};
use burn::tensor::{DType, Device, Tensor, TensorData};
use std::sync::Mutex;

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
    /// - `by_rank`: a function from the row length n to the weights of ranks 1..=n
    /// - `by_ecdf`: the same weight as a function of the eCDF, `[num_anchors, num_negatives]`
    /// - output:  `[num_anchors, num_negatives]`, 0 where masked out
    pub(crate) fn weights(
        &self,
        scores: &Scores,
        by_rank: impl FnOnce(usize) -> Vec<f64>,
        by_ecdf: impl FnOnce(Tensor<2>) -> Tensor<2>,
    ) -> Tensor<2> {
        let negatives = scores.negatives.clone().detach();
        let Some(mask) = &scores.mask else {
            let table = self.get(&negatives, by_rank);
            return rank_weights(negatives, table);
        };
        let ranks = row_ranks(negatives.clone(), Some(mask.clone()))
            .float()
            .cast(negatives.dtype());
        let weights = by_ecdf(ranks / scores.counts().clamp_min(1.0));
        crate::margins::masked(weights, Some(mask))
    }

    fn get(&self, negatives: &Tensor<2>, by_rank: impl FnOnce(usize) -> Vec<f64>) -> Tensor<1> {
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
        let weights = Tensor::from_data(TensorData::from(by_rank(length).as_slice()), (&device, dtype));
        *cached = Some(Table {
            device,
            dtype,
            weights: weights.clone(),
        });
        weights
    }
}
