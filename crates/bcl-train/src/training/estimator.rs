//! The estimator of each epoch: the recipe's, with its parameters moved by their schedules.

use super::progress::Progress;
use bcl_core::{
    BayesianLossConfig, ContrastiveObjective, Estimator, EstimatorConfig,
    estimator::MEAN_WEIGHT_TOLERANCE,
    posterior::Posterior,
    schedule::{AlphaMeasurement, AlphaSchedule, Schedule, Schedules},
};
use bcl_methods::{LearnedTemperature, step::RunningRates};
use bcl_report::result::{EpochRecord, Phase};
use burn::tensor::Device;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

/// The estimator of each epoch.
#[derive(Debug, Clone)]
pub struct EpochEstimator {
    config: EstimatorConfig,
    objective: ContrastiveObjective,
    schedules: Schedules,
    alpha_schedule: AlphaSchedule,
    num_negatives: usize,
    /// The last one that was built. Estimators keep tables on the device.
    last: Arc<Mutex<Option<Built>>>,
}

#[derive(Debug)]
struct Built {
    config: EstimatorConfig,
    estimator: Arc<dyn Estimator>,
}

impl EpochEstimator {
    /// The recipe's estimator and schedules, all checked, for rows of so many negatives.
    pub fn new(config: EstimatorConfig, schedules: Schedules, alpha_schedule: AlphaSchedule, num_negatives: usize) -> Self {
        Self {
            config,
            objective: ContrastiveObjective::default(),
            schedules,
            alpha_schedule,
            num_negatives,
            last: Arc::default(),
        }
    }

    /// The share of false negatives that the estimator assumes, if it assumes one.
    pub fn tau_plus(&self) -> Option<f64> {
        self.config.tau_plus()
    }

    /// The [same](Self::tau_plus) at some point of the training.
    pub fn tau_plus_at(&self, progress: &Progress) -> Option<f64> {
        self.schedules.at(&self.config, progress.moment()).tau_plus()
    }

    /// Sets what becomes of the weighted negatives.
    pub fn with_objective(mut self, objective: ContrastiveObjective) -> Self {
        self.objective = objective;
        self.last = Arc::default();
        self
    }

    /// What to warn of before training: weights that are all equal at every value that a schedule is configured with, or whose mean is far
    /// from 1 at some.
    pub fn warning(&self) -> Option<String> {
        let moments = self.schedules.milestones().into_iter();
        let configs = moments.flat_map(|moment| {
            let config = self.schedules.at(&self.config, moment);
            let alphas = config.alpha().map(|configured| self.alpha_schedule.ends(configured));
            let at = move |alpha| match config.clone().with_alpha(alpha) {
                EstimatorConfig::Bayesian(config) => Some(config),
                _ => None,
            };
            alphas.into_iter().flatten().filter_map(at)
        });
        let configs: Vec<BayesianLossConfig> = configs.collect();
        let first = configs.first()?;
        // A measured α is not the configured one for long.
        let is_configured = self.alpha_schedule.measures().is_none();
        if is_configured && configs.iter().all(BayesianLossConfig::weighs_equally) {
            let BayesianLossConfig {
                alpha, beta, tau_plus, ..
            } = first;
            return Some(format!(
                "at loss.alpha = {alpha}, loss.beta = {beta} and loss.tau_plus = {tau_plus} all negatives have the same weight, so this loss is \
                 InfoNCE; change loss.beta to weigh them by rank"
            ));
        }
        let means = configs
            .iter()
            .map(|config| (config.alpha, config.mean_weight(self.num_negatives)));
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

    /// Whether each step has an estimator of its own.
    pub fn changes_each_step(&self) -> bool {
        self.schedules.count_steps()
    }

    /// The estimator of the next step, if it is another one than at the start of the epoch.
    pub fn of_step(&self, progress: &Progress) -> Option<Arc<dyn Estimator>> {
        self.changes_each_step().then(|| self.at(progress))
    }

    /// The estimator of the epoch under way, the same as long as its parameters are. With a learned temperature, it takes scores that are [divided](bcl_methods::LearnedTemperature) by it.
    pub fn at(&self, progress: &Progress) -> Arc<dyn Estimator> {
        let mut config = self.config_at(progress);
        if let Some(Schedule::Learned { .. }) = self.schedules.get("temperature") {
            config.set_parameter("temperature", 1.0);
        }
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(built) = last.as_ref().filter(|built| built.config == config) {
            return built.estimator.clone();
        }
        let estimator: Arc<dyn Estimator> = Arc::from(self.objective.init(&config));
        *last = Some(Built {
            config,
            estimator: estimator.clone(),
        });
        estimator
    }

    /// The temperature before training, if it is learned.
    pub fn learned_temperature(&self, device: &Device) -> Option<LearnedTemperature> {
        match self.schedules.get("temperature")? {
            Schedule::Learned { start, least, most } => Some(LearnedTemperature::new(*start, [*least, *most], device)),
            _ => None,
        }
    }

    /// The running rates before training, if the estimator uses them.
    pub fn running_rates(&self, num_samples: usize, device: &Device) -> Option<RunningRates> {
        let is_used = self.config.parameter("running").is_some();
        is_used.then(|| RunningRates::new(num_samples, device))
    }

    /// The α of the epoch under way, if the estimator has one.
    pub fn alpha(&self, progress: &Progress) -> Option<f64> {
        self.config_at(progress).alpha()
    }

    /// The values of parameters with a schedule in the epoch under way, or after its last step if they change from step to step. The trained
    /// value of a learned temperature takes the place of its initial one.
    pub fn scheduled(&self, progress: &Progress, temperature: Option<f64>) -> BTreeMap<String, f64> {
        let value = |(parameter, schedule): (&str, &Schedule)| {
            let value = match schedule {
                Schedule::Learned { start, .. } => temperature.unwrap_or(*start),
                schedule => schedule.value(progress.moment()),
            };
            (parameter.to_owned(), value)
        };
        self.schedules.iter().map(value).collect()
    }

    /// The posterior behind the estimator of the epoch under way, if it has one.
    pub fn posterior(&self, progress: &Progress) -> Option<Posterior> {
        match self.config_at(progress) {
            EstimatorConfig::Bayesian(config) => Posterior::new(config.alpha, config.beta, config.tau_plus).ok(),
            _ => None,
        }
    }

    /// The records whose measurements α follows. Encoders are evaluated while an epoch is chosen; after that, the same epochs have the same α.
    fn measured_records<'p>(&self, progress: &'p Progress) -> impl Iterator<Item = &'p EpochRecord> + use<'p> {
        let of_evaluation = matches!(
            self.alpha_schedule.measures(),
            Some(AlphaMeasurement::HeldOut | AlphaMeasurement::Training)
        );
        let phase = match progress.phase {
            Phase::Refit if of_evaluation => Phase::Selection,
            phase => phase,
        };
        let until = progress.epoch;
        let counts = move |record: &&EpochRecord| record.phase == phase && record.epoch <= until;
        progress.records.iter().filter(counts)
    }

