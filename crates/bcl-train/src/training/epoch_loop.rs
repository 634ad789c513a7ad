//! The loop over epochs, as a learning strategy of Burn.
//!
//! Burn's own single-device strategy keeps no state between epochs and drops an interrupted epoch. This one lets α follow its schedule,
//! evaluates and records each epoch, and writes a checkpoint within an epoch when interrupted. The resumed run ends with the same bits.

use super::{
    accumulation::PendingGradients,
    checkpoint,
    estimator::EpochEstimator,
    evaluate::{Evaluated, EvaluationTask},
    folder,
    learned::Learned,
    live_metrics::StepOutput,
    plan::{EpochPlan, PlannedLoader},
    post_mortem::{PostMortem, first_weight_not_finite},
    processes::refuse_different_weights,
    progress::Progress,
    stop::Stop,
    stopping_rule::StoppingRule,
};
use bcl_methods::step::Step;

use super::RunLog;
use crate::{error::Error, processes::on_first};
use bcl_collective::Collective;
use bcl_core::Estimator;
use bcl_eval::EvaluationError;
use bcl_files::critical_section;
use bcl_methods::Method;
use bcl_report::result::{EpochRecord, Metrics, Phase};
use burn::{
    tensor::{Device, Tensor},
    train::{
        EventProcessorTraining, InferenceStep, Learner, LearnerEvent, SupervisedLearningStrategy,
        SupervisedTrainingEventProcessor, TrainLoader, TrainingComponents, TrainingItem, ValidLoader,
    },
};
use std::{
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Instant,
};

/// One phase of a run.
#[derive(Debug)]
pub struct EpochLoop<L> {
    /// The initial state, or a checkpoint's.
    pub start: Progress,
    /// Whether `start` is a checkpoint whose records must be loaded.
    pub resumed: bool,
    /// When the phase ends.
    pub until: StoppingRule,
    /// The metric that selects the epoch.
    pub select_by: String,
    /// Batches per optimizer step.
    pub accumulate: usize,
    /// The estimator of each epoch; `None` for methods without negatives.
    pub estimator: Option<EpochEstimator>,
    /// The data loader, another handle of the one that Burn has; its plan is set before each epoch.
    pub loader: L,
    /// Folder of the checkpoints of this phase.
    pub checkpoints: PathBuf,
    /// `metrics.jsonl`, one line per epoch.
    pub metrics_file: PathBuf,
    /// The loggers of the phase.
    pub log: RunLog,
    /// The epoch after which to save the final weights, and their file.
    pub keep: Option<(usize, PathBuf)>,
    /// The device that trains.
    pub device: Device,
    /// Ends training after the current step.
    pub stop: Stop,
    /// The processes that train together. Process 0 alone evaluates and writes files.
    pub processes: Arc<dyn Collective>,
    /// The result of the phase, which Burn's interface cannot return.
    pub outcome: Mutex<Option<Result<Progress, Error>>>,
}

impl<M: Method, L: PlannedLoader<M::Batch>> SupervisedLearningStrategy<Learned<M>> for EpochLoop<L> {
    fn fit(
        &self,
        mut components: TrainingComponents<Learned<M>>,
        mut learner: Learner<Learned<M>>,
        _: TrainLoader<Learned<M>>,
        evaluation: ValidLoader<Learned<M>>,
        _: usize,
    ) -> (Learned<M>, SupervisedTrainingEventProcessor<Learned<M>>) {
        learner.fork(&self.device);
        if self.resumed
            && self.processes.is_first()
            && let Some(checkpointer) = &components.checkpointer
        {
            learner = checkpointer.load_checkpoint(learner, self.start.step);
        }
        let checkpoint = self.resumed.then_some((&*self.checkpoints, self.start.step));
        let shared = checkpoint::share(&*self.processes, &mut learner, checkpoint);
        let mut phase = RunningPhase {
            plan: self,
            components: &mut components,
            evaluation,
            progress: self.start.clone(),
        };
        let result = shared.and_then(|()| phase.run(&mut learner));
        let progress = phase.progress;
        *self.outcome.lock().expect("only this thread holds it") = Some(result.map(|()| progress));
        (learner.model(), components.event_processor)
    }
}

/// A step whose loss has not been read yet.
struct UnreadStep<M: Method> {
    /// Number of the step within the epoch, from 1.
    number: usize,
    /// Number of the step within the phase, from 1.
    in_phase: usize,
    learning_rate: f64,
    step: Step<M::Batch>,
    /// The model before the step.
    model: Learned<M>,
    num_anchors: usize,
    /// Number of anchors with negatives, still on the device; `None` if all have.
    num_counted: Option<Tensor<1>>,
    /// Mean loss, still on the device.
    loss: Tensor<1>,
}

