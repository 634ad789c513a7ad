//! A training step by gradient caching: encoded in parts, compared in blocks of anchors, with the gradients of the whole batch.
//!
//! See [`bcl_core::gradient_cache`] for why the gradients are the same.

use super::{
    figures::StepOutput,
    step::{Contrastive, Step, rows_of},
};
use bcl_core::gradient_cache::{EmbeddingGradients, Table, surrogate};
use burn::{
    optim::{GradientsAccumulator, GradientsParams},
    tensor::Tensor,
    train::TrainOutput,
};

impl<B> Step<B> {
    /// Forward and backward, with at most so many samples encoded and anchors compared at a time.
    ///
    /// A copy of the model makes the pass without a graph. What an encoder remembers of a pass, such as batch normalisation's running
    /// statistics, the copy remembers for itself and takes with it, so that two passes leave the traces of one.
    pub(super) fn train_in_parts<M: Contrastive<Batch = B>>(&self, model: &M, at_most: usize) -> TrainOutput<StepOutput> {
        let embeddings = model.clone().no_grad().encode(&self.batch, at_most);
        let EmbeddingGradients {
            loss,
            gradients,
            num_counted,
        } = self.embedding_gradients(model, embeddings, at_most);
        TrainOutput {
            grads: self.parameter_gradients(model, &gradients, at_most),
            item: StepOutput {
                loss,
                num_anchors: M::num_anchors(&self.batch),
                num_counted,
            },
        }
    }

    /// From embeddings to the loss and their gradients, in blocks of at most so many anchors.
    pub fn embedding_gradients<M>(&self, model: &M, embeddings: [Tensor<2>; 2], at_most: usize) -> EmbeddingGradients
    where
        M: Contrastive<Batch = B>,
    {
        let num_anchors = M::num_anchors(&self.batch);
        let tables = embeddings.map(Table::Trained);
        EmbeddingGradients::compute(tables, num_anchors, at_most, |embeddings, anchors| {
            let (scores, side) = self.compare(model, [embeddings[0].clone(), embeddings[1].clone()], anchors);
            self.estimator.losses(scores, &side)
        })
    }

    /// From the gradients of the embeddings to those of the parameters, part by part of at most so many samples; a penalty's are added.
    pub fn parameter_gradients<M>(&self, model: &M, gradients: &[Option<Tensor<2>>], at_most: usize) -> GradientsParams
    where
        M: Contrastive<Batch = B>,
    {
        let mut sum = GradientsAccumulator::new();
        let mut add = |objective: Tensor<1>| sum.accumulate(model, model.gradients(objective));
        let mut done = [0, 0];
        for part in M::parts(&self.batch, at_most) {
            let embeddings = model.embeddings(&part);
            let of_part = gradients
                .iter()
                .zip(&embeddings)
                .zip(&mut done)
                .map(|((gradient, embeddings), done)| {
                    let rows = *done..*done + embeddings.dims()[0];
                    *done = rows.end;
                    gradient.clone().map(|gradient| rows_of(gradient, rows))
                });
            let of_part = of_part.collect();
            add(surrogate(embeddings, of_part));
        }
        model.penalty(&self.batch).into_iter().for_each(&mut add);
        sum.grads()
    }
}
