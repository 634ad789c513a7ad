//! The trained module: an encoder of users and items, stepped by whatever estimator its batch brings.

use super::batch::{Batch, Negatives};
use crate::training::{
    evaluate::{Evaluated, EvaluationTask},
    figures::StepOutput,
    post_mortem::NamedTensors,
    step::{Contrastive, Step, rows_of},
};
use bcl_core::Scores;
use bcl_models::{Recommender, compare_sampled, compare_shared};
use burn::{
    module::Module,
    tensor::{Bool, Device, Tensor},
    train::{InferenceStep, TrainOutput, TrainStep},
};
use std::{iter, ops::Range};

/// An encoder with what training adds to it.
#[derive(Module, Debug)]
pub struct ContrastiveRecommender {
    /// The encoder.
    pub encoder: Recommender,
    /// Strength of the squared-norm penalty on the embeddings of a batch's users and positives.
    #[module(skip)]
    pub l2: f64,
}

impl Contrastive for ContrastiveRecommender {
    type Batch = Batch;

    /// The whole: most encoders of a graph make all embeddings at once.
    type Part = Batch;

    fn parts(batch: &Batch, _: usize) -> impl Iterator<Item = Batch> {
        iter::once(batch.clone())
    }

    /// Those of the batch's users, and of all items.
    fn embeddings(&self, batch: &Batch) -> [Tensor<2>; 2] {
        self.encoder.anchors_and_items(batch.users.clone())
    }

    fn num_anchors(batch: &Batch) -> usize {
        batch.users.dims()[0]
    }

    fn compare(&self, batch: &Batch, [users, items]: [Tensor<2>; 2], anchors: Range<usize>) -> Scores {
        let users = rows_of(users, anchors.clone());
        let batch = batch.of_anchors(anchors);
        let (mut positive_scores, mut negative_scores) = match batch.negatives {
            Negatives::PerAnchor(negatives) => compare_sampled(users, items, batch.positives, negatives),
            Negatives::Shared(negatives) => compare_shared(users, items, batch.positives, negatives),
        };
        // Scores that were shifted have no least value.
        let least_similarity = self.encoder.similarity().least().filter(|_| batch.log_q.is_none());
        if let Some(log_q) = batch.log_q {
            positive_scores = positive_scores - log_q.positives;
            negative_scores = negative_scores - log_q.negatives;
        }
        Scores {
            mask: batch.mask,
            least_similarity,
            ..Scores::new(positive_scores, negative_scores)
        }
    }

    fn same_class(batch: &Batch, anchors: Range<usize>, _: &Device) -> Option<Tensor<2, Bool>> {
        Some(batch.same_class.clone()?.slice_dim(0, anchors))
    }

    fn tensors(batch: &Batch) -> NamedTensors {
        let negatives = match &batch.negatives {
            Negatives::PerAnchor(items) => items.to_data(),
            Negatives::Shared(items) => items.to_data(),
        };
        NamedTensors::default()
            .with("users", batch.users.to_data())
            .with("positives", batch.positives.to_data())
            .with("negatives", negatives)
            .with_some("mask", batch.mask.as_ref().map(Tensor::to_data))
            .with_some("same_class", batch.same_class.as_ref().map(Tensor::to_data))
    }

    /// `l2 / 2` times the mean over the batch of the squared norms of the user's and the positive's table rows.
    fn penalty(&self, batch: &Batch) -> Option<Tensor<1>> {
        (self.l2 > 0.0).then(|| {
            let (users, items) = self.encoder.table_rows(batch.users.clone(), batch.positives.clone());
            let [batch_size, _] = users.dims();
            (users.square().sum() + items.square().sum()) * (0.5 * self.l2 / batch_size as f64)
        })
    }
}

impl TrainStep for ContrastiveRecommender {
    type Input = Step<Batch>;
    type Output = StepOutput;

    fn step(&self, step: Step<Batch>) -> TrainOutput<StepOutput> {
        step.train(self)
    }
}

impl InferenceStep for ContrastiveRecommender {
    type Input = EvaluationTask<Self>;
    type Output = Evaluated;

    fn step(&self, task: EvaluationTask<Self>) -> Evaluated {
        task.run(self)
    }
}
