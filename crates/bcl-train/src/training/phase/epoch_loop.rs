//! The loop over epochs, as a learning strategy of Burn.
//!
//! Burn's own single-device strategy keeps no state between epochs and drops an interrupted epoch. This one lets α follow its schedule,
//! evaluates and records each epoch, and writes a checkpoint within an epoch when interrupted. The resumed run ends with the same bits.

use super::{PhaseRun, RecoveryPlan};
use crate::{
    error::Error,
    processes::on_first,
    training::{
        accumulation::PendingGradients,
        checkpoint,
        evaluate::{Evaluated, EvaluationTask},
        folder,
        learned::Learned,
        live_metrics::StepOutput,
        plan::{EpochPlan, PlannedLoader},
        post_mortem::{PostMortem, first_weight_not_finite},
        processes::refuse_different_weights,
    },
};
use bcl_core::Estimator;
use bcl_eval::EvaluationError;
use bcl_files::critical_section;
use bcl_methods::{Detected, Method, step::Step};
use bcl_report::result::{DetectionRecord, EpochRecord, MACRO_AUC, Metrics, Phase};
use burn::{
    tensor::Tensor,
    train::{
        EventProcessorTraining, InferenceStep, Learner, LearnerEvent, SupervisedLearningStrategy,
        SupervisedTrainingEventProcessor, TrainLoader, TrainingComponents, TrainingItem, ValidLoader,
    },
};
use std::{
    sync::{Arc, Mutex},
    time::Instant,
};

/// Gives a phase to Burn, which holds a strategy behind a shared reference.
#[derive(Debug)]
pub(super) struct EpochLoop<L> {
    /// Another handle of the data loader that Burn has; its plan is set before each epoch.
    pub(super) loader: L,
    pub(super) phase: Mutex<PhaseRun>,
    /// What Burn's interface cannot return.
    pub(super) outcome: Mutex<Option<Result<(), Error>>>,
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
        let mut phase = self.phase.lock().expect("only this thread holds it");
        learner.fork(&phase.device);
        let checkpoint = phase.resumed.then_some(phase.progress.step);
        if let (Some(step), true, Some(checkpointer)) = (checkpoint, phase.processes.is_first(), &components.checkpointer) {
            learner = checkpointer.load_checkpoint(learner, step);
        }
        let checkpoints = phase.checkpoints();
        let shared = checkpoint::share(&*phase.processes, &mut learner, checkpoint.map(|step| (&*checkpoints, step)));
        let result = shared.and_then(|()| phase.run(&mut components, &mut learner, &self.loader, &evaluation));
        *self.outcome.lock().expect("only this thread holds it") = Some(result);
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

impl PhaseRun {
    /// Trains epoch after epoch until the phase is over.
    fn run<M: Method, L: PlannedLoader<M::Batch>>(
        &mut self,
        components: &mut TrainingComponents<Learned<M>>,
        learner: &mut Learner<Learned<M>>,
        loader: &L,
        evaluation: &ValidLoader<Learned<M>>,
    ) -> Result<(), Error> {
        while !self.is_over() {
            let started = Instant::now();
            let estimator = self.estimator.as_ref().map(|estimator| estimator.at(&self.progress));
            self.train_epoch(components, learner, loader, estimator.as_ref())?;
            let estimator = self.estimator_of_step().or(estimator);
            let processes = self.processes.clone();
            let when = format!("after epoch {}", self.progress.epoch + 1);
            refuse_different_weights(&*processes, &learner.model(), &when)?;
            let train_seconds = started.elapsed().as_secs_f64();

            let started = Instant::now();
            let measured = self.measure_on_processes(learner, evaluation);
            let mut record = on_first(&*processes, || {
                let evaluated = self.evaluate(components, learner, evaluation, estimator.as_ref(), measured)?;
                let temperature = learner.model().temperature.map(|temperature| temperature.value());
                self.record(evaluated, temperature, train_seconds, started.elapsed().as_secs_f64())
            })?;
            record.detection = self.detect(components, learner, evaluation)?;
            self.complete_epoch(record)?;
            if processes.is_first() {
                self.keep_weights(learner)?;
                self.save(components, learner)?;
            }
        }
        Ok(())
    }

