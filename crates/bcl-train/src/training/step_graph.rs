//! Steps of training that a GPU records once and replays.
//!
//! Three steps are computed as always while the device prepares, with the allocations that the recorded one will find. From the second on, they leave
//! what they have learned in the memory where they found it, as replays have to.

use super::live_metrics::StepOutput;
use bcl_collective::Alone;
use bcl_core::{AugmentedLoss, Estimator};
use bcl_files::notice;
use bcl_kernels::{NotRecorded, StepGraph, StepRecorder, in_own_memory, overwrite, together};
use bcl_methods::{
    Embeddings, Method,
    step::{Step, TrainedStep},
};
use burn::{
    module::{Module, ModuleMapper, ModuleVisitor, Param, ParamId},
    optim::{GradientsParams, ModuleOptimizer, OptimizerRecord, lr_scheduler::module_lr_scheduler::ModuleLearningRate},
    tensor::{Bytes, Tensor},
    train::checkpoint::Checkpoint,
};
use std::{
    any::Any,
    collections::HashMap,
    fmt, mem,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

/// Recordings that may fail until steps are computed one by one.
const MOST_FAILURES: usize = 5;

/// Steps before the recorded one. In the first, the optimizer allocates its state.
const WARM_UP: usize = 3;

/// A method in training, whose steps may be recorded.
pub(super) trait InTraining: Method {
    /// Whether there is no state beside the method's.
    fn has_only_parameters(&self) -> bool;

    /// Name of the method's type.
    fn name() -> &'static str;

    /// Runs the optimizer.
    fn optimized(self, optimizer: &mut ModuleOptimizer, rate: ModuleLearningRate, gradients: GradientsParams) -> Self;

    /// Keeps what [`remembering`](Self::remembering) needs of a step.
    fn finish(&self, step: Step<Self::Batch>, embeddings: Embeddings);

    /// Stores what later batches need of the steps since the last optimizer step.
    fn remembering(self) -> Self;

    /// The batch of the last step, which is not to be remembered.
    fn take_batch(&self) -> Self::Batch;

    /// Ends a step that is neither recorded nor replayed.
    fn updated(self, optimizer: &mut ModuleOptimizer, rate: ModuleLearningRate, gradients: GradientsParams) -> Self {
        self.optimized(optimizer, rate, gradients).remembering().after_update()
    }
}

/// The recording of the steps of a model, which its clones share. By default, steps are not recorded.
#[derive(Clone, Default)]
pub(super) struct RecordedSteps(Option<Arc<Shared>>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// How many recordings have failed.
    failures: AtomicUsize,
}

impl fmt::Debug for RecordedSteps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RecordedSteps")
    }
}

#[derive(Default)]
enum State {
    #[default]
    Nothing,
    /// The device has no graphs, or refused.
    Impossible,
    Preparing(Box<Preparing>),
    Ready(Box<Ready>),
}

/// What steps have in common that share a recording.
#[derive(Clone)]
struct Common {
    /// The loss. It may have tables on the device that the graph reads.
    estimator: Option<Arc<dyn Estimator>>,
    /// Memory for the inputs of each step.
    inputs: Vec<Tensor<4>>,
}

impl Common {
    fn is_of<B>(&self, step: &Step<B>, inputs: &[Tensor<4>]) -> bool {
        let have_same_loss = match (&self.estimator, &step.estimator) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        };
        have_same_loss && self.inputs.iter().map(Tensor::dims).eq(inputs.iter().map(Tensor::dims))
    }
}

struct Preparing {
    common: Common,
    recorder: StepRecorder,
    num_steps: usize,
    /// Parameters and running statistics before the current step; `None` in the first step.
    before: Option<Values>,
    /// The results of the last step.
    results: Option<StepOutput>,
    /// The embeddings of the last step.
    embeddings: Option<Embeddings>,
    /// The state of the optimizer after the last step before the recorded one.
    optimizer: Option<Bytes>,
    /// What the step that is recorded needs if the recording fails.
    restart: Option<Restart>,
}

/// All that a step needs to be computed after its recording has failed: what the recording was to write cannot be read any more.
struct Restart {
    common: Common,
    /// Copies of parameters and running statistics before the step.
    values: Values,
    /// The state of the optimizer before it.
    optimizer: Option<Bytes>,
    /// Where the results go.
    wanted: StepOutput,
}

struct Ready {
    common: Common,
    graph: StepGraph,
    /// Where the recorded step writes.
    results: StepOutput,
    /// Where the results of the current step go.
    wanted: Option<StepOutput>,
    /// The embeddings that the recorded step writes.
    embeddings: Embeddings,
    /// The memory of the model, which the graph uses.
    values: Values,
}

