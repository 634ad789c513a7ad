//! The trained module: an encoder of images, stepped by whatever estimator its step brings.

use super::batch::ImageBatch;
use crate::recipe::Precision;
use crate::training::{
    evaluate::{Evaluated, EvaluationTask},
    figures::StepOutput,
    optim::clip_global_norm,
    post_mortem::NamedTensors,
    step::{Contrastive, Step},
};
use bcl_core::{Scores, Similarity};
use bcl_models::vision::ImageEncoder;
use burn::{
    module::Module,
    optim::{GradientsParams, ModuleOptimizer, lr_scheduler::module_lr_scheduler::ModuleLearningRate},
    tensor::Tensor,
    train::{InferenceStep, TrainOutput, TrainStep},
};

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

impl Contrastive for ContrastiveImages {
    type Batch = ImageBatch;

    /// Each view passes the encoder on its own, as in the released codes: batch normalisation never sees both views of an image.
    fn scores(&self, batch: &ImageBatch) -> Scores {
        let dtype = self.precision.dtype();
        let projections = |view: Tensor<4>| self.encoder.projections(view.cast(dtype), batch.mode);
        let [first, second] = batch.views.clone().map(projections);
        // Projections are unit rows already.
        Scores {
            same_class: batch.same_class.clone(),
            ..Scores::from_views(first, second, Similarity::Dot)
        }
    }

    fn tensors(batch: &ImageBatch) -> NamedTensors {
        let [first, second] = batch.views.clone().map(Tensor::into_data);
        NamedTensors::default()
            .with("first_views", first)
            .with("second_views", second)
            .with_some("same_class", batch.same_class.clone().map(Tensor::into_data))
    }
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
    use bcl_models::vision::{ImageEncoderConfig, Mode, ProjectionHeadConfig, ResNetConfig, ResNetDepth, Stem};
    use burn::{
        module::{ModuleVisitor, Param},
        optim::SgdConfig,
        tensor::{DType, Device, Distribution},
    };

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
        let view = || Tensor::random([8, 3, 32, 32], Distribution::Default, &device);
        ImageBatch {
            views: [view(), view()],
            same_class: None,
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

    #[test]
    fn scores_have_32_bits_whatever_the_precision() {
        let batch = batch();
        let [full, mixed] = [Precision::F32, Precision::Bf16].map(|precision| model(precision, None).scores(&batch).negatives);
        assert_eq!([full.dtype(), mixed.dtype()], [DType::F32; 2]);
        let difference = (full - mixed).abs().max().into_scalar::<f32>();
        assert!(difference > 1e-4, "{difference}");
    }
}
