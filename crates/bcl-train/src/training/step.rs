//! One training step: a method compares a batch, and an estimator weighs what it compares.

use super::figures::StepOutput;
use crate::{
    methods::{Embeddings, Method, Objective, rows_of},
    optim,
};
use bcl_core::{Estimator, Losses, Reduction, SideInformation};
use bcl_data::Seed;
use burn::{
    data::dataloader::DataLoader,
    optim::GradientsParams,
    tensor::{Device, Tensor, TensorData},
    train::TrainOutput,
};
use rand_distr::{Distribution, Gamma};
use std::{ops::Range, sync::Arc};

/// The work of one training step.
#[derive(Debug, Clone)]
pub struct Step<B> {
    /// What is compared.
    pub batch: B,
    /// How the negatives are weighed; `None` for methods that have none.
    pub estimator: Option<Arc<dyn Estimator>>,
    /// Standard Gamma draws, `[num_anchors]`, if the estimator needs them.
    pub noise: Option<Tensor<1>>,
    /// Maximum number of samples that are encoded, and of anchors that are compared, at a time; all at once if absent.
    pub gradient_cache: Option<usize>,
}

impl<B> Step<B> {
    /// A step, all at once, whose noise depends on the seed and the number of the step alone.
    pub fn new(
        batch: B,
        estimator: Option<Arc<dyn Estimator>>,
        num_anchors: usize,
        seed: Seed,
        step: u64,
        device: &Device,
    ) -> Self {
        let shape = estimator.as_ref().and_then(|estimator| estimator.noise_shape());
        let noise = shape.map(|shape| {
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

    /// The same step by [gradient caching](super::cached), if a number is given.
    pub fn with_gradient_cache(self, at_most: Option<usize>) -> Self {
        Self {
            gradient_cache: at_most,
            ..self
        }
    }

    /// Compares all anchors.
    pub fn objective<M: Method<Batch = B>>(&self, method: &M) -> Objective {
        let embeddings = method.embed_batch(&self.batch, usize::MAX);
        method.objective(&self.batch, &embeddings, 0..method.num_anchors(&self.batch))
    }

    /// What is known of some anchors beside their objective: the noise of the step and, if the batch has classes, the truth.
    pub fn side_information<M: Method<Batch = B>>(&self, method: &M, anchors: Range<usize>, device: &Device) -> SideInformation {
        let mut side = self.noise_of(anchors.clone());
        side.same_class = method.same_class(&self.batch, anchors, device);
        side
    }

    /// The noise of some anchors alone. Truth costs as much as a comparison of all classes, so only those who read it ask for it.
    fn noise_of(&self, anchors: Range<usize>) -> SideInformation {
        let mut side = SideInformation::none();
        side.noise = self.noise.clone().map(|noise| rows_of(noise, anchors));
        side
    }

    /// The losses of some anchors, from the embeddings of the batch.
    pub fn losses<M: Method<Batch = B>>(&self, method: &M, embeddings: &Embeddings, anchors: Range<usize>) -> Losses {
        match method.objective(&self.batch, embeddings, anchors.clone()) {
            Objective::Scores(scores) => {
                let estimator = self.estimator();
                let side = if estimator.needs_truth() {
                    self.side_information(method, anchors, &scores.negatives.device())
                } else {
                    self.noise_of(anchors)
                };
                estimator.losses(scores, &side)
            }
            Objective::Losses(losses) => losses,
        }
    }

    /// The estimator.
    ///
    /// # Panics
    /// Panics if there is none. Methods that compare scores have one: recipes are checked for it.
    pub fn estimator(&self) -> &dyn Estimator {
        &**self.estimator.as_ref().expect("scores are weighed by an estimator")
    }

    /// Forward and backward. Returns the embeddings, too, outside of the graph.
    ///
    /// # Panics
    /// Panics if the method compares scores and there is no estimator.
    pub fn train<M: Method<Batch = B>>(&self, method: &M) -> (TrainOutput<StepOutput>, Embeddings) {
        if let Some(at_most) = self.gradient_cache.filter(|_| M::SEPARABLE) {
            return self.train_in_parts(method, at_most);
        }
        let embeddings = method.embed_batch(&self.batch, usize::MAX);
        let num_anchors = method.num_anchors(&self.batch);
        let losses = self.losses(method, &embeddings, 0..num_anchors);
        let num_counted = losses.num_counted().map(Tensor::detach);
        let loss = losses.reduce(Reduction::Mean);
        let objective = match method.penalty(&self.batch) {
            Some(penalty) => loss.clone() + penalty,
            None => loss.clone(),
        };
        let item = StepOutput {
            loss: loss.detach(),
            num_anchors,
            num_counted,
        };
        let grads = gradients(method, objective);
        (TrainOutput { grads, item }, embeddings.detached())
    }
}

/// The gradients of an objective with respect to the parameters of a method, computed at the method's scale.
pub fn gradients<M: Method>(method: &M, objective: Tensor<1>) -> GradientsParams {
    let scale = method.gradient_scale();
    if scale == 1.0 {
        return GradientsParams::from_grads(objective.backward(), method);
    }
    let scaled = GradientsParams::from_grads((objective * scale).backward(), method);
    optim::scaled(method, scaled, scale.recip())
}

/// What an epoch is to do; the loop sets it before it asks the loader for steps.
#[derive(Debug, Clone)]
pub struct EpochPlan {
    /// Epoch, from 0: it determines the order.
    pub epoch: usize,
    /// Step of the epoch to begin with: above 0 where an interrupted epoch goes on.
    pub first_step: usize,
    /// How negatives are weighed in this epoch; `None` for methods that have none.
    pub estimator: Option<Arc<dyn Estimator>>,
}

/// A loader whose epochs can be taken up at any step.
///
/// Step s of epoch e must be the same whether the run was interrupted before it or not.
pub trait PlannedLoader<B>: DataLoader<Step<B>> {
    /// Sets what the next [`iter`](DataLoader::iter) does.
    fn set_plan(&self, plan: EpochPlan);

    /// Number of steps of an epoch.
    fn steps_per_epoch(&self) -> usize;
}
