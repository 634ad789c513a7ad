//! The running rates of the augmented loss: for each training sample the mean of `x_k = exp(s_k / t)` over its negatives, averaged over the
//! steps that it was in,
//!
//! ```text
//! r <- (1 - γ) r + γ mean_k x_k
//! ```
//!
//! Everything is in log space, because `x_k` spans many orders of magnitude at low temperatures. The first mean of a sample is its rate.

use crate::batches::index_tensor;
use bcl_core::AugmentedLoss;
use burn::{
    module::{Module, Param},
    tensor::{Bool, Device, IndexingUpdateOp, Tensor},
};
use std::collections::HashMap;

/// The log of the running rate of each training sample. It is part of checkpoints and has no gradient.
#[derive(Module, Debug)]
pub struct RunningRates {
    /// `log r`, `[num_samples]`; [`AugmentedLoss::NO_LOG_MEAN`] for samples without a rate yet.
    log_rates: Param<Tensor<1>>,
}

/// The log-means of a step, which update the running rates after it.
#[derive(Debug, Clone)]
pub struct StepRates {
    /// As [`AugmentedLoss::log_means`] returns them, `[num_anchors]`.
    pub log_means: Tensor<1>,
    /// Share γ of this step in the rates.
    pub share: f64,
}

impl RunningRates {
    /// No sample has a rate yet.
    pub fn new(num_samples: usize, device: &Device) -> Self {
        let log_rates = Tensor::full([num_samples], AugmentedLoss::NO_LOG_MEAN, device);
        Self {
            log_rates: Param::from_tensor(log_rates).set_require_grad(false),
        }
    }

    /// `log r` of each sample, `[num_samples]`; [`AugmentedLoss::NO_LOG_MEAN`] for samples without a rate yet.
    pub fn log_rates(&self) -> Tensor<1> {
        self.log_rates.val().detach()
    }

    /// The rates of the anchors' samples, or the anchors' own log-means where a sample has no rate yet. An anchor with neither has no
    /// loss; its rate is 1.
    ///
    /// # Shapes
    /// - samples:     the sample of each anchor
    /// - `log_means`, output: `[num_anchors]`
    pub fn of_anchors(&self, samples: &[usize], log_means: Tensor<1>) -> Tensor<1> {
        let running = self.log_rates().select(0, index_tensor(samples, &log_means.device()));
        let log_rates = log_means.mask_where(has_mean(&running), running);
        let known = has_mean(&log_rates);
        log_rates.mask_fill(known.bool_not(), 0.0)
    }

    /// Moves the rates of a batch's samples towards the means of a step. A sample with several anchors counts once, with the mean over
    /// them; one with an anchor without negatives keeps its rate. Of a sample that the batch has more often than others, the first anchors count.
    ///
    /// # Shapes
    /// - samples: the sample of each anchor, `[num_anchors]`
    pub fn updated(self, samples: &[usize], step: &StepRates) -> Self {
        let (distinct, rows) = anchors_of_samples(samples);
        let device = step.log_means.device();
        let index = index_tensor(&distinct, &device);
        let log_means = step.log_means.clone().detach();
        // View after view, each with the same samples in the same order.
        let are_views = rows.len() == samples.len() && rows.is_sorted();
        let views = if are_views {
            log_means
        } else {
            log_means.select(0, index_tensor(&rows, &device))
        };
        let views = views.reshape([rows.len() / distinct.len().max(1), distinct.len()]);
        let has_mean_in_all = has_mean(&views).all_dim(0).squeeze_dim::<1>(0);
        let means = log_mean_exp(views);

        let log_rates = self.log_rates();
        let before = log_rates.clone().select(0, index.clone());
        let [kept, new] = [1.0 - step.share, step.share].map(f64::ln);
        let moved = log_add_exp(before.clone() + kept, means.clone() + new);
        let moved = means.mask_where(has_mean(&before), moved);
        let after = before.mask_where(has_mean_in_all, moved);

        // Written to zeros and selected from there, a rate is stored exactly.
        let zeros = log_rates.zeros_like();
        let touched = zeros
            .clone()
            .select_assign(0, index.clone(), after.ones_like(), IndexingUpdateOp::Add)
            .greater_elem(0.0);
        let after = zeros.select_assign(0, index, after, IndexingUpdateOp::Add);
        let log_rates = log_rates.mask_where(touched, after).detach();
        Self {
            log_rates: self.log_rates.map(|_| log_rates.set_require_grad(false)),
        }
    }
}

/// The distinct samples, and rows with an anchor of each.
fn anchors_of_samples(samples: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let mut distinct = Vec::new();
    let mut anchors: Vec<Vec<usize>> = Vec::new();
    let mut places = HashMap::new();
    for (anchor, &sample) in samples.iter().enumerate() {
        let place = *places.entry(sample).or_insert_with(|| {
            distinct.push(sample);
            anchors.push(Vec::new());
            anchors.len() - 1
        });
        anchors[place].push(anchor);
    }
    let num_rows = anchors.iter().map(Vec::len).min().unwrap_or(0);
    let rows = (0..num_rows).flat_map(|row| anchors.iter().map(move |anchors| anchors[row]));
    (distinct, rows.collect())
}

/// Where there is a mean.
fn has_mean<const D: usize>(log_means: &Tensor<D>) -> Tensor<D, Bool> {
    log_means.clone().greater_elem(AugmentedLoss::NO_LOG_MEAN)
}

/// `log(mean(exp(rows)))` over the rows, `[num_columns]`.
fn log_mean_exp(rows: Tensor<2>) -> Tensor<1> {
    let [num_rows, _] = rows.dims();
    let largest = rows.clone().max_dim(0);
    let mean = (rows - largest.clone()).exp().sum_dim(0) * (num_rows as f64).recip();
    (mean.log() + largest).squeeze_dim(0)
}

/// `log(exp(left) + exp(right))`.
fn log_add_exp(left: Tensor<1>, right: Tensor<1>) -> Tensor<1> {
    let largest = left.clone().max_pair(right.clone());
    ((left - largest.clone()).exp() + (right - largest.clone()).exp()).log() + largest
}
