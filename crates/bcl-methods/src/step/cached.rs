//! A training step with gradient caching: samples are encoded in parts and anchors compared in blocks, with the gradients of the whole
//! batch.
//!
//! See [`bcl_core::gradient_cache`] for why the gradients are the same.

use super::{Step, TrainedStep, gradients};
use crate::{Embeddings, Method, rows_of};
use bcl_core::gradient_cache::{EmbeddingGradients, Table, surrogate};
use burn::{
    optim::{GradientsAccumulator, GradientsParams},
    tensor::Tensor,
};

impl<B> Step<B> {
    /// Runs the forward and the backward pass, with at most `at_most` samples encoded and anchors compared at a time.
    ///
    /// The pass without a graph uses a copy of the method. State that a forward pass updates, such as the running statistics of batch
    /// normalisation, is discarded with the copy, so two passes update it once.
    pub(super) fn train_in_parts<M>(&self, method: &M, at_most: usize) -> TrainedStep
    where
        M: Method<Batch = B>,
    {
        let mut parts = M::parts(&self.batch, at_most);
        let embeddings = match (parts.next(), parts.next()) {
            (Some(whole), None) => return self.train_whole_in_blocks(method, &whole, at_most),
            first => embed_parts(method, first, parts),
        };
        let EmbeddingGradients {
            loss,
            gradients,
            num_counted,
            ..
        } = self.embedding_gradients(method, &embeddings, at_most);
        TrainedStep {
            gradients: self.parameter_gradients(method, &gradients, at_most),
            loss,
            num_anchors: method.num_anchors(&self.batch),
            num_counted,
            embeddings: embeddings.detached(),
        }
    }

    /// Runs both passes for a batch that is a single part: its graph is kept, so it is encoded once.
    fn train_whole_in_blocks<M>(&self, method: &M, whole: &M::Part, at_most: usize) -> TrainedStep
    where
        M: Method<Batch = B>,
    {
        let embeddings = method.embed(whole);
        let detached = embeddings.detached();
        let EmbeddingGradients {
            loss,
            gradients: of_embeddings,
            num_counted,
            ..
        } = self.embedding_gradients(method, &detached, at_most);
        let objective = surrogate(embeddings.tables().map(Table::into_rows), of_embeddings);
        let objective = match method.penalty(&self.batch) {
            Some(penalty) => objective + penalty,
            None => objective,
        };
        TrainedStep {
            gradients: gradients(method, objective),
            loss,
            num_anchors: method.num_anchors(&self.batch),
            num_counted,
            embeddings: detached,
        }
    }

    /// Computes the loss and its gradients with respect to the embeddings, in blocks of at most `at_most` anchors.
    pub fn embedding_gradients<M>(&self, method: &M, embeddings: &Embeddings, at_most: usize) -> EmbeddingGradients
    where
        M: Method<Batch = B>,
    {
        let num_anchors = method.num_anchors(&self.batch);
        EmbeddingGradients::compute(embeddings.tables(), num_anchors, at_most, |rows, anchors| {
            self.losses(method, &embeddings.with_rows(rows), anchors)
        })
    }

    /// Computes the gradients of the parameters from the gradients of the embeddings, in parts of at most `at_most` samples, and adds the
    /// penalty's gradients.
    pub fn parameter_gradients<M>(&self, method: &M, gradients_of: &[Option<Tensor<2>>], at_most: usize) -> GradientsParams
    where
        M: Method<Batch = B>,
    {
        let mut sum = GradientsAccumulator::new();
        let mut add = |objective: Tensor<1>| sum.accumulate(method, gradients(method, objective));
        let mut done = vec![0; gradients_of.len()];
        for part in M::parts(&self.batch, at_most) {
            let rows: Vec<Tensor<2>> = method.embed(&part).tables().map(Table::into_rows).collect();
            let of_part = gradients_of.iter().zip(&rows).zip(&mut done).map(|((gradient, rows), done)| {
                let part = *done..*done + rows.dims()[0];
                *done = part.end;
                gradient.clone().map(|gradient| rows_of(gradient, part))
            });
            let of_part = of_part.collect();
            add(surrogate(rows, of_part));
        }
        self.penalty(method).into_iter().for_each(&mut add);
        sum.grads()
    }
}

/// Embeds all parts of a batch without a graph. The first two are at hand, because views are costly and have been made once.
pub(super) fn embed_parts<M: Method>(
    method: &M,
    first: (Option<M::Part>, Option<M::Part>),
    others: impl Iterator<Item = M::Part>,
) -> Embeddings {
    let method = method.clone().no_grad();
    let parts = first.0.into_iter().chain(first.1).chain(others);
    Embeddings::stack(parts.map(|part| method.embed(&part)))
}
