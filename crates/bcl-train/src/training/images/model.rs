//! The trained module: an encoder of images, stepped by whatever estimator its step brings.

use super::{batch::ImageBatch, views::BatchViews};
use crate::training::{
    evaluate::{Evaluated, EvaluationTask},
    figures::StepOutput,
    post_mortem::NamedTensors,
    step::{Contrastive, Step},
};
use crate::{optim::clip_global_norm, recipe::Precision};
use bcl_core::{Scores, Similarity};
use bcl_models::vision::{ImageEncoder, Mode};
use burn::{
    module::Module,
    optim::{GradientsParams, ModuleOptimizer, lr_scheduler::module_lr_scheduler::ModuleLearningRate},
    tensor::{Bool, Device, Tensor, TensorData},
    train::{InferenceStep, TrainOutput, TrainStep},
};
use std::ops::Range;

/// An encoder of images whose projections of two views are compared.
#[derive(Module, Debug)]
pub struct ContrastiveImages {
    /// The encoder.
    pub encoder: ImageEncoder,
    /// In how many bits it computes the projections that are compared.
    #[module(skip)]
    pub precision: Precision,
    /// The largest norm of a gradient over all parameters.
    #[module(skip)]
    pub largest_norm: Option<f64>,
}

impl From<ImageEncoder> for ContrastiveImages {
    /// In 32 bits, with gradients of any norm.
    fn from(encoder: ImageEncoder) -> Self {
        Self {
            encoder,
            precision: Precision::F32,
            largest_norm: None,
        }
    }
}

/// Two views of some images, for the encoder.
#[derive(Debug, Clone)]
pub struct ImagePart {
    /// The views, `[num_images, 3, side, side]` each.
    pub views: [Tensor<4>; 2],
    /// Which statistics batch normalisation uses.
    pub mode: Mode,
}

impl Contrastive for ContrastiveImages {
    type Batch = ImageBatch;

    type Part = ImagePart;

    fn parts(batch: &ImageBatch, at_most: usize) -> impl Iterator<Item = ImagePart> {
        let mode = batch.mode;
        batch.views.parts(at_most).map(move |views| ImagePart { views, mode })
    }

    /// Each view passes the encoder on its own, as in the released codes: batch normalisation never sees both views of an image.
    fn embeddings(&self, part: &ImagePart) -> [Tensor<2>; 2] {
        let dtype = self.precision.dtype();
        let projections = |view: Tensor<4>| self.encoder.projections(view.cast(dtype), part.mode);
        part.views.clone().map(projections)
    }

    fn gradient_scale(&self) -> f64 {
        self.precision.gradient_scale()
    }

    fn num_anchors(batch: &ImageBatch) -> usize {
        2 * batch.views.batch_size()
    }

    fn compare(&self, _: &ImageBatch, [first, second]: [Tensor<2>; 2], anchors: Range<usize>) -> Scores {
        // Projections are unit rows already.
        Scores {
            least_similarity: Similarity::Cosine.least(),
            ..Scores::from_views_of(first, second, Similarity::Dot, anchors)
        }
    }

    fn same_class(batch: &ImageBatch, anchors: Range<usize>, device: &Device) -> Option<Tensor<2, Bool>> {
        batch.same_class(anchors, device)
    }

    /// Of views that are made on demand, what they are made of: those of a whole batch need not fit into memory.
    fn tensors(batch: &ImageBatch) -> NamedTensors {
        let views = match &batch.views {
            BatchViews::Made(views) => NamedTensors::default()
                .with("first_views", views[0].to_data())
                .with("second_views", views[1].to_data()),
            BatchViews::OnDemand(views) => NamedTensors::default()
                .with("images", whole_numbers(views.images.iter().map(|&image| image as i64)))
                .with("epoch", whole_numbers([views.epoch as i64])),
        };
        let classes = batch.classes.as_ref();
        views.with_some(
            "classes",
            classes.map(|classes| whole_numbers(classes.iter().map(|&class| class.into()))),
        )
    }
}

