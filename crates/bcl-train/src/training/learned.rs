//! A method with the `TrainStep` and `InferenceStep` that Burn's `Learner` calls.

use super::{
    evaluate::{Evaluated, EvaluationTask},
    live_metrics::StepOutput,
    recovery::Recovery,
    step_graph::{Begun, InTraining, RecordedSteps},
};
use bcl_kernels::together;
use bcl_methods::batches::{LogQ, NamedTensors};
use bcl_methods::{Embeddings, Method, Objective};
use bcl_methods::{
    LearnedTemperature,
    step::{RunningRates, Step, StepRates},
};
use bcl_optim::clip_global_norm;
use burn::{
    module::Module,
    optim::{GradientsParams, ModuleOptimizer, lr_scheduler::module_lr_scheduler::ModuleLearningRate},
    tensor::{Bool, Device, Int, Tensor},
    train::{InferenceStep, TrainOutput, TrainStep},
};
use std::{
    any::{Any, type_name},
    fmt, mem,
    ops::Range,
    sync::{Arc, Mutex, PoisonError},
};

/// A method in training.
#[derive(Module, Debug)]
pub struct Learned<M: Method> {
    /// The method.
    pub method: M,
    /// The temperature, if it is learned.
    pub temperature: Option<LearnedTemperature>,
    /// Rates at which the augmented loss draws, if they are averaged over steps.
    pub rates: Option<RunningRates>,
    /// What has been detected about the training samples, if false negatives are detected.
    pub recovery: Option<Recovery>,
    /// Maximum norm of the gradient over all parameters.
    #[module(skip)]
    largest_norm: Option<f64>,
    /// What [`Method::remember`] and the running rates need of the steps since the last optimizer step.
    #[module(skip)]
    last_batches: LastBatches,
    #[module(skip)]
    recorded_steps: RecordedSteps,
}

impl<M: Method> Learned<M> {
    /// Wraps a method for training; gradients are clipped to the norm, if given.
    pub fn new(method: M, largest_norm: Option<f64>) -> Self {
        Self {
            method,
            temperature: None,
            rates: None,
            recovery: None,
            largest_norm,
            last_batches: LastBatches::default(),
            recorded_steps: RecordedSteps::default(),
        }
    }

    /// Records a step and replays it if asked to, where the device, the method and the loss allow it. Then a model before a step has the memory of the model after
    /// it.
    pub fn with_step_graph(self, is_wanted: bool) -> Self {
        Self {
            recorded_steps: RecordedSteps::new(is_wanted),
            ..self
        }
    }

    /// Whether the step whose gradients were computed last is recorded or replayed: then its optimizer comes before anything is read from the device.
    pub fn records_step(&self) -> bool {
        self.recorded_steps.are_in_use()
    }

    /// Whether the next step may be recorded: then no other thread may use the device meanwhile.
    pub fn may_record_next_step(&self) -> bool {
        self.recorded_steps.are_prepared()
    }

    /// Ends an epoch: a step that is not recorded yet is prepared again in the next one.
    pub fn end_epoch(&self) {
        self.recorded_steps.end_epoch();
    }

    /// Learns a temperature, too, if given.
    pub fn with_temperature(self, temperature: Option<LearnedTemperature>) -> Self {
        Self { temperature, ..self }
    }

    /// Draws at running rates, if given.
    pub fn with_rates(self, rates: Option<RunningRates>) -> Self {
        Self { rates, ..self }
    }

    /// Keeps what has been detected, if given.
    pub fn with_recovery(self, recovery: Option<Recovery>) -> Self {
        Self { recovery, ..self }
    }

    /// Keeps what [`optimize`](TrainStep::optimize) needs of a step beside its gradients, as [`TrainStep::step`] does. `embeddings` are the batch's,
    /// detached from the graph.
    pub fn finish(&self, step: Step<M::Batch>, embeddings: Embeddings) {
        let rates = step.rates(self, &embeddings);
        self.last_batches.put(LastBatch {
            batch: M::remembered(step.batch),
            embeddings,
            rates,
        });
    }

