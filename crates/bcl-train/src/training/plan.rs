//! What a data loader does in an epoch.

use bcl_core::{
    Estimator,
    schedule::{AlphaMeasurement, AlphaSchedule},
};
use bcl_methods::{Detected, step::Step};
use burn::data::dataloader::DataLoader;
use std::sync::Arc;

/// The plan of an epoch, which the loop sets before it asks the loader for steps.
#[derive(Debug, Clone)]
pub struct EpochPlan {
    /// Epoch, from 0, which determines the order of the samples.
    pub epoch: usize,
    /// First step of the epoch; above 0 if an interrupted epoch continues.
    pub first_step: usize,
    /// The estimator of this epoch; `None` for methods without scores.
    pub estimator: Option<Arc<dyn Estimator>>,
    /// Pairs of one class that were detected; `None` if all negatives count.
    pub detected: Option<Arc<Detected>>,
}

impl EpochPlan {
    /// Whether steps need to know which negatives are false: for the estimator, or because `schedule` measures α by labels.
    pub fn needs_truth(&self, schedule: AlphaSchedule) -> bool {
        let of_estimator = self
            .estimator
            .as_ref()
            .is_some_and(|estimator| estimator.requirements().truth);
        of_estimator || schedule.measures() == Some(AlphaMeasurement::LabelBased)
    }
}

/// A data loader that can start an epoch at any step.
///
/// Step s of epoch e must be the same whether the run was interrupted before it or not.
pub trait PlannedLoader<B>: DataLoader<Step<B>> {
    /// Sets the plan of the next [`iter`](DataLoader::iter).
    fn set_plan(&self, plan: EpochPlan);

    /// Number of steps per epoch.
    fn steps_per_epoch(&self) -> usize;

    /// Number of training samples, which [`Method::samples`](bcl_methods::Method::samples) numbers from 0.
    fn num_samples(&self) -> usize;
}