    fn config_at(&self, progress: &Progress) -> EstimatorConfig {
        let config = self.schedules.at(&self.config, progress.moment());
        let Some(configured) = config.alpha() else {
            return config;
        };
        let measure = |record: &EpochRecord| match self.alpha_schedule.measures()? {
            AlphaMeasurement::LabelBased => record.alpha_labels,
            AlphaMeasurement::LabelFree => record.alpha_hat,
            AlphaMeasurement::HeldOut | AlphaMeasurement::Training => record.macro_auc,
            _ => None,
        };
        let measured = self
            .measured_records(progress)
            .filter_map(measure)
            .fold(None, |remembered, measured| {
                Some(self.alpha_schedule.remember(remembered, measured))
            });
        let config = config.with_alpha(self.alpha_schedule.alpha(configured, progress.epoch, measured));
        match measured {
            // A good encoder's measurement may come as close to the pole at 1 as it likes; a configured value is the user's choice.
            Some(_) => config.away_from_the_pole(self.num_negatives),
            None => config,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::training::progress::Owner;
    use bcl_core::{BayesianLossConfig, InfoNceLossConfig, schedule::AlphaReading};
    use bcl_report::result::Phase;

    const LABEL_FREE: AlphaSchedule = AlphaSchedule::LabelFree {
        reading: AlphaReading::Paper,
        smoothing: 0.0,
    };

    fn at(config: &BayesianLossConfig, schedule: AlphaSchedule, auc: Option<f64>, num_negatives: usize) -> f64 {
        let mut progress = Progress::start(Owner::default(), Phase::Training, 1, Vec::new());
        let line = r#"{"phase":"training","epoch":1,"loss":1.5,"omega_quantiles":[],"train_seconds":1,"evaluation_seconds":1}"#;
        let mut record: EpochRecord = serde_json::from_str(line).unwrap();
        record.alpha_hat = auc;
        progress.records.push(record);
        progress.epoch = 1;
        let config = EstimatorConfig::Bayesian(config.clone());
        EpochEstimator::new(config, Schedules::default(), schedule, num_negatives)
            .alpha(&progress)
            .unwrap()
    }

    #[test]
    fn a_measured_alpha_keeps_away_from_the_pole_and_a_configured_one_is_taken_as_it_is() {
        let config = BayesianLossConfig::new().with_beta(1.0).with_tau_plus(0.0).with_alpha(0.999);
        let alpha = at(&config, LABEL_FREE, Some(bcl_core::auc::ALPHA_CEILING), 510);
        let mean = config.clone().with_alpha(alpha).mean_weight(510);
        assert!(alpha > 0.95 && mean <= 1.1, "{mean} at {alpha}");
        assert_eq!(at(&config, LABEL_FREE, None, 510), 0.999);
        assert_eq!(at(&config, AlphaSchedule::Constant {}, Some(1.0), 510), 0.999);
        assert_eq!(
            at(&BayesianLossConfig::new(), LABEL_FREE, Some(0.97), 510),
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
        assert!((at(&BayesianLossConfig::new(), schedule, Some(0.7), 510) - 0.8).abs() < 1e-12);
    }

    /// The record of an epoch, whose macro AUC is `auc`.
    fn of_auc(phase: Phase, epoch: usize, auc: Option<f64>) -> EpochRecord {
        let line = r#"{"phase":"training","epoch":1,"loss":1.5,"omega_quantiles":[],"train_seconds":1,"evaluation_seconds":1}"#;
        EpochRecord {
            phase,
            epoch,
            macro_auc: auc,
            ..serde_json::from_str(line).unwrap()
        }
    }

    #[test]
    fn a_refit_has_the_alpha_that_was_measured_on_held_out_data_in_the_same_epoch() {
        let reading = AlphaReading::Paper;
        let aucs = [Some(0.6), None, Some(0.8)];
        let selected: Vec<_> = (1..)
            .zip(aucs)
            .map(|(epoch, auc)| of_auc(Phase::Selection, epoch, auc))
            .collect();
        let config = EstimatorConfig::Bayesian(BayesianLossConfig::new().with_alpha(0.9));
        let alphas = |schedule, phase, records: &[EpochRecord]| {
            let estimator = EpochEstimator::new(config.clone(), Schedules::default(), schedule, 510);
            [0, 1, 2, 3, 7].map(|epoch| {
                let mut progress = Progress::start(Owner::default(), phase, 1, records.to_vec());
                progress.epoch = epoch;
                estimator.alpha(&progress).unwrap()
            })
        };
        let held_out = AlphaSchedule::HeldOut { reading };
        for phase in [Phase::Selection, Phase::Refit] {
            assert_eq!(alphas(held_out, phase, &selected), [0.9, 0.6, 0.6, 0.8, 0.8], "{phase:?}");
        }
        let trained: Vec<_> = (1..)
            .zip(aucs)
            .map(|(epoch, auc)| of_auc(Phase::Training, epoch, auc))
            .collect();
        let empirical = AlphaSchedule::ReleasedEmpirical { reading };
        assert_eq!(alphas(empirical, Phase::Training, &trained), [0.9, 0.6, 0.6, 0.8, 0.8]);
        // What one epoch measures in its own batch is no measurement on held-out data.
        assert_eq!(alphas(LABEL_FREE, Phase::Refit, &selected), [0.9; 5]);
    }

    #[test]
    fn weights_whose_mean_is_far_from_one_are_warned_of() {
        let warning = |config: BayesianLossConfig, schedule, num_negatives| {
            EpochEstimator::new(
                EstimatorConfig::Bayesian(config),
                Schedules::default(),
                schedule,
                num_negatives,
            )
            .warning()
        };
        let constant = AlphaSchedule::Constant {};
        let near_the_pole = BayesianLossConfig::new()
            .with_alpha(0.999)
            .with_beta(1.0)
            .with_tau_plus(0.0008);
        let text = warning(near_the_pole.clone(), constant, 128).unwrap();
        assert!(text.contains("5.2") && text.contains("loss.normalised = true"), "{text}");
        assert_eq!(warning(near_the_pole.with_normalised(true), constant, 128), None);
        assert_eq!(warning(BayesianLossConfig::new(), constant, 510), None);
        // Too little weight is as wrong as too much, and the end of a climb as the beginning.
        assert!(warning(BayesianLossConfig::new(), constant, 1).is_some());
        let climb = AlphaSchedule::Linear {
            start: 0.5,
            end: 0.999,
            epochs: 10,
        };
        let text = warning(BayesianLossConfig::new().with_beta(1.0).with_tau_plus(0.0), climb, 128).unwrap();
        assert!(text.contains("alpha = 0.999"), "{text}");
        let info_nce = EstimatorConfig::InfoNce(InfoNceLossConfig::new());
        assert_eq!(
            EpochEstimator::new(info_nce, Schedules::default(), constant, 1).warning(),
            None
        );
    }

    #[test]
    fn weights_that_are_all_equal_are_warned_of() {
        let warning = |alpha_schedule| {
            let config = BayesianLossConfig::new().with_alpha(0.9).with_beta(0.9).with_tau_plus(0.5);
            EpochEstimator::new(EstimatorConfig::Bayesian(config), Schedules::default(), alpha_schedule, 510).warning()
        };
        let text = warning(AlphaSchedule::Constant {}).unwrap();
        assert!(
            text.contains("loss.beta = 0.9 and loss.tau_plus = 0.5") && text.contains("InfoNCE"),
            "{text}"
        );
        // It begins as InfoNCE, but alpha moves.
        let (start, end, epochs) = (0.9, 0.5, 10);
        assert_eq!(warning(AlphaSchedule::Linear { start, end, epochs }), None);
        assert_eq!(warning(LABEL_FREE), None);
    }

    fn in_epoch(epoch: usize) -> Progress {
        Progress {
            epoch,
            ..Progress::start(Owner::default(), Phase::Training, 1, Vec::new())
        }
    }

    fn linear(start: f64, end: f64) -> Schedule {
        Schedule::Linear {
            start,
            end,
            epochs: Some(4),
            steps: None,
        }
    }

    #[test]
    fn every_parameter_follows_its_schedule() {
        let schedules = [("temperature", linear(0.5, 0.1)), ("alpha", linear(0.6, 0.8))];
        let schedules = schedules
            .map(|(name, schedule)| (name.to_owned(), schedule))
            .into_iter()
            .collect();
        let config = EstimatorConfig::Bayesian(BayesianLossConfig::new());
        let estimator = EpochEstimator::new(config, schedules, AlphaSchedule::Constant {}, 510);
        for (epoch, temperature, alpha) in [(0, 0.5, 0.6), (2, 0.3, 0.7), (9, 0.1, 0.8)] {
            let progress = in_epoch(epoch);
            assert_eq!(estimator.at(&progress).temperature(), temperature);
            assert_eq!(estimator.alpha(&progress), Some(alpha));
            assert_eq!(
                estimator.scheduled(&progress, None),
                BTreeMap::from([("alpha".to_owned(), alpha), ("temperature".to_owned(), temperature)])
            );
        }
        let of = |beta| [("beta".to_owned(), beta)].into_iter().collect();
        let near_the_pole = EstimatorConfig::Bayesian(BayesianLossConfig::new().with_alpha(0.999).with_tau_plus(0.0008));
        let warning = |beta| EpochEstimator::new(near_the_pole.clone(), of(beta), AlphaSchedule::Constant {}, 128).warning();
        assert_eq!(warning(linear(0.5, 0.6)), None);
        assert!(warning(linear(0.5, 1.0)).is_some(), "the last value counts, too");
    }

    #[test]
    fn a_schedule_over_steps_has_an_estimator_for_each_step() {
        let of = |schedule| {
            let schedules = [("temperature".to_owned(), schedule)].into_iter().collect();
            let config = EstimatorConfig::InfoNce(InfoNceLossConfig::new());
            EpochEstimator::new(config, schedules, AlphaSchedule::Constant {}, 510)
        };
        let harmonic = of(Schedule::Harmonic {
            start: 1.0,
            end: 0.2,
            epochs: None,
            steps: Some(1),
        });
        for (step, temperature) in [(0, 1.0), (1, 0.6), (3, 0.4)] {
            let progress = Progress { step, ..in_epoch(2) };
            let found = harmonic.of_step(&progress).map(|estimator| estimator.temperature());
            assert!((found.unwrap() - temperature).abs() < 1e-12, "{found:?}");
            assert_eq!(harmonic.scheduled(&progress, None)["temperature"], found.unwrap());
        }
        assert!(of(linear(0.5, 0.1)).of_step(&in_epoch(2)).is_none());
    }

    #[test]
    fn the_estimator_of_a_learned_temperature_takes_scores_that_are_divided_by_it() {
        let learned = Schedule::Learned {
            start: 0.07,
            least: 0.01,
            most: 1.0,
        };
        let schedules = [("temperature".to_owned(), learned)].into_iter().collect();
        let config = EstimatorConfig::InfoNce(InfoNceLossConfig::new());
        let estimator = EpochEstimator::new(config, schedules, AlphaSchedule::Constant {}, 510);
        let progress = in_epoch(3);
        assert_eq!(estimator.at(&progress).temperature(), 1.0);
        assert_eq!(estimator.scheduled(&progress, Some(0.2))["temperature"], 0.2);
        let initial = estimator.learned_temperature(&Device::flex()).expect("it is learned").value();
        assert!((initial - 0.07).abs() < 1e-8, "{initial}");
    }
}