    /// Updates the running rates after a step.
    fn with_step_rates(self, batch: &M::Batch, step: Option<&StepRates>) -> Self {
        let Some(((rates, step), samples)) = self.rates.clone().zip(step).zip(Self::all_samples(batch, step)) else {
            return self;
        };
        Self {
            rates: Some(rates.updated(&samples, step)),
            ..self
        }
    }

    /// The samples of all anchors of a step.
    fn all_samples(batch: &M::Batch, step: Option<&StepRates>) -> Option<Vec<usize>> {
        let [num_anchors] = step?.log_means.dims();
        M::samples(batch, 0..num_anchors)
    }
}

/// A method whose scores are divided by the learned temperature, if there is one.
impl<M: Method> Method for Learned<M> {
    type Encoder = M::Encoder;
    type Batch = M::Batch;
    type Part = M::Part;

    const EMBEDS_WHOLE_BATCH: bool = M::EMBEDS_WHOLE_BATCH;

    const REMEMBERS: bool = M::REMEMBERS;

    fn encoder(&self) -> &M::Encoder {
        self.method.encoder()
    }

    fn parts(batch: &M::Batch, at_most: usize) -> impl Iterator<Item = M::Part> {
        M::parts(batch, at_most)
    }

    fn embed(&self, part: &M::Part) -> Embeddings {
        let embeddings = self.method.embed(part);
        match &self.temperature {
            Some(temperature) => temperature.join(embeddings),
            None => embeddings,
        }
    }

    fn rows_in_use(&self, batch: &M::Batch, table: &str) -> Option<Tensor<1, Int>> {
        self.method.rows_in_use(batch, table)
    }

    fn num_anchors(&self, batch: &M::Batch) -> usize {
        self.method.num_anchors(batch)
    }

    fn objective(&self, batch: &M::Batch, embeddings: &Embeddings, anchors: Range<usize>) -> Objective {
        let objective = self.method.objective(batch, embeddings, anchors);
        if self.temperature.is_none() {
            return objective;
        }
        match objective.into_scores() {
            Ok(scores) => Objective::Pairs(LearnedTemperature::divide(scores, embeddings).into()),
            Err(losses) => Objective::Losses(losses),
        }
    }

    fn log_q(&self, batch: &M::Batch, anchors: Range<usize>) -> Option<LogQ> {
        self.method.log_q(batch, anchors)
    }

    fn same_class(&self, batch: &M::Batch, anchors: Range<usize>, device: &Device) -> Option<Tensor<2, Bool>> {
        self.method.same_class(batch, anchors, device)
    }

    fn relabelled(&self, batch: &M::Batch, labels: &[u32]) -> Option<M::Batch> {
        self.method.relabelled(batch, labels)
    }

    fn samples(batch: &M::Batch, anchors: Range<usize>) -> Option<Vec<usize>> {
        M::samples(batch, anchors)
    }

    fn log_means(&self, batch: &M::Batch, anchors: Range<usize>, of_batch: Tensor<1>) -> Tensor<1> {
        match (&self.rates, M::samples(batch, anchors)) {
            (Some(rates), Some(samples)) => rates.of_anchors(&samples, of_batch),
            _ => of_batch,
        }
    }

    fn before_update(&self, gradients: GradientsParams) -> GradientsParams {
        self.method.before_update(gradients)
    }

    fn remember(self, batch: &M::Batch, embeddings: &Embeddings) -> Self {
        Self {
            method: self.method.remember(batch, embeddings),
            ..self
        }
    }

    fn after_update(self) -> Self {
        Self {
            method: self.method.after_update(),
            temperature: self.temperature.map(LearnedTemperature::limited),
            ..self
        }
    }

    fn inputs(&self, batch: &M::Batch) -> Option<Vec<Tensor<4>>> {
        self.method.inputs(batch)
    }

    fn with_inputs(batch: M::Batch, inputs: Vec<Tensor<4>>) -> M::Batch {
        M::with_inputs(batch, inputs)
    }

    fn tensors(batch: &M::Batch) -> NamedTensors {
        M::tensors(batch)
    }

    fn penalty(&self, batch: &M::Batch) -> Option<Tensor<1>> {
        self.method.penalty(batch)
    }

    fn gradient_scale(&self) -> f64 {
        self.method.gradient_scale()
    }

    fn allows_tf32(&self) -> bool {
        self.method.allows_tf32()
    }
}

