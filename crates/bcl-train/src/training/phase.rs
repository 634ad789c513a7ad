//! One phase of a run, with its folder, checkpoints, metrics and progress bar, on Burn's `SupervisedTraining`.

mod epoch_loop;

use super::RunLog;
use super::{
    checkpoint::{self, FoundCheckpoint, KeepLast},
    estimator::EpochEstimator,
    evaluate::{EvaluationLoader, EvaluationTask},
    folder::RunFolder,
    learned::Learned,
    live_metrics::{
        ALPHA_HAT, CLUSTERS, DETECTED, EFFECTIVE_SAMPLE_SIZE, FLOORED, LOSS, LiveMetric, SELECTED, STABILITY, STRENGTH,
    },
    numbered::numbered,
    plan::{EpochPlan, PlannedLoader},
    progress::Progress,
    recovery::Recovery,
    renderer::Renderer,
    stop::Stop,
    stopping_rule::StoppingRule,
};
use crate::error::Error;
use bcl_collective::Collective;
use bcl_data::Seed;
use bcl_files::notice;
use bcl_methods::Method;
use bcl_recipe::{OptimizerConfig, RecoveryConfig, TrainingConfig};
use burn::{
    tensor::Device,
    train::{Learner, SupervisedTraining, TrainingStrategy, logger::InMemoryMetricLogger},
};
use epoch_loop::EpochLoop;
use serde::{Deserialize, Serialize};
use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

/// Where a phase starts: at its beginning, or from the newest checkpoint in the run's folder.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Start {
    /// The progress so far.
    pub progress: Progress,
    /// Whether it comes from a checkpoint.
    pub resumed: bool,
}

impl Start {
    /// Prepares the folder of a run for a phase that ends by the rule `until`, and looks for a checkpoint, which may come from a shorter run.
    ///
    /// # Errors
    /// If the folder cannot be written to, or its checkpoint belongs to another run.
    pub fn find(folder: &RunFolder, beginning: Progress, until: StoppingRule) -> Result<Self, Error> {
        let checkpoint = newest(folder, &beginning)?;
        bcl_files::create_folder(&folder.checkpoints(beginning.phase))?;
        let resumed = checkpoint.is_some();
        let FoundCheckpoint { mut progress, remarks } = checkpoint.unwrap_or(FoundCheckpoint {
            progress: beginning,
            remarks: Vec::new(),
        });
        for remark in remarks {
            notice::warn(remark);
        }
        let phase = progress.phase;
        for record in progress.records.iter_mut().filter(|record| record.phase == phase) {
            until.trim(record);
        }
        folder.rewrite_metrics(&progress.records)?;
        Ok(Self { progress, resumed })
    }
}

/// Returns the newest checkpoint of the phase that starts with `beginning`.
///
/// # Errors
/// If the checkpoint belongs to another run or cannot be read.
pub fn newest(folder: &RunFolder, beginning: &Progress) -> Result<Option<FoundCheckpoint>, Error> {
    newest_in(&folder.checkpoints(beginning.phase), folder, beginning)
}

/// As [`newest`], from a folder of checkpoints within the run's folder.
///
/// # Errors
/// As [`newest`].
pub fn newest_in(checkpoints: &Path, folder: &RunFolder, beginning: &Progress) -> Result<Option<FoundCheckpoint>, Error> {
    let Some(found) = checkpoint::newest(checkpoints, beginning.phase)? else {
        return Ok(None);
    };
    match beginning.foreign(&found.progress) {
        None => Ok(Some(found)),
        Some(other) => Err(Error::Input(format!(
            "the checkpoint in {} belongs to {other} and does not match {}; put the checkpoints and recipe.toml of one run together, or \
             start a new run without --resume",
            checkpoints.display(),
            folder.recipe_file().display()
        ))),
    }
}

/// How false negatives are detected.
#[derive(Debug, Clone)]
pub struct RecoveryPlan {
    /// The table of the recipe.
    pub config: RecoveryConfig,
    /// Number of features of a sample.
    pub num_features: usize,
    /// The seed of the run.
    pub seed: Seed,
}

/// One phase of a run: how it trains, and where it is. The method and its data join in [`train`](Self::train).
#[derive(Debug)]
pub struct PhaseRun {
    /// The folder of the run.
    pub folder: RunFolder,
    /// Name of the recipe and the phase, for the progress bar.
    pub label: String,
    /// The metric that selects the epoch.
    pub select_by: Arc<str>,
    /// The estimator of each epoch; `None` for methods without negatives.
    pub estimator: Option<EpochEstimator>,
    /// How false negatives are detected, if they are.
    pub recovery: Option<RecoveryPlan>,
    /// What to say if no anchor of an epoch has a negative.
    pub why_no_negatives: &'static str,
    /// When the phase ends.
    pub until: StoppingRule,
    /// The loggers of the phase.
    pub log: RunLog,
    /// The epoch after which to save the final weights.
    pub keep: Option<usize>,
    /// The optimizer and its schedule.
    pub optimizer: OptimizerConfig,
    /// Batch size, batches per optimizer step, and the number of epochs that schedules are spread over.
    pub training: TrainingConfig,
    /// The device that trains.
    pub device: Device,
    /// Whether to hide the progress.
    pub quiet: bool,
    /// Ends training after the current step.
    pub stop: Stop,
    /// The processes that train together. Process 0 alone evaluates and writes files.
    pub processes: Arc<dyn Collective>,
    /// What has been trained so far.
    pub progress: Progress,
    /// Whether `progress` is a checkpoint whose weights must be loaded.
    pub resumed: bool,
}

