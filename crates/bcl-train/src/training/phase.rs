//! One phase of a run, with its folder, checkpoints, metrics and progress bar, on Burn's `SupervisedTraining`.

use super::RunLog;
use super::{
    checkpoint::{self, FoundCheckpoint, KeepLast},
    epoch_loop::EpochLoop,
    estimator::EpochEstimator,
    evaluate::{EvaluationLoader, EvaluationTask},
    folder::RunFolder,
    learned::Learned,
    live_metrics::{ALPHA_HAT, EFFECTIVE_SAMPLE_SIZE, FLOORED, LOSS, LiveMetric, SELECTED},
    numbered::numbered,
    plan::PlannedLoader,
    progress::Progress,
    renderer::Renderer,
    stop::Stop,
    stopping_rule::StoppingRule,
};
use crate::error::Error;
use bcl_collective::Collective;
use bcl_files::notice;
use bcl_methods::Method;
use burn::{
    optim::{ModuleOptimizer, lr_scheduler::module_lr_scheduler::ModuleLrScheduler},
    tensor::Device,
    train::{Learner, SupervisedTraining, TrainingStrategy, logger::InMemoryMetricLogger},
};
use serde::{Deserialize, Serialize};
use std::{
    path::Path,
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

/// The options of a phase, apart from method and data.
#[derive(Debug)]
pub struct PhaseOptions<'a> {
    /// The folder of the run.
    pub folder: &'a RunFolder,
    /// Name of the recipe and the phase, for the progress bar.
    pub label: String,
    /// The metric that selects the epoch.
    pub select_by: Arc<str>,
    /// The estimator of each epoch; `None` for methods without negatives.
    pub estimator: Option<EpochEstimator>,
    /// When the phase ends.
    pub until: StoppingRule,
    /// The loggers of the phase.
    pub log: RunLog,
    /// The epoch after which to save the final weights.
    pub keep: Option<usize>,
    /// Where the phase starts.
    pub start: Start,
    /// Number of batches per optimizer step.
    pub accumulate: usize,
    /// The device that trains.
    pub device: Device,
    /// Whether to hide the progress.
    pub quiet: bool,
    /// Ends training after the current step.
    pub stop: Stop,
    /// The processes that train together.
    pub processes: Arc<dyn Collective>,
}

impl PhaseOptions<'_> {
    /// Trains a model until the phase ends.
    ///
    /// # Errors
    /// If data or checkpoints cannot be read or written, the loss diverges, or the run is interrupted. Files written so far remain.
    pub fn train<M: Method, L>(
        self,
        model: Learned<M>,
        optimizer: ModuleOptimizer,
        learning_rate: impl Into<ModuleLrScheduler>,
        loader: L,
        task: EvaluationTask<Learned<M>>,
    ) -> Result<Progress, Error>
    where
        L: PlannedLoader<M::Batch> + Clone + 'static,
    {
        let _registration = self.stop.register();
        let estimator = self.estimator.as_ref();
        let temperature = estimator.and_then(|estimator| estimator.learned_temperature(&self.device));
        let rates = estimator.and_then(|estimator| estimator.running_rates(loader.num_samples(), &self.device));
        let model = model.with_temperature(temperature).with_rates(rates);
        let Start { progress, resumed } = self.start;
        progress.steps_of_epoch(loader.steps_per_epoch())?;
        let checkpoints = self.folder.checkpoints(progress.phase);
        let first_epoch = progress.epoch + 1;
        let steps_per_epoch = loader.steps_per_epoch();
        let epoch_loop = Arc::new(EpochLoop {
            resumed,
            until: self.until,
            select_by: self.select_by.to_string(),
            accumulate: self.accumulate,
            estimator: self.estimator,
            loader: loader.clone(),
            metrics_file: self.folder.metrics_file(),
            log: self.log,
            keep: self.keep.map(|epoch| (epoch, self.folder.model_file())),
            device: self.device,
            stop: self.stop.clone(),
            processes: self.processes,
            outcome: Mutex::new(None),
            checkpoints: checkpoints.clone(),
            start: progress,
        });
        let (model_records, optimizer_records, scheduler_records) = checkpoint::checkpointers(&checkpoints);
        SupervisedTraining::new(self.folder.path(), Arc::new(loader), Arc::new(EvaluationLoader(task)))
            .with_training_strategy(TrainingStrategy::Custom(epoch_loop.clone()))
            .with_custom_checkpointers(model_records, optimizer_records, scheduler_records)
            .with_checkpointing_strategy(KeepLast::continuing(checkpoint::completed_steps(&checkpoints)?))
            .with_application_logger(None)
            .with_metric_logger(InMemoryMetricLogger::new())
            .renderer(Box::new(Renderer::new(
                self.quiet,
                &self.select_by,
                first_epoch,
                steps_per_epoch,
            )))
            .metric_train_numeric(LiveMetric::new(LOSS))
            .metric_valid_numeric(LiveMetric::new(SELECTED))
            .metric_valid_numeric(LiveMetric::new(ALPHA_HAT))
            .metric_valid_numeric(LiveMetric::new(EFFECTIVE_SAMPLE_SIZE))
            .metric_valid_numeric(LiveMetric::new(FLOORED))
            .num_epochs(self.until.at_most())
            .label(&self.label)
            .launch(Learner::new(numbered(model), optimizer, learning_rate));
        let outcome = epoch_loop.outcome.lock().expect("the loop is over").take();
        outcome.unwrap_or_else(|| Err(Error::Training("the training loop ended without a result".to_owned())))
    }
}