/// A step that has no optimizer step behind it yet.
struct LastBatch<B> {
    batch: B,
    /// Detached.
    embeddings: Embeddings,
    rates: Option<StepRates>,
}

/// The steps since the last optimizer step, whatever the type of the method's batches.
#[derive(Clone, Default)]
struct LastBatches(Arc<Mutex<Vec<Box<dyn Any + Send>>>>);

impl LastBatches {
    fn put<B: Send + 'static>(&self, last: LastBatch<B>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Box::new(last));
    }

    fn take<B: 'static>(&self) -> impl Iterator<Item = LastBatch<B>> {
        let last = mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        last.into_iter()
            .map(|batch| *batch.downcast().expect("a method has one type of batches"))
    }
}

impl fmt::Debug for LastBatches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LastBatches")
    }
}

impl<M: Method> TrainStep for Learned<M> {
    type Input = Step<M::Batch>;
    type Output = StepOutput;

    fn step(&self, step: Step<M::Batch>) -> TrainOutput<StepOutput> {
        match self.recorded_steps.begin(self, step) {
            Begun::Computed(step) => {
                let trained = step.train(self);
                let item = self.recorded_steps.output(&trained);
                self.finish(step, trained.embeddings);
                TrainOutput {
                    grads: trained.gradients,
                    item,
                }
            }
            Begun::Replayed(item) => TrainOutput {
                grads: GradientsParams::new(),
                item,
            },
        }
    }

    fn optimize(self, optimizer: &mut ModuleOptimizer, rate: ModuleLearningRate, gradients: GradientsParams) -> Self {
        let recorded_steps = self.recorded_steps.clone();
        recorded_steps.end(self, optimizer, rate, gradients)
    }
}

impl<M: Method> InTraining for Learned<M> {
    fn has_only_parameters(&self) -> bool {
        self.temperature.is_none() && self.rates.is_none() && self.recovery.is_none()
    }

    fn name() -> &'static str {
        type_name::<M>().rsplit("::").next().unwrap_or_default()
    }

    fn optimized(self, optimizer: &mut ModuleOptimizer, rate: ModuleLearningRate, gradients: GradientsParams) -> Self {
        let gradients = match self.largest_norm {
            Some(limit) => clip_global_norm(&self, gradients, limit),
            None => gradients,
        };
        let gradients = self.before_update(gradients);
        together(|| optimizer.step(rate, self, gradients))
    }

    fn finish(&self, step: Step<M::Batch>, embeddings: Embeddings) {
        Self::finish(self, step, embeddings);
    }

    fn remembering(self) -> Self {
        let batches: Vec<_> = self.last_batches.take::<M::Batch>().collect();
        batches.into_iter().fold(self, |moved, last| {
            moved
                .with_step_rates(&last.batch, last.rates.as_ref())
                .remember(&last.batch, &last.embeddings)
        })
    }

    fn take_batch(&self) -> M::Batch {
        let last = self.last_batches.take::<M::Batch>().last();
        last.expect("a step came before its optimizer").batch
    }
}

impl<M: Method> InferenceStep for Learned<M> {
    type Input = EvaluationTask<Self>;
    type Output = Evaluated;