    /// Detects false negatives after an epoch, if the recipe asks for it, for the losses of the next one.
    fn detect<M: Method>(
        &self,
        components: &mut TrainingComponents<Learned<M>>,
        learner: &mut Learner<Learned<M>>,
        evaluation: &ValidLoader<Learned<M>>,
    ) -> Result<Option<DetectionRecord>, Error> {
        let model = learner.model();
        let (Some(RecoveryPlan { config, seed, .. }), Some(recovery)) = (&self.recovery, model.recovery.clone()) else {
            return Ok(None);
        };
        let epoch = self.progress.epoch + 1;
        if !config.averages_after(epoch) {
            return Ok(None);
        }
        let encoder = burn::module::Module::valid(&model);
        let features = match task(evaluation)
            .measure
            .map(|measure| measure.training_features(encoder.encoder(), &*self.processes))
        {
            Some(Err(EvaluationError::Interrupted)) => return Err(self.stop(components, learner)),
            Some(features) => features?,
            None => None,
        };
        let (state, record) = on_first(&*self.processes, || {
            let found = recovery.state().after_epoch(config, *seed, epoch, features)?;
            if found.1.is_some() && config.detects_after(epoch) {
                self.folder.write_clusters(found.0.labels())?;
            }
            Ok(found)
        })?;
        let model = model.with_recovery(Some(recovery.with(&state)));
        learner.load_model(burn::module::Module::into_record(model));
        Ok(record)
    }

    fn is_over(&self) -> bool {
        let records: Vec<_> = self.progress.of_phase().collect();
        self.until.is_over(&records, &self.select_by)
    }

    /// Trains the rest of the current epoch.
    fn train_epoch<M: Method, L: PlannedLoader<M::Batch>>(
        &mut self,
        components: &mut TrainingComponents<Learned<M>>,
        learner: &mut Learner<Learned<M>>,
        loader: &L,
        estimator: Option<&Arc<dyn Estimator>>,
    ) -> Result<(), Error> {
        let epoch = self.progress.epoch;
        let first_step = self.progress.step - epoch * loader.steps_per_epoch();
        loader.set_plan(EpochPlan {
            epoch,
            first_step,
            estimator: estimator.cloned(),
            detected: self.detected(&learner.model()),
        });
        emit_train(
            components,
            LearnerEvent::StartSplit {
                epoch_number: epoch + 1,
                total_items: loader.num_items(),
            },
        );

        let mut unread: Option<UnreadStep<M>> = None;
        let mut pending = PendingGradients::default();
        let mut batches = loader.iter();
        let mut number = first_step;
        while let Some(step) = batches.next() {
            let mut step = step.map_err(Error::of_batch)?.on_processes(self.processes.clone());
            step.estimator = self.estimator_of_step().or(step.estimator);
            if pending.is_empty() {
                // All batches of an optimizer step have its rate.
                learner.lr_step();
            }
            let (kept, model) = (step.clone(), learner.model());
            if model.may_record_next_step() {
                // Burn shows the last loss in a thread of its own, which reads it from the device.
                let outcome = components.event_processor.flush();
                components.interrupter.fail_on_error(outcome);
            }
            let output = learner.train_step(step);
            number += 1;
            self.progress.step += 1;
            let is_last = number == loader.steps_per_epoch();
            // Reading from a GPU waits for all queued work. Reading the loss one step late leaves the next step in the queue. Afterwards nothing needs
            // the weights from before the last step any more, so the optimizer may write into their memory. A step that is replayed is in the queue only when
            // the optimizer has run.
            let last = unread.take();
            let unread_last = if model.records_step() {
                last
            } else {
                self.read_loss(last)?;
                None
            };
            if let Some(grads) = pending.add(&learner.model(), output.grads, self.training.accumulate, is_last) {
                learner.optimizer_step(grads);
            }
            self.read_loss(unread_last)?;
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
            emit_train(components, LearnerEvent::ProcessedItem(item));
            // A checkpoint has no room for gradients, so it is written after an optimizer step.
            if pending.is_empty() && self.should_stop(components) {
                self.read_loss(unread)?;
                return Err(self.stop(components, learner));
            }
        }
        self.read_loss(unread)?;
        learner.model().end_epoch();
        if self.progress.anchors == 0 && self.progress.anchors_without_negatives > 0 {
            return Err(Error::of_all_processes(&*self.processes, self.nothing_to_learn_from()));
        }
        emit_train(components, LearnerEvent::EndSplit(epoch + 1));
        Ok(())
    }

    /// The estimator of the next step, if it is another one than at the start of the epoch.
    fn estimator_of_step(&self) -> Option<Arc<dyn Estimator>> {
        self.estimator.as_ref()?.of_step(&self.progress)
    }