impl<M: Method> UnreadStep<M> {
    /// Number of anchors with negatives. Waits for the device.
    fn num_counted(&self) -> usize {
        match &self.num_counted {
            Some(counted) => counted.clone().into_scalar::<f64>() as usize,
            None => self.num_anchors,
        }
    }
}

/// The running phase.
struct RunningPhase<'a, M: Method, L> {
    plan: &'a EpochLoop<L>,
    components: &'a mut TrainingComponents<Learned<M>>,
    evaluation: ValidLoader<Learned<M>>,
    progress: Progress,
}

impl<M: Method, L: PlannedLoader<M::Batch>> RunningPhase<'_, M, L> {
    fn run(&mut self, learner: &mut Learner<Learned<M>>) -> Result<(), Error> {
        while !self.is_over() {
            let started = Instant::now();
            let estimator = self.plan.estimator.as_ref().map(|estimator| estimator.at(&self.progress));
            self.train(learner, estimator.as_ref())?;
            let processes = self.plan.processes.clone();
            let when = format!("after epoch {}", self.progress.epoch + 1);
            refuse_different_weights(&*processes, &learner.model(), &when)?;
            let train_seconds = started.elapsed().as_secs_f64();

            let started = Instant::now();
            let measured = self.measure_on_processes(learner);
            let record = on_first(&*processes, || {
                let evaluated = self.evaluate(learner, estimator.as_ref(), measured)?;
                let temperature = learner.model().temperature.map(|temperature| temperature.value());
                self.record(evaluated, temperature, train_seconds, started.elapsed().as_secs_f64())
            })?;
            self.complete_epoch(record)?;
            if processes.is_first() {
                self.keep_weights(learner)?;
                self.save(learner)?;
            }
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        let records: Vec<_> = self.progress.of_phase().collect();
        self.plan.until.is_over(&records, &self.plan.select_by)
    }

    /// Trains the rest of the current epoch.
    fn train(&mut self, learner: &mut Learner<Learned<M>>, estimator: Option<&Arc<dyn Estimator>>) -> Result<(), Error> {
        let loader = &self.plan.loader;
        let epoch = self.progress.epoch;
        let first_step = self.progress.step - epoch * loader.steps_per_epoch();
        loader.set_plan(EpochPlan {
            epoch,
            first_step,
            estimator: estimator.cloned(),
        });
        self.emit_train(LearnerEvent::StartSplit {
            epoch_number: epoch + 1,
            total_items: loader.num_items(),
        });

        let mut unread: Option<UnreadStep<M>> = None;
        let mut pending = PendingGradients::default();
        let mut batches = loader.iter();
        let mut number = first_step;
        while let Some(step) = batches.next() {
            let step = step.map_err(Error::of_batch)?.on_processes(self.plan.processes.clone());
            let (kept, model) = (step.clone(), learner.model());
            let output = learner.train_step(step);
            number += 1;
            self.progress.step += 1;
            let is_last = number == loader.steps_per_epoch();
            // Reading from a GPU waits for all queued work. Reading the loss one step late leaves the next step in the queue. Afterwards nothing needs
            // the weights from before the last step any more, so the optimizer may write into their memory.
            self.read_loss(unread.take())?;
            if let Some(grads) = pending.add(&learner.model(), output.grads, self.plan.accumulate, is_last) {
                learner.lr_step();
                learner.optimizer_step(grads);
            }
            unread = Some(UnreadStep {
                number,
                in_phase: self.progress.step,
                learning_rate: learner.lr_current().base(),
                step: kept,
                model,
                num_anchors: output.item.num_anchors,
                num_counted: output.item.num_counted.clone(),
                loss: output.item.loss.clone(),
            });
            let item = TrainingItem::new(output.item, batches.progress(), Some(number), Some(learner.lr_current()));
            self.emit_train(LearnerEvent::ProcessedItem(item));
            // A checkpoint has no room for gradients, so it is written after an optimizer step.
            if pending.is_empty() && self.should_stop() {
                self.read_loss(unread)?;
                return Err(self.stop(learner));
            }
        }
        self.read_loss(unread)?;
        if self.progress.anchors == 0 && self.progress.anchors_without_negatives > 0 {
            return Err(Error::of_all_processes(&*self.plan.processes, self.nothing_to_learn_from()));
        }
        self.emit_train(LearnerEvent::EndSplit(epoch + 1));
        Ok(())
    }

    /// Whether any process was asked to stop, so that all stop after the same step.
    fn should_stop(&self) -> bool {
        let own = self.plan.stop.is_requested() || self.components.interrupter.should_stop();
        self.plan.processes.any(own)
    }

    /// Reads the loss of a step, if any, and adds it to the sum of the epoch.
    fn read_loss(&mut self, unread_step: Option<UnreadStep<M>>) -> Result<(), Error> {
        let Some(unread_step) = unread_step else { return Ok(()) };
        let loss = unread_step.loss.clone().into_scalar::<f64>();
        if !loss.is_finite() {
            let (epoch, step) = (self.progress.epoch + 1, unread_step.number);
            let symptom = format!("the loss became {loss} in epoch {epoch}, step {step}");
            return Err(self.diverged(symptom, &unread_step.step, &unread_step.model));
        }
        let num_counted = unread_step.num_counted();
        self.progress.loss_sum += loss * num_counted as f64;
        self.progress.anchors += num_counted;
        self.progress.anchors_without_negatives += unread_step.num_anchors - num_counted;
        if num_counted > 0 {
            self.plan.log.step(unread_step.in_phase, loss, unread_step.learning_rate)?;
        }
        Ok(())
    }

    fn nothing_to_learn_from(&self) -> Error {
        Error::Input(format!(
            "no anchor of epoch {} had a negative, so there was nothing to learn: all were masked because the user has interacted with \
             them, or excluded by the loss; raise negatives.count (training.batch_size for negatives.kind = \"in_batch\"), or set \
             negatives.mask_hits = false",
            self.progress.epoch + 1
        ))
    }

    /// Saves a step whose loss or scores are not finite, with the weights. All processes that share the step have to do so; process 0 writes the files.
    fn diverged(&self, symptom: String, step: &Step<M::Batch>, model: &Learned<M>) -> Error {
        let post_mortem = PostMortem::of(step, model);
        let folder = self.run_folder().join("diverged");
        let kept = if step.processes.is_first() {
            match post_mortem.write(&folder) {
                Ok(()) => format!("batch, scores and weights are in {}", folder.display()),
                Err(error) => format!("batch, scores and weights are lost: {error}"),
            }
        } else {
            String::new()
        };
        let finding = post_mortem.finding();
        // The files must be there before any process ends.
        step.processes.barrier();
        Error::of_all_processes(&*step.processes, Error::Diverged { symptom, finding, kept })
    }

    fn run_folder(&self) -> PathBuf {
        self.plan.metrics_file.parent().map(PathBuf::from).unwrap_or_default()
    }

    /// Evaluates the encoder on all processes together, if there are several and its evaluation can be shared out.
    fn measure_on_processes(&self, learner: &Learner<Learned<M>>) -> Option<Result<Metrics, EvaluationError>> {
        let processes = &*self.plan.processes;
        if processes.size() == 1 || !self.plan.until.needs_metrics(self.progress.epoch + 1) {
            return None;
        }
        let model = burn::module::Module::valid(&learner.model());
        if processes.any(first_weight_not_finite(&model).is_some()) {
            return None;
        }
        self.task().measure?.evaluate_on_processes(model.encoder(), processes)
    }

    /// What to evaluate after an epoch.
    fn task(&self) -> EvaluationTask<Learned<M>> {
        let task = self.evaluation.iter().next().expect("an evaluation loader has one item");
        task.expect("and it needs no reading")
    }

    /// Evaluates the model after an epoch.
    ///
    /// No later loss shows whether the last step of an epoch diverged, so its weights are checked first.
    fn evaluate(
        &mut self,
        learner: &Learner<Learned<M>>,
        estimator: Option<&Arc<dyn Estimator>>,
        measured: Option<Result<Metrics, EvaluationError>>,
    ) -> Result<Evaluated, Error> {
        let epoch = self.progress.epoch + 1;
        self.emit_valid(LearnerEvent::StartSplit {
            epoch_number: epoch,
            total_items: 1,
        });
        let model = burn::module::Module::valid(&learner.model());
        let mut tasks = self.evaluation.iter();
        let mut task = tasks
            .next()
            .expect("an evaluation loader has one item")
            .expect("and it needs no reading");
        task.measured = measured;
        if !self.plan.until.needs_metrics(epoch) {
            task = task.without_measure();
        }
        let posterior = self
            .plan
            .estimator
            .as_ref()
            .and_then(|estimator| estimator.posterior(&self.progress));
        let task = task.with_estimator(estimator.cloned(), posterior);
        let probe = task.probe.clone();
        if first_weight_not_finite(&model).is_some() {
            return Err(self.diverged_at_the_end(&probe, &model));
        }
        let evaluated = InferenceStep::step(&model, task);
        match &evaluated.metrics {
            Some(Err(error)) if error.is_divergence() => {
                return Err(self.diverged_at_the_end(&probe, &model));
            }
            Some(Err(EvaluationError::Interrupted)) => {
                drop(tasks);
                return Err(self.stop(learner));
            }
            _ => {}
        }
        let item = TrainingItem::new(evaluated.clone(), tasks.progress(), Some(1), None);
        drop(tasks);
        self.emit_valid(LearnerEvent::ProcessedItem(item));
        self.emit_valid(LearnerEvent::EndSplit(epoch));
        self.emit_train(LearnerEvent::EndEpoch(epoch));
        Ok(evaluated)
    }

    fn diverged_at_the_end(&self, probe: &Step<M::Batch>, model: &Learned<M>) -> Error {
        let symptom = format!("training diverged at the end of epoch {}", self.progress.epoch + 1);
        self.diverged(symptom, probe, model)
    }

    /// The record of the current epoch.
    fn record(
        &self,
        evaluated: Evaluated,
        temperature: Option<f64>,
        train_seconds: f64,
        evaluation_seconds: f64,
    ) -> Result<EpochRecord, Error> {
        let metrics: Option<Metrics> = evaluated.metrics.transpose()?;
        let of = |phase| (self.progress.phase == phase).then(|| metrics.clone()).flatten();
        let diagnostics = evaluated.diagnostics;
        Ok(EpochRecord {
            phase: self.progress.phase,
            epoch: self.progress.epoch + 1,
            loss: self.progress.loss_sum / self.progress.anchors as f64,
            anchors_without_negatives: self.progress.anchors_without_negatives,
            alpha: self
                .plan
                .estimator
                .as_ref()
                .and_then(|estimator| estimator.alpha(&self.progress)),
            scheduled: self
                .plan
                .estimator
                .as_ref()
                .map(|estimator| estimator.scheduled(&self.progress, temperature))
                .unwrap_or_default(),
            alpha_hat: evaluated.alpha_hat,
            alpha_labels: diagnostics.alpha_labels,
            effective_sample_size: diagnostics.effective_sample_size,
            floored: diagnostics.floored,
            omega_quantiles: diagnostics.omega_quantiles,
            omega_histogram: diagnostics.omega_histogram,
            calibration: diagnostics.calibration,
            false_negatives: diagnostics.false_negatives,
            validation: of(Phase::Selection),
            test: of(Phase::Refit).or_else(|| of(Phase::Training)),
            train_seconds,
            evaluation_seconds,
        })
    }

    /// Writes the record of an epoch, and begins the next.
    fn complete_epoch(&mut self, record: EpochRecord) -> Result<(), Error> {
        if self.plan.processes.is_first() {
            log_epoch(&self.plan.metrics_file, &record)?;
            self.plan.log.epoch(self.progress.step, &record)?;
        }
        self.progress.records.push(record);
        self.progress.epoch += 1;
        self.progress.loss_sum = 0.0;
        self.progress.anchors = 0;
        self.progress.anchors_without_negatives = 0;
        Ok(())
    }

    /// Saves the weights of the chosen epoch outside the checkpoints, which are deleted later.
    fn keep_weights(&self, learner: &Learner<Learned<M>>) -> Result<(), Error> {
        let Some((epoch, path)) = &self.plan.keep else { return Ok(()) };
        if *epoch != self.progress.epoch {
            return Ok(());
        }
        folder::save_model(learner.model().method.encoder().clone(), path)
    }

    /// Writes a checkpoint after the current step.
    fn save(&mut self, learner: &Learner<Learned<M>>) -> Result<(), Error> {
        let _critical = critical_section();
        if let Some(checkpointer) = &mut self.components.checkpointer {
            checkpointer.checkpoint(learner, self.progress.step, &self.components.event_store);
        }
        if let Some(error) = self.components.interrupter.error() {
            return Err(checkpoint::failure(&error));
        }
        checkpoint::complete(&self.plan.checkpoints, &self.progress)
    }

    /// Writes a checkpoint on process 0 and returns the error that ends training.
    fn stop(&mut self, learner: &Learner<Learned<M>>) -> Error {
        let interrupted = Error::Interrupted(self.run_folder());
        if !self.plan.processes.is_first() {
            return Error::of_all_processes(&*self.plan.processes, interrupted);
        }
        if let Some(error) = self.components.interrupter.error() {
            return checkpoint::failure(&error);
        }
        match self.save(learner) {
            Ok(()) => interrupted,
            Err(error) => error,
        }
    }

    fn emit_train(&mut self, event: LearnerEvent<StepOutput>) {
        let outcome = self.components.event_processor.process_train(event);
        self.components.interrupter.fail_on_error(outcome);
    }

    fn emit_valid(&mut self, event: LearnerEvent<Evaluated>) {
        let outcome = self.components.event_processor.process_valid(event);
        self.components.interrupter.fail_on_error(outcome);
    }
}

/// Appends the record of an epoch to `metrics.jsonl`.
fn log_epoch(path: &std::path::Path, record: &EpochRecord) -> Result<(), Error> {
    use std::io::Write;
    let _critical = critical_section();
    let mut line = serde_json::to_vec(record).expect("a record is plain data");
    line.push(b'\n');
    std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .and_then(|mut file| file.write_all(&line))
        .map_err(Error::io("write", path))
}