/// How a step computes its gradients.
#[expect(clippy::large_enum_variant, reason = "there is one per step")]
pub(super) enum Begun<B> {
    /// As always, on this step.
    Computed(Step<B>),
    /// Not at all: the optimizer's part runs the graph, which then has this output.
    Replayed(StepOutput),
}

impl RecordedSteps {
    pub(super) fn new(are_wanted: bool) -> Self {
        Self(are_wanted.then(Arc::default))
    }

    /// Whether the current step is being recorded, or is a replay.
    pub(super) fn are_in_use(&self) -> bool {
        match self.lock().as_deref() {
            Some(State::Ready(_)) => true,
            Some(State::Preparing(preparing)) => preparing.restart.is_some(),
            _ => false,
        }
    }

    /// Whether the next step may be recorded.
    pub(super) fn are_prepared(&self) -> bool {
        matches!(self.lock().as_deref(), Some(State::Preparing(preparing)) if preparing.num_steps == WARM_UP)
    }

    /// Ends an epoch. Evaluation allocates what no step does, so preparing starts again after it.
    pub(super) fn end_epoch(&self) {
        if let Some(mut state) = self.lock()
            && matches!(*state, State::Preparing(_))
        {
            *state = State::Nothing;
        }
    }

    fn lock(&self) -> Option<MutexGuard<'_, State>> {
        Some(self.0.as_ref()?.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Begins a step.
    pub(super) fn begin<M: InTraining>(&self, model: &M, step: Step<M::Batch>) -> Begun<M::Batch> {
        let Some(mut state) = self.lock() else {
            return Begun::Computed(step);
        };
        let inputs = if model.has_only_parameters() {
            inputs(model, &step)
        } else {
            None
        };
        let Some(inputs) = inputs else {
            state.forget();
            return Begun::Computed(step);
        };
        if state.common().is_some_and(|common| !common.is_of(&step, &inputs)) {
            state.forget();
        }
        if let State::Nothing = &*state {
            *state = State::prepare(&step, &inputs);
        }
        let Some(common) = state.common() else {
            return Begun::Computed(step);
        };
        for (memory, input) in common.inputs.iter().zip(inputs) {
            overwrite(&memory.clone().without_autodiff(), input.without_autodiff());
        }
        let placed = Step {
            batch: M::with_inputs(step.batch, common.inputs.clone()),
            ..step
        };
        match mem::take(&mut *state) {
            State::Ready(mut ready) => {
                let wanted = ready.results.like();
                ready.wanted = Some(wanted.clone());
                model.finish(placed, ready.embeddings.clone());
                *state = State::Ready(ready);
                Begun::Replayed(wanted)
            }
            State::Preparing(preparing) => {
                *state = preparing.begin(model);
                Begun::Computed(placed)
            }
            other => {
                *state = other;
                Begun::Computed(placed)
            }
        }
    }

    /// Returns the output of a step that was computed.
    pub(super) fn output(&self, trained: &TrainedStep) -> StepOutput {
        let output = StepOutput::of(trained);
        if let Some(State::Preparing(preparing)) = self.lock().as_deref_mut() {
            preparing.results = Some(output.clone());
            preparing.embeddings = Some(trained.embeddings.clone());
            if let Some(restart) = &preparing.restart {
                return restart.wanted.clone();
            }
        }
        output
    }

    /// Ends a step: runs the optimizer, or replays the recorded step, and remembers.
    pub(super) fn end<M: InTraining>(
        &self,
        model: M,
        optimizer: &mut ModuleOptimizer,
        rate: ModuleLearningRate,
        gradients: GradientsParams,
    ) -> M {
        let Some(mut state) = self.lock() else {
            return model.updated(optimizer, rate, gradients);
        };
        match mem::take(&mut *state) {
            State::Ready(mut ready) => {
                ready.replay(rate.base());
                let remembering = ready.values.remembering(model);
                *state = State::Ready(ready);
                remembering
            }
            State::Preparing(mut preparing) => {
                preparing.num_steps += 1;
                let Some(values) = preparing.before.clone() else {
                    *state = State::Preparing(preparing);
                    return model.updated(optimizer, rate, gradients);
                };
                let restart = preparing.restart.take().map(|restart| (restart, model.clone()));
                let updated = model.optimized(optimizer, rate.clone(), gradients).after_update();
                let updated = values.clone().overwritten_by(updated);
                let Some((restart, before)) = restart else {
                    if preparing.num_steps == WARM_UP {
                        preparing.optimizer = optimizer.to_record().checkpoint_into_bytes().ok();
                    }
                    *state = State::Preparing(preparing);
                    return values.remembering(updated);
                };
                match preparing.recorded(values.clone(), restart.wanted.clone(), rate.base()) {
                    Ok(ready) => {
                        notice::note(format!("a step of {} is recorded, and replayed from here on", M::name()));
                        *state = State::Ready(Box::new(ready));
                        // Outside of the recording: what is remembered differs from step to step.
                        values.remembering(updated)
                    }
                    Err(reason) => {
                        *state = self.after_failure(&reason);
                        restart.computed(before, optimizer, rate)
                    }
                }
            }
            other => {
                *state = other;
                model.updated(optimizer, rate, gradients)
            }
        }
    }

    /// What to do after a recording has failed: cubecl decides by what its thread has done so far whether an operation writes in place, so the recorded step may
    /// need a kernel that the steps before did not, and which cannot be loaded while recording.
    fn after_failure(&self, reason: &NotRecorded) -> State {
        let failures = self
            .0
            .as_ref()
            .map_or(0, |shared| shared.failures.fetch_add(1, Ordering::Relaxed) + 1);
        if failures < MOST_FAILURES {
            return State::Nothing;
        }
        State::refused(reason)
    }
}

/// The inputs of a step that depends on nothing else but parameters.
fn inputs<M: Method>(method: &M, step: &Step<M::Batch>) -> Option<Vec<Tensor<4>>> {
    let estimator = step.estimator.as_deref();
    let depends_on_more = step.gradient_cache.is_some()
        || step.detected.is_some()
        || step.noise.is_some()
        || step.processes.size() > 1
        || estimator
            .is_some_and(|estimator| estimator.requirements().truth || AugmentedLoss::with_running_rates(estimator).is_some());
    if depends_on_more { None } else { method.inputs(&step.batch) }
}

/// Memory for an input of each step, on its device.
fn input_memory(input: &Tensor<4>) -> Tensor<4> {
    let memory = in_own_memory(input.clone().without_autodiff());
    if input.is_autodiff() { memory.autodiff() } else { memory }
}

impl State {
    fn common(&self) -> Option<&Common> {
        match self {
            Self::Nothing | Self::Impossible => None,
            Self::Preparing(preparing) => Some(&preparing.common),
            Self::Ready(ready) => Some(&ready.common),
        }
    }