fn whole_numbers(numbers: impl IntoIterator<Item = i64>) -> TensorData {
    TensorData::from(&*numbers.into_iter().collect::<Vec<_>>())
}

impl TrainStep for ContrastiveImages {
    type Input = Step<ImageBatch>;
    type Output = StepOutput;

    fn step(&self, step: Step<ImageBatch>) -> TrainOutput<StepOutput> {
        step.train(self)
    }

    fn optimize(self, optimizer: &mut ModuleOptimizer, rate: ModuleLearningRate, gradients: GradientsParams) -> Self {
        let gradients = match self.largest_norm {
            Some(limit) => clip_global_norm(&self, gradients, limit),
            None => gradients,
        };
        optimizer.step(rate, self, gradients)
    }
}

impl InferenceStep for ContrastiveImages {
    type Input = EvaluationTask<Self>;
    type Output = Evaluated;

    fn step(&self, task: EvaluationTask<Self>) -> Evaluated {
        task.run(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_data::Seed;
    use bcl_models::vision::{ImageEncoderConfig, ProjectionHeadConfig, ResNetConfig, ResNetDepth, Stem};
    use burn::{
        module::{ModuleVisitor, Param},
        optim::SgdConfig,
        tensor::DType,
    };
    use rand::RngExt;

    fn model(precision: Precision, largest_norm: Option<f64>) -> ContrastiveImages {
        let trunk = ResNetConfig {
            depth: ResNetDepth::ResNet18,
            stem: Stem::Imagenet,
            width: 2,
        };
        let head = ProjectionHeadConfig { hidden: 4, out: 2 };
        ContrastiveImages {
            encoder: ImageEncoderConfig { trunk, head }.init(0, &Device::flex().autodiff()),
            precision,
            largest_norm,
        }
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

    /// All parameters in a row.
    struct Values(Vec<f64>);

    impl ModuleVisitor for Values {
        fn visit_float<const D: usize>(&mut self, parameter: &Param<Tensor<D>>) {
            self.0.extend(parameter.val().into_data().iter::<f64>());
        }
    }

    fn values(model: &ContrastiveImages) -> Vec<f64> {
        let mut values = Values(Vec::new());
        model.visit(&mut values);
        values.0
    }

    /// How far a step of rate 1 moves a model: the norm of the gradient it is given.
    fn distance(largest_norm: Option<f64>, batch: &ImageBatch) -> f64 {
        let model = model(Precision::F32, largest_norm);
        let before = values(&model);
        let gradients = GradientsParams::from_grads(model.scores(batch).negatives.sum().backward(), &model);
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

    fn gradients(model: &ContrastiveImages, gradients: GradientsParams) -> Vec<f64> {
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
        let objective = |factor: f64| half.scores(&batch).negatives.mean() * factor;
        // The same forward pass, whose gradients are too large to underflow.
        let expected: Vec<f64> = gradients(&half, half.gradients(objective(1.0)))
            .into_iter()
            .map(|value| value * 1e-6)
            .collect();
        let scaled = gradients(&half, half.gradients(objective(1e-6)));
        let plain = gradients(&half, GradientsParams::from_grads(objective(1e-6).backward(), &half));

        let cosine = |found: &[f64]| dot(&expected, found) / (dot(&expected, &expected) * dot(found, found)).sqrt();
        assert!(cosine(&scaled) > 0.99, "{}", cosine(&scaled));
        assert!(cosine(&plain) < 0.5, "{}", cosine(&plain));
        // The scale is gone again.
        let ratio = (dot(&scaled, &scaled) / dot(&expected, &expected)).sqrt();
        assert!((0.99..1.01).contains(&ratio), "{ratio}");
    }

    #[test]
    fn scores_have_32_bits_whatever_the_precision() {
        let batch = batch();
        let [full, mixed] = [Precision::F32, Precision::Bf16].map(|precision| model(precision, None).scores(&batch).negatives);
        assert_eq!([full.dtype(), mixed.dtype()], [DType::F32; 2]);
        let difference = (full - mixed).abs().max().into_scalar::<f32>();
        assert!(difference > 1e-4, "{difference}");
    }
}