    fn step(&self, task: EvaluationTask<Self>) -> Evaluated {
        task.run(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_core::InfoNceLossConfig;
    use bcl_data::Seed;
    use bcl_methods::batches::{BatchViews, ImageBatch};
    use bcl_methods::step::gradients as step_gradients;
    use bcl_methods::{Precision, SimClr};
    use bcl_models::vision::{ImageEncoderConfig, Mode, ProjectionHeadConfig, ResNetConfig, ResNetDepth, Stem};
    use bcl_recipe::{OptimizerConfig, OptimizerKind};
    use burn::{
        module::{ModuleVisitor, Param},
        optim::SgdConfig,
        tensor::{DType, Device, Tensor, TensorData},
    };
    use rand::RngExt;

    fn model(precision: Precision, largest_norm: Option<f64>) -> Learned<SimClr> {
        let trunk = ResNetConfig {
            depth: ResNetDepth::ResNet18,
            stem: Stem::Imagenet,
            width: 2,
        };
        let head = ProjectionHeadConfig {
            hidden: 4,
            out: 2,
            ..ProjectionHeadConfig::default()
        };
        let encoder = ImageEncoderConfig {
            trunk,
            head,
            split_channels: None,
        }
        .init(0, &Device::flex().autodiff());
        Learned::new(SimClr::new(encoder, precision), largest_norm)
    }

    fn batch() -> ImageBatch {
        let device = Device::flex().autodiff();
        // Burn's own random source is shared by all tests of the process, so its draws would differ from run to run.
        let view = |index| {
            let mut rng = Seed(0).named("view").index(index).rng();
            let pixels: Vec<f32> = (0..8 * 3 * 32 * 32).map(|_| rng.random()).collect();
            Tensor::from_data(TensorData::new(pixels, [8, 3, 32, 32]), &device)
        };
        ImageBatch {
            views: BatchViews::Made(vec![view(0), view(1)]),
            images: (0..8).collect(),
            classes: None,
            mode: Mode::BatchStatistics,
        }
    }

    fn negatives(model: &Learned<SimClr>, batch: &ImageBatch) -> Tensor<2> {
        let (method, at_most) = (&model.method, usize::MAX);
        let objective = method.objective(batch, &method.embed_batch(batch, at_most), 0..method.num_anchors(batch));
        objective.into_scores().expect("SimCLR compares scores").negatives
    }

    /// All parameters in a row.
    struct Values(Vec<f64>);

    impl ModuleVisitor for Values {
        fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
            self.0.extend(parameter.val().into_data().iter::<f64>());
        }
    }

    fn values(model: &Learned<SimClr>) -> Vec<f64> {
        let mut values = Values(Vec::new());
        model.visit(&mut values);
        values.0
    }

    /// How far a step of learning rate 1 moves a model, which is the norm of the gradient.
    fn distance(largest_norm: Option<f64>, batch: &ImageBatch) -> f64 {
        let model = model(Precision::F32, largest_norm);
        let before = values(&model);
        let gradients = GradientsParams::from_grads(negatives(&model, batch).sum().backward(), &model);
        let moved = values(&model.optimize(&mut SgdConfig::new().init(), 1.0.into(), gradients));
        let squares = before.iter().zip(&moved).map(|(before, moved)| (before - moved).powi(2));
        squares.sum::<f64>().sqrt()
    }

    #[test]
    fn no_step_is_longer_than_the_largest_norm_allows() {
        let batch = batch();
        let free = distance(None, &batch);
        assert!(free > 0.02, "{free}");
        let clipped = distance(Some(0.01), &batch);
        assert!((clipped - 0.01).abs() < 1e-4, "{clipped}");
    }

    /// All gradients in a row.
    struct Gradients(GradientsParams, Vec<f64>);

    impl ModuleVisitor for Gradients {
        fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
            if let Some(gradient) = self.0.get::<D>(parameter.id) {
                self.1.extend(gradient.into_data().iter::<f64>());
            }
        }
    }

    fn gradients(model: &Learned<SimClr>, gradients: GradientsParams) -> Vec<f64> {
        let mut found = Gradients(gradients, Vec::new());
        model.visit(&mut found);
        found.1
    }

    fn dot(left: &[f64], right: &[f64]) -> f64 {
        left.iter().zip(right).map(|(a, b)| a * b).sum()
    }

    #[test]
    fn small_gradients_do_not_underflow_in_f16() {
        let batch = batch();
        let half = model(Precision::F16, None);
        let objective = |factor: f64| negatives(&half, &batch).mean() * factor;
        // The same forward pass, whose gradients are too large to underflow.
        let expected: Vec<f64> = gradients(&half, step_gradients(&half.method, objective(1.0)))
            .into_iter()
            .map(|value| value * 1e-6)
            .collect();
        let scaled = gradients(&half, step_gradients(&half.method, objective(1e-6)));
        let plain = gradients(&half, GradientsParams::from_grads(objective(1e-6).backward(), &half));

        let cosine = |found: &[f64]| dot(&expected, found) / (dot(&expected, &expected) * dot(found, found)).sqrt();
        assert!(cosine(&scaled) > 0.99, "{}", cosine(&scaled));
        assert!(cosine(&plain) < 0.5, "{}", cosine(&plain));
        // The gradients have been unscaled.
        let ratio = (dot(&scaled, &scaled) / dot(&expected, &expected)).sqrt();
        assert!((0.99..1.01).contains(&ratio), "{ratio}");
    }

