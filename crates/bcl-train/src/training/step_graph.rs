//! Steps of training that a GPU records once and replays.
//!
//! Three steps are computed as always while the device prepares, with the allocations that the recorded one will find. From the second on, they leave
//! what they have learned in the memory where they found it, as replays have to.

use super::{learned::Learned, live_metrics::StepOutput};
use bcl_core::{AugmentedLoss, Estimator};
use bcl_files::notice;
use bcl_kernels::{NotRecorded, StepGraph, StepRecorder, overwrite, together};
use bcl_methods::{
    Method,
    step::{Step, TrainedStep},
};
use burn::{
    module::{Module, ModuleMapper, ModuleVisitor, Param, ParamId},
    tensor::Tensor,
};
use std::{
    any::Any,
    collections::HashMap,
    fmt, mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Steps before the recorded one. In the first, the optimizer allocates its state.
const WARM_UP: usize = 3;

/// The recording of the steps of a model, which its clones share. By default, steps are not recorded.
#[derive(Clone, Default)]
pub(super) struct RecordedSteps(Option<Arc<Mutex<State>>>);

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
    results: Option<Results>,
    /// Where the results of the step that is recorded go.
    wanted: Option<Results>,
}

struct Ready {
    common: Common,
    graph: StepGraph,
    /// Where the recorded step writes.
    results: Results,
    /// Where the results of the current step go.
    wanted: Option<Results>,
    /// The memory of the model, which the graph uses.
    _values: Option<Values>,
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

    /// Whether steps are recorded, or may be.
    pub(super) fn are_wanted(&self) -> bool {
        self.0.is_some()
    }

    fn lock(&self) -> Option<MutexGuard<'_, State>> {
        Some(self.0.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Begins a step.
    pub(super) fn begin<M: Method>(&self, model: &Learned<M>, step: Step<M::Batch>) -> Begun<M::Batch> {
        let Some(mut state) = self.lock() else {
            return Begun::Computed(step);
        };
        let inputs = if model.has_only_parameters() {
            inputs(&model.method, &step)
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
                let output = wanted.output();
                ready.wanted = Some(wanted);
                *state = State::Ready(ready);
                Begun::Replayed(output)
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
        let results = Results::of(trained);
        let output = results.output();
        if let Some(State::Preparing(preparing)) = self.lock().as_deref_mut() {
            preparing.results = Some(results);
            if let Some(wanted) = &preparing.wanted {
                return wanted.output();
            }
        }
        output
    }

    /// Ends a step by updating the model, or by replaying the recorded step.
    pub(super) fn end<M: Method>(
        &self,
        model: Learned<M>,
        rate: f64,
        update: impl FnOnce(Learned<M>) -> Learned<M>,
    ) -> Learned<M> {
        let Some(mut state) = self.lock() else { return update(model) };
        match mem::take(&mut *state) {
            State::Ready(mut ready) => {
                ready.replay(rate);
                *state = State::Ready(ready);
                model
            }
            State::Preparing(mut preparing) => {
                let updated = update(model);
                let updated = match preparing.before.clone() {
                    Some(before) => before.overwritten_by(updated),
                    None => updated,
                };
                preparing.num_steps += 1;
                *state = if preparing.wanted.is_some() {
                    preparing.recorded(rate)
                } else {
                    State::Preparing(preparing)
                };
                updated
            }
            other => {
                *state = other;
                update(model)
            }
        }
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
                    inputs: inputs.iter().map(Tensor::zeros_like).collect(),
                },
                recorder,
                num_steps: 0,
                before: None,
                results: None,
                wanted: None,
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
    fn begin<M: Method>(mut self: Box<Self>, model: &Learned<M>) -> State {
        self.before = (self.num_steps > 0).then(|| Values::of(model));
        if self.num_steps < WARM_UP {
            return State::Preparing(self);
        }
        self.wanted = self.results.as_ref().map(Results::like);
        match self.recorder.begin() {
            Ok(recorder) => State::Preparing(Box::new(Self { recorder, ..*self })),
            Err(reason) => State::refused(&reason),
        }
    }

    /// Ends the recording, and computes the recorded step.
    fn recorded(self: Box<Self>, rate: f64) -> State {
        // What was to be computed cannot be any more: the gradients exist nowhere.
        let graph = self
            .recorder
            .end()
            .unwrap_or_else(|reason| panic!("{reason}; set training.step_graph = false"));
        let mut ready = Ready {
            common: self.common,
            graph,
            results: self.results.expect("the recorded step has results"),
            wanted: self.wanted,
            _values: self.before,
        };
        ready.replay(rate);
        notice::note("a step is recorded, and replayed from here on");
        State::Ready(Box::new(ready))
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
struct Values(HashMap<ParamId, Arc<dyn Any + Send + Sync>>);

impl Values {
    fn of<M: Module>(model: &M) -> Self {
        let mut values = Self::default();
        model.visit(&mut values);
        values
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
        let memory = self.0.get(&parameter.id).and_then(|value| value.downcast_ref::<Tensor<D>>());
        let Some(memory) = memory.cloned() else { return parameter };
        parameter.map(|value| {
            overwrite(&memory.clone().without_autodiff(), value.without_autodiff());
            memory
        })
    }
}

/// What a step returns beside its gradients.
struct Results {
    loss: Tensor<1>,
    num_anchors: usize,
    num_counted: Option<Tensor<1>>,
}

impl Results {
    fn of(trained: &TrainedStep) -> Self {
        Self {
            loss: trained.loss.clone().without_autodiff(),
            num_anchors: trained.num_anchors,
            num_counted: trained.num_counted.clone().map(Tensor::without_autodiff),
        }
    }

    /// Memory of their own for the results of another step.
    fn like(&self) -> Self {
        Self {
            loss: self.loss.zeros_like(),
            num_anchors: self.num_anchors,
            num_counted: self.num_counted.as_ref().map(Tensor::zeros_like),
        }
    }

    fn write_to(&self, other: &Self) {
        overwrite(&other.loss, self.loss.clone());
        if let Some((ours, theirs)) = self.num_counted.clone().zip(other.num_counted.as_ref()) {
            overwrite(theirs, ours);
        }
    }

    fn output(&self) -> StepOutput {
        StepOutput {
            loss: self.loss.clone(),
            num_anchors: self.num_anchors,
            num_counted: self.num_counted.clone(),
        }
    }
}
