//! One training step, whatever is trained: a batch becomes scores, an estimator makes a loss of them.

use super::{figures::StepOutput, post_mortem::NamedTensors};
use bcl_core::{Estimator, Reduction, Scores};
use bcl_data::Seed;
use burn::{
    data::dataloader::DataLoader,
    module::Module,
    tensor::{Device, Tensor, TensorData},
    train::TrainOutput,
};
use rand_distr::{Distribution, Gamma};
use std::{fmt::Debug, sync::Arc};

/// A module that turns batches into scores: where an encoder and its negatives meet. Of how negatives are weighed it knows nothing.
pub trait Contrastive: Module {
    /// What is compared in one step.
    type Batch: Debug + Clone + Send + Sync + 'static;

    /// The scores of a batch.
    fn scores(&self, batch: &Self::Batch) -> Scores;

    /// The tensors of a batch by name: what is kept of one whose loss is not a number.
    fn tensors(batch: &Self::Batch) -> NamedTensors;

    /// A term of the objective beside the loss, where there is one.
    fn penalty(&self, _: &Self::Batch) -> Option<Tensor<1>> {
        None
    }
}

/// The work of one training step.
#[derive(Debug, Clone)]
pub struct Step<B> {
    /// What is compared.
    pub batch: B,
    /// How the negatives are weighed.
    pub estimator: Arc<dyn Estimator>,
    /// Standard Gamma draws, `[num_anchors]`, where the estimator needs them.
    pub noise: Option<Tensor<1>>,
}

impl<B> Step<B> {
    /// A step whose noise depends on the seed and the number of the step alone.
    pub fn new(batch: B, estimator: Arc<dyn Estimator>, num_anchors: usize, seed: Seed, step: u64, device: &Device) -> Self {
        let noise = estimator.noise_shape().map(|shape| {
            let gamma = Gamma::new(shape, 1.0).expect("the shapes of our estimators are positive");
            let mut rng = seed.named("noise").index(step).rng();
            let draws: Vec<f32> = (0..num_anchors).map(|_| gamma.sample(&mut rng) as f32).collect();
            Tensor::from_data(TensorData::new(draws, [num_anchors]), device)
        });
        Self { batch, estimator, noise }
    }

    /// The scores of the step under a model.
    pub fn scores<M: Contrastive<Batch = B>>(&self, model: &M) -> Scores {
        Scores {
            noise: self.noise.clone(),
            ..model.scores(&self.batch)
        }
    }

    /// Forward and backward.
    pub fn train<M: Contrastive<Batch = B>>(&self, model: &M) -> TrainOutput<StepOutput> {
        let scores = self.scores(model);
        let num_anchors = scores.num_anchors();
        let loss = self.estimator.forward(scores, Reduction::Mean);
        let objective = match model.penalty(&self.batch) {
            Some(penalty) => loss.clone() + penalty,
            None => loss.clone(),
        };
        let output = StepOutput {
            loss: loss.detach(),
            num_anchors,
        };
        TrainOutput::new(model, objective.backward(), output)
    }
}

/// What an epoch is to do; the loop sets it before it asks the loader for steps.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Epoch, from 0: it determines the order.
    pub epoch: usize,
    /// Step of the epoch to begin with: above 0 where an interrupted epoch goes on.
    pub first_step: usize,
    /// How negatives are weighed in this epoch.
    pub estimator: Arc<dyn Estimator>,
}

/// A loader whose epochs can be taken up at any step.
///
/// Step s of epoch e must be the same whether the run was interrupted before it or not.
pub trait PlannedLoader<B>: DataLoader<Step<B>> {
    /// Sets what the next [`iter`](DataLoader::iter) does.
    fn set_plan(&self, plan: Plan);

    /// Number of steps of an epoch.
    fn steps_per_epoch(&self) -> usize;
}
