//! One phase of a run on Burn's training: whatever is trained, the same folder, checkpoints, metrics and progress bar.

use super::{
    checkpoint::{self, Found, KeepLast},
    epoch_loop::EpochLoop,
    estimator::EpochEstimator,
    evaluate::{EvaluationLoader, EvaluationTask},
    figures::{ALPHA_HAT, EFFECTIVE_SAMPLE_SIZE, FigureMetric, LOSS, SELECTED},
    folder::RunFolder,
    learned::Learned,
    numbered::numbered,
    progress::Progress,
    renderer::Renderer,
    step::PlannedLoader,
    stop::Stop,
    stopping::Until,
};
use crate::{error::Error, methods::Method};
use bcl_report::{files, notice};
use burn::{
    optim::{ModuleOptimizer, lr_scheduler::module_lr_scheduler::ModuleLrScheduler},
    tensor::Device,
    train::{Learner, SupervisedTraining, TrainingStrategy, logger::InMemoryMetricLogger},
};
use std::sync::{Arc, Mutex};

/// Where a phase begins: at its beginning, or at the newest checkpoint in the folder of its run.
#[derive(Debug, Clone)]
pub struct Start {
    /// What has been done so far.
    pub progress: Progress,
    /// Whether a checkpoint says so.
    pub resumed: bool,
}

impl Start {
    /// Prepares the folder of a run for a phase, and finds out where it goes on.
    ///
    /// # Errors
    /// When the folder cannot be written, or its checkpoint belongs to another run.
    pub fn find(folder: &RunFolder, beginning: Progress) -> Result<Self, Error> {
        let checkpoint = newest(folder, &beginning)?;
        files::create_folder(&folder.checkpoints(beginning.phase))?;
        let resumed = checkpoint.is_some();
        let Found { progress, remarks } = checkpoint.unwrap_or(Found {
            progress: beginning,
            remarks: Vec::new(),
        });
        for remark in remarks {
            notice::warn(remark);
        }
        folder.rewrite_metrics(&progress.records)?;
        Ok(Self { progress, resumed })
    }
}

/// The newest checkpoint of the phase that has this beginning.
///
/// # Errors
/// When it belongs to another run, or cannot be read.
pub fn newest(folder: &RunFolder, beginning: &Progress) -> Result<Option<Found>, Error> {
    let checkpoints = folder.checkpoints(beginning.phase);
    let Some(found) = checkpoint::newest(&checkpoints, beginning.phase)? else {
        return Ok(None);
    };
    match beginning.foreign(&found.progress) {
        None => Ok(Some(found)),
        Some(other) => Err(Error::Input(format!(
            "the checkpoint in {} belongs to {other}: it does not go with {}; put the checkpoints and recipe.toml of one run together, or \
             start a new run without --resume",
            checkpoints.display(),
            folder.recipe_file().display()
        ))),
    }
}

/// How a phase goes, apart from what is trained on what.
#[derive(Debug)]
pub struct PhaseOptions<'a> {
    /// Where everything is written.
    pub folder: &'a RunFolder,
    /// Name of the recipe and the phase, for the progress bar.
    pub label: String,
    /// The figure that selects the epoch.
    pub select_by: &'a str,
    /// The estimator of each epoch.
    pub estimator: Option<EpochEstimator>,
    /// When the phase is over.
    pub until: Until,
    /// The epoch after which the weights are to be kept for good.
    pub keep: Option<usize>,
    /// Where it begins.
    pub start: Start,
    /// Where it trains.
    pub device: Device,
    /// Whether to show no progress.
    pub quiet: bool,
    /// Stops it after the step under way.
    pub stop: Stop,
}

impl PhaseOptions<'_> {
    /// Trains a model to the end of the phase.
    ///
    /// # Errors
    /// When data or disk do not allow it, the loss diverges, or the run is interrupted; what was written stays.
    pub fn train<M: Method, L>(
        self,
        model: Learned<M>,
        optimizer: ModuleOptimizer,
        learning_rate: impl Into<ModuleLrScheduler>,
        loader: L,
        task: EvaluationTask<M>,
    ) -> Result<Progress, Error>
    where
        L: PlannedLoader<M::Batch> + Clone + 'static,
    {
        let _attended = self.stop.attend();
        let Start { progress, resumed } = self.start;
        progress.steps_of_epoch(loader.steps_per_epoch())?;
        let checkpoints = self.folder.checkpoints(progress.phase);
        let first_epoch = progress.epoch + 1;
        let steps_per_epoch = loader.steps_per_epoch();
        let epoch_loop = Arc::new(EpochLoop {
            resumed,
            until: self.until,
            select_by: self.select_by.to_owned(),
            estimator: self.estimator,
            loader: loader.clone(),
            metrics_file: self.folder.metrics_file(),
            keep: self.keep.map(|epoch| (epoch, self.folder.model_file())),
            device: self.device,
            stop: self.stop.clone(),
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
                self.select_by,
                first_epoch,
                steps_per_epoch,
            )))
            .metric_train_numeric(FigureMetric::new(LOSS))
            .metric_valid_numeric(FigureMetric::new(SELECTED))
            .metric_valid_numeric(FigureMetric::new(ALPHA_HAT))
            .metric_valid_numeric(FigureMetric::new(EFFECTIVE_SAMPLE_SIZE))
            .num_epochs(self.until.at_most())
            .label(&self.label)
            .launch(Learner::new(numbered(model), optimizer, learning_rate));
        let outcome = epoch_loop.outcome.lock().expect("the loop is over").take();
        outcome.unwrap_or_else(|| Err(Error::Training("the loop ended without a word".to_owned())))
    }
}
