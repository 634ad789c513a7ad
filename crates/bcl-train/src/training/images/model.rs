//! The trained module: an encoder of images, stepped by whatever estimator its step brings.

use super::batch::ImageBatch;
use crate::training::{
    evaluate::{Evaluated, EvaluationTask},
    figures::StepOutput,
    step::{Contrastive, Step},
};
use bcl_core::{Scores, Similarity};
use bcl_models::vision::ImageEncoder;
use burn::{
    module::Module,
    train::{InferenceStep, TrainOutput, TrainStep},
};

/// An encoder of images whose projections of two views are compared.
#[derive(Module, Debug)]
pub struct ContrastiveImages {
    /// The encoder.
    pub encoder: ImageEncoder,
}

impl Contrastive for ContrastiveImages {
    type Batch = ImageBatch;

    /// Each view passes the encoder on its own, as in the released codes: batch normalisation never sees both views of an image.
    fn scores(&self, batch: &ImageBatch) -> Scores {
        let [first, second] = batch.views.clone().map(|view| self.encoder.projections(view, batch.mode));
        // Projections are unit rows already.
        Scores {
            same_class: batch.same_class.clone(),
            ..Scores::from_views(first, second, Similarity::Dot)
        }
    }
}

impl TrainStep for ContrastiveImages {
    type Input = Step<ImageBatch>;
    type Output = StepOutput;

    fn step(&self, step: Step<ImageBatch>) -> TrainOutput<StepOutput> {
        step.train(self)
    }
}

impl InferenceStep for ContrastiveImages {
    type Input = EvaluationTask<Self>;
    type Output = Evaluated;

    fn step(&self, task: EvaluationTask<Self>) -> Evaluated {
        task.run(self)
    }
}