    #[test]
    fn scores_have_32_bits_in_every_precision() {
        let batch = batch();
        let [full, mixed] = [Precision::F32, Precision::Bf16].map(|precision| negatives(&model(precision, None), &batch));
        assert_eq!([full.dtype(), mixed.dtype()], [DType::F32; 2]);
        let difference = (full - mixed).abs().max().into_scalar::<f32>();
        assert!(difference > 1e-4, "{difference}");
    }

    fn with_temperature(precision: Precision, start: f64, range: [f64; 2]) -> Learned<SimClr> {
        let temperature = LearnedTemperature::new(start, range, &Device::flex().autodiff());
        model(precision, None).with_temperature(Some(temperature))
    }

    fn step(estimator: &InfoNceLossConfig) -> Step<ImageBatch> {
        let estimator = Arc::new(estimator.clone().with_temperature(1.0).init());
        Step::new(batch(), Some(estimator), 16, Seed(0), 0, &Device::flex().autodiff())
    }

    fn gradient_of_temperature(model: &Learned<SimClr>) -> f64 {
        let step = step(&InfoNceLossConfig::new()).train(model);
        *gradients(model, step.gradients)
            .last()
            .expect("the temperature is the last parameter")
    }

    #[test]
    fn a_learned_temperature_has_the_loss_of_a_constant_one_and_its_slope() {
        let constant = |temperature: f64| {
            let mut step = step(&InfoNceLossConfig::new());
            step.estimator = Some(Arc::new(InfoNceLossConfig::new().with_temperature(temperature).init()));
            step.train(&model(Precision::F32, None)).loss.into_scalar::<f64>()
        };
        let (start, change) = (0.3_f64, 1e-2_f64);
        let learned = with_temperature(Precision::F32, start, [0.01, 100.0]);
        let loss = step(&InfoNceLossConfig::new()).train(&learned).loss.into_scalar::<f64>();
        assert!((loss - constant(start)).abs() < 1e-5 * loss, "{loss}");
        // Over the logarithm of the rate.
        let slope = (constant(start * (-change).exp()) - constant(start * change.exp())) / (2.0 * change);
        let gradient = gradient_of_temperature(&learned);
        assert!(
            (gradient - slope).abs() < 2e-3 * slope.abs().max(0.1),
            "{gradient} is not {slope}"
        );
    }

    #[test]
    fn loss_scaling_leaves_the_gradient_of_the_temperature_as_it_is() {
        let [full, half] = [Precision::F32, Precision::F16]
            .map(|precision| gradient_of_temperature(&with_temperature(precision, 0.3, [0.01, 100.0])));
        assert!((full - half).abs() < 0.05 * full.abs(), "{half} is not {full}");
    }

    #[test]
    fn a_learned_temperature_does_not_decay_and_stays_in_its_range() {
        let trained = |range, weight_decay, rate: f64| {
            let config = OptimizerConfig {
                kind: OptimizerKind::Sgd,
                weight_decay,
                ..OptimizerConfig::default()
            };
            let mut optimizer = config.init();
            let model = with_temperature(Precision::F32, 0.3, range);
            let output = TrainStep::step(&model, step(&InfoNceLossConfig::new()));
            let moved = model.optimize(&mut optimizer, rate.into(), output.grads);
            (moved.temperature.as_ref().expect("there is one").value(), values(&moved))
        };
        let free = trained([0.01, 100.0], 0.0, 0.1);
        assert!((free.0 - 0.3).abs() > 1e-4, "{} moves", free.0);
        let decayed = trained([0.01, 100.0], 0.5, 0.1);
        assert_eq!(decayed.0, free.0, "the temperature does not decay");
        assert_ne!(decayed.1, free.1, "all else does");
        for (range, limit) in [([0.299, 0.3], 0.299), ([0.3, 0.301], 0.301)] {
            let ends = [1e3, -1e3].map(|rate| trained(range, 0.0, rate).0);
            assert!(ends.iter().any(|end| (end - limit).abs() < 1e-6), "{ends:?} has no {limit}");
        }
    }
}