    /// Forgets a recording that does not serve the current step.
    fn forget(&mut self) {
        if !matches!(self, Self::Impossible) {
            *self = Self::Nothing;
        }
    }

    fn prepare<B>(step: &Step<B>, inputs: &[Tensor<4>]) -> Self {
        match StepRecorder::prepare(&inputs[0].device()) {
            Ok(Some(recorder)) => Self::Preparing(Box::new(Preparing {
                common: Common {
                    estimator: step.estimator.clone(),
                    inputs: inputs.iter().map(input_memory).collect(),
                },
                recorder,
                num_steps: 0,
                before: None,
                results: None,
                embeddings: None,
                optimizer: None,
                restart: None,
            })),
            Ok(None) => {
                notice::note("the processor has no step graphs; training.step_graph = true changes nothing");
                Self::Impossible
            }
            Err(reason) => Self::refused(&reason),
        }
    }

    fn refused(reason: &NotRecorded) -> Self {
        notice::warn(format!("{reason}; training goes on without a step graph"));
        Self::Impossible
    }
}

impl Preparing {
    /// Begins a step.
    fn begin<M: InTraining>(mut self: Box<Self>, model: &M) -> State {
        self.before = (self.num_steps > 0).then(|| Values::of(model));
        let (Some(before), Some(results)) = (&self.before, &self.results) else {
            return State::Preparing(self);
        };
        if self.num_steps < WARM_UP {
            return State::Preparing(self);
        }
        self.restart = Some(Restart {
            common: self.common.clone(),
            values: before.copied(),
            optimizer: self.optimizer.take(),
            wanted: results.like(),
        });
        match self.recorder.begin() {
            Ok(recorder) => State::Preparing(Box::new(Self { recorder, ..*self })),
            Err(reason) => State::refused(&reason),
        }
    }

