//! The estimator of each epoch: the recipe's, with α moved by its schedule.

use super::progress::Progress;
use bcl_core::{
    Estimator, EstimatorConfig,
    estimator::MEAN_WEIGHT_TOLERANCE,
    posterior::Posterior,
    schedule::{AlphaMeasurement, AlphaSchedule},
};
use bcl_report::result::EpochRecord;
use std::sync::Arc;

/// The estimator of each epoch.
#[derive(Debug, Clone)]
pub struct EpochEstimator {
    config: EstimatorConfig,
    schedule: AlphaSchedule,
    num_negatives: usize,
}

impl EpochEstimator {
    /// The recipe's estimator and schedule, both checked, for rows of so many negatives.
    pub fn new(config: EstimatorConfig, schedule: AlphaSchedule, num_negatives: usize) -> Self {
        Self {
            config,
            schedule,
            num_negatives,
        }
    }

    /// What to warn of before training: weights whose mean is far from 1 at some α that the schedule is configured with.
    pub fn warning(&self) -> Option<String> {
        let configured = self.config.alpha()?;
        let mean = |alpha| Some((alpha, self.config.clone().with_alpha(alpha).mean_weight(self.num_negatives)?));
        let means = self.schedule.ends(configured).map(mean).into_iter().flatten();
        let (alpha, mean) = means.max_by(|(_, left), (_, right)| (left - 1.0).abs().total_cmp(&(right - 1.0).abs()))?;
        // Not the other way round: a mean that is not a number is off, too.
        let is_near_one = (mean - 1.0).abs() <= MEAN_WEIGHT_TOLERANCE;
        (!is_near_one).then(|| {
            format!(
                "the weights of {} negatives have a mean of {mean:.3} at alpha = {alpha}, where 1 is meant, and scale the mass of the \
                 negatives by it; set loss.normalised = true to divide by it, or change loss.beta or loss.tau_plus",
                self.num_negatives
            )
        })
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
        let alpha = self.schedule.alpha(configured, progress.epoch, measured);
        if measured.is_none() {
            return Some(alpha);
        }
        // A good encoder's measurement may come as close to the pole at 1 as it likes; a configured value is the user's choice.
        self.config
            .clone()
            .with_alpha(alpha)
            .away_from_the_pole(self.num_negatives)
            .alpha()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::training::progress::Owner;
    use bcl_core::{BayesianConfig, InfoNceConfig, schedule::AlphaReading};
    use bcl_report::result::Phase;

    const LABEL_FREE: AlphaSchedule = AlphaSchedule::LabelFree {
        reading: AlphaReading::Paper,
        smoothing: 0.0,
    };

    fn at(config: &BayesianConfig, schedule: AlphaSchedule, auc: Option<f64>, num_negatives: usize) -> f64 {
        let mut progress = Progress::start(Owner::default(), Phase::Training, 1, Vec::new());
        let line = r#"{"phase":"training","epoch":1,"loss":1.5,"omega_quantiles":[],"train_seconds":1,"evaluation_seconds":1}"#;
        let mut record: EpochRecord = serde_json::from_str(line).unwrap();
        record.alpha_hat = auc;
        progress.records.push(record);
        progress.epoch = 1;
        let config = EstimatorConfig::Bayesian(config.clone());
        EpochEstimator::new(config, schedule, num_negatives).alpha(&progress).unwrap()
    }

    #[test]
    fn a_measured_alpha_keeps_away_from_the_pole_and_a_configured_one_is_taken_as_it_is() {
        let config = BayesianConfig::new().with_beta(1.0).with_tau_plus(0.0).with_alpha(0.999);
        let alpha = at(&config, LABEL_FREE, Some(bcl_core::auc::ALPHA_CEILING), 510);
        let mean = config.clone().with_alpha(alpha).mean_weight(510);
        assert!(alpha > 0.95 && mean <= 1.1, "{mean} at {alpha}");
        assert_eq!(at(&config, LABEL_FREE, None, 510), 0.999);
        assert_eq!(at(&config, AlphaSchedule::Constant {}, Some(1.0), 510), 0.999);
        assert_eq!(
            at(&BayesianConfig::new(), LABEL_FREE, Some(0.97), 510),
            0.97,
            "far from the pole nothing changes"
        );
    }

    #[test]
    fn the_models_reading_is_the_inversion() {
        let schedule = AlphaSchedule::LabelFree {
            reading: AlphaReading::Model,
            smoothing: 0.0,
        };
        assert!((at(&BayesianConfig::new(), schedule, Some(0.7), 510) - 0.8).abs() < 1e-12);
    }

    #[test]
    fn weights_whose_mean_is_far_from_one_are_warned_of() {
        let warning = |config: BayesianConfig, schedule, num_negatives| {
            EpochEstimator::new(EstimatorConfig::Bayesian(config), schedule, num_negatives).warning()
        };
        let constant = AlphaSchedule::Constant {};
        let near_the_pole = BayesianConfig::new().with_alpha(0.999).with_beta(1.0).with_tau_plus(0.0008);
        let text = warning(near_the_pole.clone(), constant, 128).unwrap();
        assert!(text.contains("5.2") && text.contains("loss.normalised = true"), "{text}");
        assert_eq!(warning(near_the_pole.with_normalised(true), constant, 128), None);
        assert_eq!(warning(BayesianConfig::new(), constant, 510), None);
        // Too little weight is as wrong as too much, and the end of a climb as the beginning.
        assert!(warning(BayesianConfig::new(), constant, 1).is_some());
        let climb = AlphaSchedule::Linear {
            start: 0.5,
            end: 0.999,
            epochs: 10,
        };
        let text = warning(BayesianConfig::new().with_beta(1.0).with_tau_plus(0.0), climb, 128).unwrap();
        assert!(text.contains("alpha = 0.999"), "{text}");
        let info_nce = EstimatorConfig::InfoNce(InfoNceConfig::new());
        assert_eq!(EpochEstimator::new(info_nce, constant, 1).warning(), None);
    }
}