    /// The pairs that the losses of the current epoch leave out.
    fn detected<M: Method>(&self, model: &Learned<M>) -> Option<Arc<Detected>> {
        let plan = self.recovery.as_ref()?;
        model.recovery.as_ref()?.detected(&plan.config)
    }

    /// Whether any process was asked to stop, so that all stop after the same step.
    fn should_stop<M: Method>(&self, components: &TrainingComponents<Learned<M>>) -> bool {
        let own = self.stop.is_requested() || components.interrupter.should_stop();
        self.processes.any(own)
    }

    /// Reads the loss of a step, if any, and adds it to the sum of the epoch.
    fn read_loss<M: Method>(&mut self, unread_step: Option<UnreadStep<M>>) -> Result<(), Error> {
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
            self.log.step(unread_step.in_phase, loss, unread_step.learning_rate)?;
        }
        Ok(())
    }

    fn nothing_to_learn_from(&self) -> Error {
        Error::Input(format!(
            "no anchor of epoch {} had a negative, so there was nothing to learn: {}",
            self.progress.epoch + 1,
            self.why_no_negatives
        ))
    }

    /// Saves a step whose loss or scores are not finite, with the weights. All processes that share the step have to do so; process 0 writes the files.
    fn diverged<M: Method>(&self, symptom: String, step: &Step<M::Batch>, model: &Learned<M>) -> Error {
        let post_mortem = PostMortem::of(step, model);
        let folder = self.folder.path().join("diverged");
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

    /// Evaluates the encoder on all processes together, if there are several and its evaluation can be shared out.
    fn measure_on_processes<M: Method>(
        &self,
        learner: &Learner<Learned<M>>,
        evaluation: &ValidLoader<Learned<M>>,
    ) -> Option<Result<Metrics, EvaluationError>> {
        let processes = &*self.processes;
        if processes.size() == 1 || !self.until.needs_metrics(self.progress.epoch + 1) {
            return None;
        }
        let model = burn::module::Module::valid(&learner.model());
        if processes.any(first_weight_not_finite(&model).is_some()) {
            return None;
        }
        task(evaluation).measure?.evaluate_on_processes(model.encoder(), processes)
    }

    /// Evaluates the model after an epoch.
    ///
    /// No later loss shows whether the last step of an epoch diverged, so its weights are checked first.
    fn evaluate<M: Method>(
        &self,
        components: &mut TrainingComponents<Learned<M>>,
        learner: &Learner<Learned<M>>,
        evaluation: &ValidLoader<Learned<M>>,
        estimator: Option<&Arc<dyn Estimator>>,
        measured: Option<Result<Metrics, EvaluationError>>,
    ) -> Result<Evaluated, Error> {
        let epoch = self.progress.epoch + 1;
        emit_valid(
            components,
            LearnerEvent::StartSplit {
                epoch_number: epoch,
                total_items: 1,
            },
        );
        let model = burn::module::Module::valid(&learner.model());
        let mut tasks = evaluation.iter();
        let mut task = tasks
            .next()
            .expect("an evaluation loader has one item")
            .expect("and it needs no reading");
        task.measured = measured;
        if !self.until.needs_metrics(epoch) {
            task = task.without_measure();
        }
        let of_loss = self.estimator.as_ref();
        let posterior = of_loss.and_then(|estimator| estimator.posterior(&self.progress));
        if let Some(tau_plus) = of_loss.and_then(|estimator| estimator.tau_plus_at(&self.progress)) {
            task.tau_plus = tau_plus;
        }
        let detected = self.detected(&learner.model());
        let task = task.with_estimator(estimator.cloned(), posterior).with_detected(detected);
        let probe = task.probe.clone();
        if first_weight_not_finite(&model).is_some() {
            return Err(self.diverged_at_the_end(&probe, &model));
        }
        let mut evaluated = InferenceStep::step(&model, task);
        let before = self.progress.of_phase().last();
        evaluated.show_detection(before.and_then(|record| record.detection));
        match &evaluated.metrics {
            Some(Err(error)) if error.is_divergence() => {
                return Err(self.diverged_at_the_end(&probe, &model));
            }
            Some(Err(EvaluationError::Interrupted)) => {
                drop(tasks);
                return Err(self.stop(components, learner));
            }
            _ => {}
        }
        let item = TrainingItem::new(evaluated.clone(), tasks.progress(), Some(1), None);
        drop(tasks);
        emit_valid(components, LearnerEvent::ProcessedItem(item));
        emit_valid(components, LearnerEvent::EndSplit(epoch));
        emit_train(components, LearnerEvent::EndEpoch(epoch));
        Ok(evaluated)
    }

    fn diverged_at_the_end<M: Method>(&self, probe: &Step<M::Batch>, model: &Learned<M>) -> Error {
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
        let mut metrics: Option<Metrics> = evaluated.metrics.transpose()?;
        let macro_auc = metrics.as_mut().and_then(|metrics| metrics.remove(MACRO_AUC));
        let of = |phase| (self.progress.phase == phase).then(|| metrics.clone()).flatten();
        let diagnostics = evaluated.diagnostics;
        Ok(EpochRecord {
            phase: self.progress.phase,
            epoch: self.progress.epoch + 1,
            loss: self.progress.loss_sum / self.progress.anchors as f64,
            anchors_without_negatives: self.progress.anchors_without_negatives,
            alpha: self.estimator.as_ref().and_then(|estimator| estimator.alpha(&self.progress)),
            scheduled: self
                .estimator
                .as_ref()
                .map(|estimator| estimator.scheduled(&self.progress, temperature))
                .unwrap_or_default(),
            alpha_hat: evaluated.alpha_hat,
            alpha_labels: diagnostics.alpha_labels,
            macro_auc,
            effective_sample_size: diagnostics.effective_sample_size,
            score_spread: diagnostics.score_spread,
            floored: diagnostics.floored,
            omega_quantiles: diagnostics.omega_quantiles,
            omega_histogram: diagnostics.omega_histogram,
            calibration: diagnostics.calibration,
            detection: None,
            false_negatives: diagnostics.false_negatives,
            validation: of(Phase::Selection),
            test: of(Phase::Refit).or_else(|| of(Phase::Training)),
            train_seconds,
            evaluation_seconds,
        })
    }

    /// Writes the record of an epoch, and begins the next.
    fn complete_epoch(&mut self, record: EpochRecord) -> Result<(), Error> {
        if self.processes.is_first() {
            log_epoch(&self.folder.metrics_file(), &record)?;
            self.log.epoch(self.progress.step, &record)?;
        }
        self.progress.records.push(record);
        self.progress.epoch += 1;
        self.progress.loss_sum = 0.0;
        self.progress.anchors = 0;
        self.progress.anchors_without_negatives = 0;
        Ok(())
    }

    /// Saves the weights of the chosen epoch outside the checkpoints, which are deleted later.
    fn keep_weights<M: Method>(&self, learner: &Learner<Learned<M>>) -> Result<(), Error> {
        if self.keep != Some(self.progress.epoch) {
            return Ok(());
        }
        folder::save_model(learner.model().method.encoder().clone(), &self.folder.model_file())
    }

    /// Writes a checkpoint after the current step.
    fn save<M: Method>(
        &self,
        components: &mut TrainingComponents<Learned<M>>,
        learner: &Learner<Learned<M>>,
    ) -> Result<(), Error> {
        let _critical = critical_section();
        if let Some(checkpointer) = &mut components.checkpointer {
            checkpointer.checkpoint(learner, self.progress.step, &components.event_store);
        }
        if let Some(error) = components.interrupter.error() {
            return Err(checkpoint::failure(&error));
        }
        checkpoint::complete(&self.checkpoints(), &self.progress)
    }

    /// Writes a checkpoint on process 0 and returns the error that ends training.
    fn stop<M: Method>(&self, components: &mut TrainingComponents<Learned<M>>, learner: &Learner<Learned<M>>) -> Error {
        let interrupted = Error::Interrupted(self.folder.path().to_owned());
        if !self.processes.is_first() {
            return Error::of_all_processes(&*self.processes, interrupted);
        }
        if let Some(error) = components.interrupter.error() {
            return checkpoint::failure(&error);
        }
        match self.save(components, learner) {
            Ok(()) => interrupted,
            Err(error) => error,
        }
    }
}

/// What to evaluate after an epoch.
fn task<M: Method>(evaluation: &ValidLoader<Learned<M>>) -> EvaluationTask<Learned<M>> {
    let task = evaluation.iter().next().expect("an evaluation loader has one item");
    task.expect("and it needs no reading")
}

fn emit_train<M: Method>(components: &mut TrainingComponents<Learned<M>>, event: LearnerEvent<StepOutput>) {
    let outcome = components.event_processor.process_train(event);
    components.interrupter.fail_on_error(outcome);
}

fn emit_valid<M: Method>(components: &mut TrainingComponents<Learned<M>>, event: LearnerEvent<Evaluated>) {
    let outcome = components.event_processor.process_valid(event);
    components.interrupter.fail_on_error(outcome);
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