    /// Ends the recording, and computes the recorded step.
    fn recorded(self: Box<Self>, values: Values, wanted: StepOutput, rate: f64) -> Result<Ready, NotRecorded> {
        let mut ready = Ready {
            common: self.common,
            graph: self.recorder.end()?,
            results: self.results.expect("the recorded step has results"),
            wanted: Some(wanted),
            embeddings: self.embeddings.expect("it has embeddings"),
            values,
        };
        ready.replay(rate);
        Ok(ready)
    }
}

impl Restart {
    /// Computes the step as always. `model` is the one before the step, but for its values.
    fn computed<M: InTraining>(self, model: M, optimizer: &mut ModuleOptimizer, rate: ModuleLearningRate) -> M {
        let mut values = self.values;
        let batch = model.take_batch();
        let model = together(|| model.map(&mut Restored(&mut values)));
        let record = self.optimizer.map(OptimizerRecord::checkpoint_from_bytes);
        if let Some(Ok(record)) = record {
            *optimizer = optimizer.clone().load_record(record);
        }
        let step = Step {
            batch: M::with_inputs(batch, self.common.inputs),
            estimator: self.common.estimator,
            noise: None,
            gradient_cache: None,
            detected: None,
            processes: Arc::new(Alone),
        };
        let trained = step.train(&model);
        StepOutput::of(&trained).write_to(&self.wanted);
        model.finish(step, trained.embeddings);
        model.updated(optimizer, rate, trained.gradients)
    }
}

impl Ready {
    fn replay(&mut self, rate: f64) {
        self.graph.replay(rate);
        if let Some(wanted) = self.wanted.take() {
            self.results.write_to(&wanted);
        }
    }
}

/// Parameters and running statistics of a model.
#[derive(Clone, Default)]
struct Values(HashMap<ParamId, Arc<dyn Value>>);

/// A tensor of any number of dimensions.
trait Value: Any + Send + Sync {
    /// The same numbers in memory of their own, not on an autodiff device.
    fn copied(&self) -> Arc<dyn Value>;
}

impl<const D: usize> Value for Tensor<D> {
    fn copied(&self) -> Arc<dyn Value> {
        let value = self.clone().without_autodiff();
        Arc::new(in_own_memory(value))
    }
}

/// Gives a model other values.
struct Restored<'a>(&'a mut Values);

impl ModuleMapper for Restored<'_> {
    fn map_float<const D: usize>(&mut self, parameter: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let Some(restored) = self.0.get::<D>(parameter.id) else {
            return parameter;
        };
        parameter.map(|value| {
            if value.is_autodiff() {
                restored.autodiff().set_require_grad(value.is_require_grad())
            } else {
                restored
            }
        })
    }
}

impl Values {
    fn get<const D: usize>(&self, id: ParamId) -> Option<Tensor<D>> {
        let value: &dyn Any = &**self.0.get(&id)?;
        value.downcast_ref::<Tensor<D>>().cloned()
    }

    fn of<M: Module>(model: &M) -> Self {
        let mut values = Self::default();
        model.visit(&mut values);
        values
    }

    /// The same numbers in memory of their own.
    fn copied(&self) -> Self {
        Self(self.0.iter().map(|(&id, value)| (id, value.copied())).collect())
    }

    /// The model in this memory after it has remembered the step.
    fn remembering<M: InTraining>(&self, model: M) -> M {
        let remembering = model.remembering();
        if M::REMEMBERS {
            self.clone().overwritten_by(remembering)
        } else {
            remembering
        }
    }

    /// The model in the memory of these values.
    fn overwritten_by<M: Module>(mut self, model: M) -> M {
        together(|| model.map(&mut self))
    }
}

impl ModuleVisitor for Values {
    fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
        self.0.insert(parameter.id, Arc::new(parameter.val()));
    }
}

impl ModuleMapper for Values {
    fn map_float<const D: usize>(&mut self, parameter: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let Some(memory) = self.get::<D>(parameter.id) else {
            return parameter;
        };
        parameter.map(|value| {
            overwrite(&memory.clone().without_autodiff(), value.without_autodiff());
            memory
        })
    }
}

impl StepOutput {
    fn of(trained: &TrainedStep) -> Self {
        Self {
            loss: trained.loss.clone().without_autodiff(),
            num_anchors: trained.num_anchors,
            num_counted: trained.num_counted.clone().map(Tensor::without_autodiff),
        }
    }

    /// Memory of its own for the output of another step.
    fn like(&self) -> Self {
        Self {
            loss: in_own_memory(self.loss.clone()),
            num_anchors: self.num_anchors,
            num_counted: self.num_counted.clone().map(in_own_memory),
        }
    }

    fn write_to(&self, other: &Self) {
        overwrite(&other.loss, self.loss.clone());
        if let Some((ours, theirs)) = self.num_counted.clone().zip(other.num_counted.as_ref()) {
            overwrite(theirs, ours);
        }
    }
}
