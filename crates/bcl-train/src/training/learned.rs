//! A method with the `TrainStep` and `InferenceStep` that Burn's `Learner` calls.

use super::{
    evaluate::{Evaluated, EvaluationTask},
    live_metrics::StepOutput,
    step::Step,
};
use crate::{
    methods::{Embeddings, Method},
    optim::clip_global_norm,
};
use burn::{
    module::Module,
    optim::{GradientsParams, ModuleOptimizer, lr_scheduler::module_lr_scheduler::ModuleLearningRate},
    train::{InferenceStep, TrainOutput, TrainStep},
};
use std::{
    any::Any,
    fmt, mem,
    sync::{Arc, Mutex, PoisonError},
};

/// A method in training.
#[derive(Module, Debug)]
pub struct Learned<M: Method> {
    /// The method.
    pub method: M,
    /// Maximum norm of the gradient over all parameters.
    #[module(skip)]
    largest_norm: Option<f64>,
    /// Batches and embeddings since the last optimizer step, kept for [`Method::after_step`].
    #[module(skip)]
    last_batches: LastBatches,
}

impl<M: Method> Learned<M> {
    /// Wraps a method for training; gradients are clipped to the norm, if given.
    pub fn new(method: M, largest_norm: Option<f64>) -> Self {
        Self {
            method,
            largest_norm,
            last_batches: LastBatches::default(),
        }
    }
}

/// The batches since the last optimizer step and their embeddings, whatever the type of the method's batches.
#[derive(Clone, Default)]
struct LastBatches(Arc<Mutex<Vec<Box<dyn Any + Send>>>>);

impl LastBatches {
    fn put<B: Send + 'static>(&self, batch: B, embeddings: Embeddings) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(Box::new((batch, embeddings)));
    }

    fn take<B: 'static>(&self) -> impl Iterator<Item = (B, Embeddings)> {
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
        let (output, embeddings) = step.train(&self.method);
        self.last_batches.put(step.batch, embeddings);
        output
    }

    fn optimize(self, optimizer: &mut ModuleOptimizer, rate: ModuleLearningRate, gradients: GradientsParams) -> Self {
        let gradients = match self.largest_norm {
            Some(limit) => clip_global_norm(&self, gradients, limit),
            None => gradients,
        };
        let moved = optimizer.step(rate, self, gradients);
        let after = |method: M, (batch, embeddings): (M::Batch, Embeddings)| method.after_step(&batch, &embeddings);
        Self {
            method: moved.last_batches.take().fold(moved.method, after),
            ..moved
        }
    }
}

impl<M: Method> InferenceStep for Learned<M> {
    type Input = EvaluationTask<M>;
    type Output = Evaluated;

    fn step(&self, task: EvaluationTask<M>) -> Evaluated {
        task.run(&self.method)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        batches::{BatchViews, ImageBatch},
        methods::{Precision, SimClr},
        training::step::gradients as step_gradients,
    };
    use bcl_data::Seed;
    use bcl_models::vision::{ImageEncoderConfig, Mode, ProjectionHeadConfig, ResNetConfig, ResNetDepth, Stem};
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
        let head = ProjectionHeadConfig { hidden: 4, out: 2 };
        let encoder = ImageEncoderConfig { trunk, head }.init(0, &Device::flex().autodiff());
        Learned::new(SimClr { encoder, precision }, largest_norm)
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
            views: BatchViews::Made(Box::new([view(0), view(1)])),
            classes: None,
            mode: Mode::BatchStatistics,
        }
    }

    fn negatives(model: &Learned<SimClr>, batch: &ImageBatch) -> Tensor<2> {
        let (method, at_most) = (&model.method, usize::MAX);
        let objective = method.objective(batch, &method.embed_batch(batch, at_most), 0..method.num_anchors(batch));
        objective.scores().expect("SimCLR compares scores").negatives
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
}
