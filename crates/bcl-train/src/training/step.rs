//! One training step, whatever is trained: a batch becomes scores, an estimator makes a loss of them.

use super::{figures::StepOutput, post_mortem::NamedTensors};
use crate::optim;
use bcl_core::{Estimator, Reduction, Scores, SideInformation};
use bcl_data::Seed;
use burn::{
    data::dataloader::DataLoader,
    module::Module,
    optim::GradientsParams,
    tensor::{Bool, Device, Tensor, TensorData},
    train::TrainOutput,
};
use rand_distr::{Distribution, Gamma};
use std::{fmt::Debug, ops::Range, sync::Arc};

/// A module that turns batches into scores: where an encoder and its negatives meet. Of how negatives are weighed it knows nothing.
///
/// It does so in two steps, each of which can be done piece by piece: [`embeddings`](Self::embeddings) of a part of the batch, and from the
/// embeddings of all parts the scores of [some anchors](Self::compare).
pub trait Contrastive: Module {
    /// What is compared in one step.
    type Batch: Debug + Clone + Send + Sync + 'static;

    /// What the encoder gets at a time.
    type Part;

    /// Takes a batch apart for the encoder. The embeddings of the parts, stacked, are those of the batch; where an encoder does not work
    /// sample by sample, the only part is the whole.
    fn parts(batch: &Self::Batch, at_most: usize) -> impl Iterator<Item = Self::Part>;

    /// What the encoder makes of a part: two tables of embeddings.
    fn embeddings(&self, part: &Self::Part) -> [Tensor<2>; 2];

    /// Number of anchors of a batch.
    fn num_anchors(batch: &Self::Batch) -> usize;

    /// The scores of some anchors of a batch, from the embeddings of all of it.
    fn compare(&self, batch: &Self::Batch, embeddings: [Tensor<2>; 2], anchors: Range<usize>) -> Scores;

    /// The true classes of the negatives of some anchors, if they are known: `[anchors.len(), num_negatives]`, true where a negative
    /// shares its anchor's class.
    fn same_class(_: &Self::Batch, _: Range<usize>, _: &Device) -> Option<Tensor<2, Bool>> {
        None
    }

    /// The embeddings of a batch, encoded in parts.
    fn encode(&self, batch: &Self::Batch, at_most: usize) -> [Tensor<2>; 2] {
        let (first, second) = Self::parts(batch, at_most)
            .map(|part| self.embeddings(&part))
            .map(|[first, second]| (first, second))
            .unzip();
        [first, second].map(stack)
    }

    /// The scores of a batch.
    fn scores(&self, batch: &Self::Batch) -> Scores {
        let embeddings = self.encode(batch, usize::MAX);
        self.compare(batch, embeddings, 0..Self::num_anchors(batch))
    }

    /// The tensors of a batch by name: what is kept of one whose loss is not a number.
    fn tensors(batch: &Self::Batch) -> NamedTensors;

    /// A term of the objective beside the loss, where there is one.
    fn penalty(&self, _: &Self::Batch) -> Option<Tensor<1>> {
        None
    }

    /// At which multiple of the objective its gradients are computed, where they would underflow.
    fn gradient_scale(&self) -> f64 {
        1.0
    }

    /// The gradients of an objective.
    fn gradients(&self, objective: Tensor<1>) -> GradientsParams {
        let scale = self.gradient_scale();
        if scale == 1.0 {
            return GradientsParams::from_grads(objective.backward(), self);
        }
        let scaled = GradientsParams::from_grads((objective * scale).backward(), self);
        optim::scaled(self, scaled, scale.recip())
    }
}

fn stack(mut parts: Vec<Tensor<2>>) -> Tensor<2> {
    match parts.len() {
        1 => parts.remove(0),
        _ => Tensor::cat(parts, 0),
    }
}

/// Some rows of a tensor; all of them cost nothing.
pub(super) fn rows_of<const D: usize>(tensor: Tensor<D>, rows: Range<usize>) -> Tensor<D> {
    if rows.len() == tensor.dims()[0] {
        tensor
    } else {
        tensor.slice_dim(0, rows)
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
    /// How many samples are encoded, and anchors compared, at a time; all at once where it is absent.
    pub gradient_cache: Option<usize>,
}

impl<B> Step<B> {
    /// A step, all at once, whose noise depends on the seed and the number of the step alone.
    pub fn new(batch: B, estimator: Arc<dyn Estimator>, num_anchors: usize, seed: Seed, step: u64, device: &Device) -> Self {
        let noise = estimator.noise_shape().map(|shape| {
            let gamma = Gamma::new(shape, 1.0).expect("the shapes of our estimators are positive");
            let mut rng = seed.named("noise").index(step).rng();
            let draws: Vec<f32> = (0..num_anchors).map(|_| gamma.sample(&mut rng) as f32).collect();
            Tensor::from_data(TensorData::new(draws, [num_anchors]), device)
        });
        Self {
            batch,
            estimator,
            noise,
            gradient_cache: None,
        }
    }

    /// The same step by [gradient caching](super::cached), where a number is given.
    pub fn with_gradient_cache(self, at_most: Option<usize>) -> Self {
        Self {
            gradient_cache: at_most,
            ..self
        }
    }

    /// The scores of the step under a model, and what is known beside them.
    pub fn scores<M: Contrastive<Batch = B>>(&self, model: &M) -> (Scores, SideInformation) {
        let scores = model.scores(&self.batch);
        let side = self.side_information::<M>(0..scores.num_anchors(), &scores.negatives.device());
        (scores, side)
    }

    /// The scores of some anchors, from the embeddings of the batch, and what is known beside them.
    pub fn compare<M: Contrastive<Batch = B>>(
        &self,
        model: &M,
        embeddings: [Tensor<2>; 2],
        anchors: Range<usize>,
    ) -> (Scores, SideInformation) {
        let scores = model.compare(&self.batch, embeddings, anchors.clone());
        let side = self.side_information::<M>(anchors, &scores.negatives.device());
        (scores, side)
    }

    /// What is known of some anchors beside their scores: the step's noise and the batch's truth.
    fn side_information<M: Contrastive<Batch = B>>(&self, anchors: Range<usize>, device: &Device) -> SideInformation {
        let mut side = SideInformation::none();
        side.noise = self.noise.clone().map(|noise| rows_of(noise, anchors.clone()));
        side.same_class = M::same_class(&self.batch, anchors, device);
        side
    }

    /// Forward and backward.
    pub fn train<M: Contrastive<Batch = B>>(&self, model: &M) -> TrainOutput<StepOutput> {
        if let Some(at_most) = self.gradient_cache {
            return self.train_in_parts(model, at_most);
        }
        let (scores, side) = self.scores(model);
        let num_anchors = scores.num_anchors();
        let losses = self.estimator.losses(scores, &side);
        let num_counted = losses.num_counted().map(Tensor::detach);
        let loss = losses.reduce(Reduction::Mean);
        let objective = match model.penalty(&self.batch) {
            Some(penalty) => loss.clone() + penalty,
            None => loss.clone(),
        };
        let output = StepOutput {
            loss: loss.detach(),
            num_anchors,
            num_counted,
        };
        TrainOutput {
            grads: model.gradients(objective),
            item: output,
        }
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
