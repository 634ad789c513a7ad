//! SwAV: predicts the cluster assignment of one view from another.

use super::{
    Counter, Embeddings, ImageMethod, ImageMethodConfig, ImagePart, KeyQueue, MethodSettings, MethodSizes, MethodStart, Needs,
    Objective, Precision, StoredKeys, image::projections_of_views, rows_of,
};
use crate::batches::ImageBatch;
use bcl_core::{
    Losses, ParameterError,
    joint_embedding::{SwavLoss, SwavLossConfig},
    parameter::count_in,
};
use bcl_models::vision::{ImageEncoder, Prototypes, PrototypesConfig};
use burn::{module::Module, optim::GradientsParams, tensor::Tensor};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Parameters of [`Swav`], as in recipes. The defaults are lightly's for CIFAR-10.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SwavConfig {
    /// Number of prototypes.
    pub prototypes: usize,
    /// Temperature of the predicted assignment.
    pub temperature: f64,
    /// Regularisation ε of the assignment: the smaller, the closer to one prototype per view.
    pub epsilon: f64,
    /// Number of Sinkhorn iterations.
    pub iterations: usize,
    /// Number of earlier projections per view that are assigned together with the batch; 0 for none.
    pub queue: usize,
    /// Number of epochs before the queue is used.
    pub queue_from: usize,
    /// Number of steps in which the prototypes do not change.
    pub frozen_steps: usize,
}

impl Default for SwavConfig {
    fn default() -> Self {
        let loss = SwavLossConfig::default();
        Self {
            prototypes: 512,
            temperature: loss.temperature,
            epsilon: loss.epsilon,
            iterations: loss.iterations,
            queue: 0,
            queue_from: 15,
            frozen_steps: 0,
        }
    }
}

impl SwavConfig {
    const MOST_PROTOTYPES: usize = 1 << 18;
    /// Largest number of steps and epochs, and of stored projections.
    const MOST: usize = 1 << 24;

    fn loss(&self) -> SwavLossConfig {
        SwavLossConfig::new()
            .with_temperature(self.temperature)
            .with_epsilon(self.epsilon)
            .with_iterations(self.iterations)
    }
}

impl MethodSettings for SwavConfig {
    fn check(&self) -> Result<(), ParameterError> {
        count_in("prototypes", self.prototypes, 2, Self::MOST_PROTOTYPES)?;
        count_in("queue", self.queue, 0, Self::MOST)?;
        count_in("queue_from", self.queue_from, 0, Self::MOST)?;
        count_in("frozen_steps", self.frozen_steps, 0, Self::MOST)?;
        self.loss().check()
    }

    fn memory(&self, sizes: &MethodSizes) -> u64 {
        (self.prototypes + 2 * self.queue) as u64 * sizes.dim
    }

    fn needs(&self) -> Needs {
        Needs {
            local_views: true,
            ..Needs::default()
        }
    }
}

impl ImageMethodConfig for SwavConfig {
    type Method = Swav;

    fn init(&self, start: MethodStart) -> Swav {
        let prototypes = PrototypesConfig {
            count: self.prototypes,
            dim: start.dim,
        };
        let queue = || KeyQueue::new(self.queue, start.dim, &start.device);
        Swav {
            prototypes: prototypes.init(start.seed.named("prototypes").0, &start.device).normalised(),
            queues: (0..2).filter(|_| self.queue > 0).map(|_| queue()).collect(),
            steps: Counter::new(&start.device),
            steps_per_epoch: start.steps_per_epoch,
            config: self.clone(),
            precision: start.precision,
            encoder: start.encoder,
        }
    }
}