impl PhaseRun {
    /// The folder of the checkpoints of this phase.
    pub fn checkpoints(&self) -> PathBuf {
        self.folder.checkpoints(self.progress.phase)
    }

    /// The share of false negatives that the estimator assumes, if it assumes one.
    pub fn tau_plus(&self) -> Option<f64> {
        self.estimator.as_ref().and_then(EpochEstimator::tau_plus)
    }

    /// What the loader of training samples does first.
    pub fn plan(&self) -> EpochPlan {
        EpochPlan {
            epoch: self.progress.epoch,
            first_step: 0,
            estimator: self.estimator.as_ref().map(|estimator| estimator.at(&self.progress)),
            detected: None,
        }
    }

    /// Trains a method until the phase ends.
    ///
    /// # Errors
    /// If data or checkpoints cannot be read or written, the loss diverges, or the run is interrupted. Files written so far remain.
    pub fn train<M: Method, L>(self, method: M, loader: L, task: EvaluationTask<Learned<M>>) -> Result<Progress, Error>
    where
        L: PlannedLoader<M::Batch> + Clone + 'static,
    {
        let _registration = self.stop.register();
        let estimator = self.estimator.as_ref();
        let temperature = estimator.and_then(|estimator| estimator.learned_temperature(&self.device));
        let rates = estimator.and_then(|estimator| estimator.running_rates(loader.num_samples(), &self.device));
        let recovery = self.recovery.as_ref();
        let recovery = recovery.map(|plan| Recovery::new(loader.num_samples(), plan.num_features, &self.device));
        let model = Learned::new(method, self.optimizer.largest_global_norm())
            .with_temperature(temperature)
            .with_rates(rates)
            .with_recovery(recovery)
            .with_step_graph(self.training.step_graph && !estimator.is_some_and(EpochEstimator::changes_each_step));
        let steps_per_epoch = loader.steps_per_epoch();
        self.progress.steps_of_epoch(steps_per_epoch)?;
        let learning_rate = self
            .optimizer
            .schedule(self.training.epochs, steps_per_epoch.div_ceil(self.training.accumulate));
        let learner = Learner::new(numbered(model), self.optimizer.init(), learning_rate);
        let checkpoints = self.checkpoints();
        let (model_records, optimizer_records, scheduler_records) = checkpoint::checkpointers(&checkpoints);
        let renderer = Renderer::new(self.quiet, &self.select_by, self.progress.epoch + 1, steps_per_epoch);
        let training = SupervisedTraining::new(self.folder.path(), Arc::new(loader.clone()), Arc::new(EvaluationLoader(task)))
            .with_custom_checkpointers(model_records, optimizer_records, scheduler_records)
            .with_checkpointing_strategy(KeepLast::continuing(checkpoint::completed_steps(&checkpoints)?))
            .with_application_logger(None)
            .with_metric_logger(InMemoryMetricLogger::new())
            .renderer(Box::new(renderer))
            .metric_train_numeric(LiveMetric::new(LOSS))
            .metric_valid_numeric(LiveMetric::new(SELECTED))
            .metric_valid_numeric(LiveMetric::new(ALPHA_HAT))
            .metric_valid_numeric(LiveMetric::new(EFFECTIVE_SAMPLE_SIZE))
            .metric_valid_numeric(LiveMetric::new(FLOORED))
            .metric_valid_numeric(LiveMetric::new(CLUSTERS))
            .metric_valid_numeric(LiveMetric::new(STABILITY))
            .metric_valid_numeric(LiveMetric::new(STRENGTH))
            .metric_valid_numeric(LiveMetric::new(DETECTED))
            .num_epochs(self.until.at_most())
            .label(&self.label);
        let epoch_loop = Arc::new(EpochLoop {
            loader,
            phase: Mutex::new(self),
            outcome: Mutex::new(None),
        });
        training
            .with_training_strategy(TrainingStrategy::Custom(epoch_loop.clone()))
            .launch(learner);
        let outcome = epoch_loop.outcome.lock().expect("the loop is over").take();
        outcome.unwrap_or_else(|| Err(Error::Training("the training loop ended without a result".to_owned())))?;
        let phase = epoch_loop.phase.lock().expect("the loop is over");
        Ok(phase.progress.clone())
    }
}
