//! The estimator of each epoch: the recipe's, with α moved by its schedule.

use super::progress::Progress;
use crate::result::EpochRecord;
use bcl_core::{
    Estimator, EstimatorConfig,
    posterior::Posterior,
    schedule::{AlphaMeasurement, AlphaSchedule},
};
use std::sync::Arc;

/// The estimator of each epoch.
#[derive(Debug, Clone)]
pub struct EpochEstimator {
    config: EstimatorConfig,
    schedule: AlphaSchedule,
}

impl EpochEstimator {
    /// The recipe's estimator and schedule, both checked.
    pub fn new(config: EstimatorConfig, schedule: AlphaSchedule) -> Self {
        Self { config, schedule }
    }

    /// The estimator of the epoch under way.
    pub fn at(&self, progress: &Progress) -> Arc<dyn Estimator> {
        Arc::from(self.config_at(progress).init())
    }

    /// The α of the epoch under way, if the estimator has one.
    pub fn alpha(&self, progress: &Progress) -> Option<f64> {
        let configured = self.config.alpha()?;
        let measure = |record: &EpochRecord| match self.schedule.measures()? {
            AlphaMeasurement::LabelBased => record.alpha_labels,
            AlphaMeasurement::LabelFree => record.alpha_hat,
        };
        let measured = progress.of_phase().filter_map(measure).fold(None, |remembered, measured| {
            Some(self.schedule.remember(remembered, measured))
        });
        Some(self.schedule.alpha(configured, progress.epoch, measured))
    }

    /// The posterior behind the estimator of the epoch under way, if it has one.
    pub fn posterior(&self, progress: &Progress) -> Option<Posterior> {
        match self.config_at(progress) {
            EstimatorConfig::Bayesian(config) => Posterior::new(config.alpha, config.beta, config.tau_plus).ok(),
            _ => None,
        }
    }

    fn config_at(&self, progress: &Progress) -> EstimatorConfig {
        match self.alpha(progress) {
            Some(alpha) => self.config.clone().with_alpha(alpha),
            None => self.config.clone(),
        }
    }
}