/// Each global view is assigned to prototypes, equally often to each over the batch, and the other views predict its assignment:
///
/// ```text
/// loss = mean over global views i and other views v of -Σ_k codes_i[k] log_softmax(scores_v / t)[k],    scores = z · prototypesᵀ
/// ```
///
/// The assignments (codes) have no gradient; encoder and prototypes learn from the scores. The rows of the prototypes have unit length in
/// every forward pass: they are normalised after each step.
///
/// Source: Caron et al., [Unsupervised Learning of Visual Features by Contrasting Cluster Assignments](https://arxiv.org/abs/2006.09882).
#[derive(Module, Debug)]
pub struct Swav {
    /// The encoder.
    pub encoder: ImageEncoder,
    /// The prototypes.
    pub prototypes: Prototypes,
    /// Earlier projections of the two global views, if there is a queue.
    pub queues: Vec<KeyQueue>,
    /// Number of optimizer steps so far.
    steps: Counter,
    #[module(skip)]
    steps_per_epoch: usize,
    #[module(skip)]
    config: SwavConfig,
    #[module(skip)]
    precision: Precision,
}

impl Swav {
    /// Whether the queues take part in the assignment: once they are full.
    fn uses_queues(&self) -> bool {
        self.steps.value() >= self.config.queue_from * self.steps_per_epoch
            && self.queues.iter().all(|queue| queue.len() == queue.size())
    }

    /// The codes of a global view, `[batch_size, num_prototypes]`.
    fn codes(&self, loss: &SwavLoss, view: usize, embeddings: &Embeddings) -> Tensor<2> {
        let scores = embeddings.rows(&scores_of(view));
        match self.queues.get(view).filter(|_| self.uses_queues()) {
            Some(queue) => loss.codes_with_queue(scores, self.prototypes.scores(queue.stored())),
            None => loss.codes(scores),
        }
    }
}

/// Name of the table with the unit rows of a global view.
fn projections_of(view: usize) -> String {
    format!("projections_{view}")
}

/// Name of the table with the scores of a view.
fn scores_of(view: usize) -> String {
    format!("scores_{view}")
}

impl ImageMethod for Swav {
    fn encoder(&self) -> &ImageEncoder {
        &self.encoder
    }

    fn precision(&self) -> Precision {
        self.precision
    }

    fn num_anchors(&self, batch_size: usize) -> usize {
        batch_size
    }

    fn embed(&self, part: &ImagePart) -> Embeddings {
        let of_views = projections_of_views(&self.encoder, part, 0..part.views.len(), self.precision);
        (0..)
            .zip(of_views)
            .fold(Embeddings::new(), |embeddings, (view, projections)| {
                let embeddings = embeddings.with(scores_of(view), self.prototypes.scores(projections.clone()));
                match self.queues.get(view) {
                    Some(_) => embeddings.with_constant(projections_of(view), projections),
                    None => embeddings,
                }
            })
    }

    fn objective(&self, batch: &ImageBatch, embeddings: &Embeddings, anchors: Range<usize>) -> Objective {
        let loss = self.config.loss().init();
        let of_anchors = |rows| rows_of(rows, anchors.clone());
        let codes = [0, 1].map(|view| of_anchors(self.codes(&loss, view, embeddings)));
        let scores: Vec<_> = (0..batch.views.num_views())
            .map(|view| of_anchors(embeddings.rows(&scores_of(view))))
            .collect();
        Objective::Losses(Losses::new(loss.forward_no_reduction(&codes, &scores), None))
    }

    fn before_update(&self, mut gradients: GradientsParams) -> GradientsParams {
        if self.steps.value() < self.config.frozen_steps {
            gradients.remove::<2>(self.prototypes.weight.id);
        }
        gradients
    }

    fn remember(self, batch: &ImageBatch, embeddings: &Embeddings) -> Self {
        let stored = StoredKeys::of_batch(batch, 1);
        let queues = self.queues.into_iter().enumerate();
        Self {
            queues: queues
                .map(|(view, queue)| queue.with_keys(embeddings.rows(&projections_of(view)), &stored))
                .collect(),
            ..self
        }
    }

    fn after_update(self) -> Self {
        Self {
            prototypes: self.prototypes.normalised(),
            steps: self.steps.plus(1),
            ..self
        }
    }
}
