//! The training step of one of several processes. Each has a copy of the model and a part of every batch.
//!
//! A step is cut between embedding and objective, as in gradient caching:
//!
//! 1. Each process embeds its samples, and all gather the embeddings of the batch.
//! 2. Each process compares its anchors with all embeddings. Its loss is the sum over these anchors, divided by the number of all
//!    anchors of the batch.
//! 3. The gradients of all embeddings are summed over processes; each process gets the sums for its rows and runs the backward pass of its
//!    copy of the encoder.
//! 4. The gradients of the parameters are summed, so all processes take the same step. They are not averaged, because the loss is already a
//!    mean over all anchors.
//!
//! The usual mistake is to gather embeddings without a gradient, which trains on only a part of the gradient.
//!
//! A method that [embeds the whole batch](crate::Method::EMBEDS_WHOLE_BATCH) in each process needs no gathering. There, the gradients of
//! the tables are summed, and every process runs the same backward pass.

use super::{Step, TrainedStep, cached::embed_parts, gathered::Gathered, gradients, sums};
use crate::{Embeddings, Method};
use bcl_core::gradient_cache::{EmbeddingGradients, GradientShare, Table, surrogate};
use burn::{
    optim::GradientsParams,
    tensor::{Int, Tensor},
};

/// The embeddings that this process computed.
struct Encoded {
    /// With their graph, if the process has a single part, which is then encoded once.
    with_graph: Option<Embeddings>,
    /// Without a graph.
    detached: Embeddings,
}

/// The embeddings of the batch.
enum Batch {
    /// All processes computed all of them.
    Same(Embeddings),
    /// Each process computed the embeddings of its samples.
    Gathered(Gathered),
}

impl Batch {
    fn embeddings(&self) -> &Embeddings {
        match self {
            Self::Same(embeddings) => embeddings,
            Self::Gathered(gathered) => &gathered.embeddings,
        }
    }
}

impl<B> Step<B> {
    /// The embeddings of the whole batch, at most `at_most` samples at a time. All processes have to call it.
    pub fn embeddings<M: Method<Batch = B>>(&self, method: &M, at_most: usize) -> Embeddings {
        let own = method.embed_batch(&self.batch, at_most);
        if self.processes.size() == 1 || M::EMBEDS_WHOLE_BATCH {
            return own;
        }
        Gathered::of(&*self.processes, &own.detached()).embeddings
    }

    /// Runs the forward and the backward pass of one of several processes. All of them get the same loss and the same gradients of the parameters.
    pub(super) fn train_on_processes<M>(&self, method: &M) -> TrainedStep
    where
        M: Method<Batch = B>,
    {
        let at_most = self.gradient_cache.unwrap_or(usize::MAX);
        let encoded = self.encoded(method, at_most);
        let batch = if M::EMBEDS_WHOLE_BATCH {
            Batch::Same(encoded.detached)
        } else {
            Batch::Gathered(Gathered::of(&*self.processes, &encoded.detached))
        };
        let EmbeddingGradients {
            loss,
            gradients: of_embeddings,
            num_counted,
            ..
        } = self.own_gradients(method, &batch, at_most);
        let grads = match encoded.with_graph {
            Some(embeddings) => {
                let objective = surrogate(embeddings.tables().map(Table::into_rows), of_embeddings);
                let objective = match self.penalty(method) {
                    Some(penalty) => objective + penalty,
                    None => objective,
                };
                gradients(method, objective)
            }
            None => self.parameter_gradients(method, &of_embeddings, at_most),
        };
        TrainedStep {
            gradients: self.summed(method, grads),
            loss,
            num_anchors: method.num_anchors(&self.batch),
            num_counted,
            embeddings: batch.embeddings().clone(),
        }
    }

    fn encoded<M: Method<Batch = B>>(&self, method: &M, at_most: usize) -> Encoded {
        let mut parts = M::parts(&self.batch, at_most);
        match (parts.next(), parts.next()) {
            (Some(whole), None) => {
                let embeddings = method.embed(&whole);
                Encoded {
                    detached: embeddings.detached(),
                    with_graph: Some(embeddings),
                }
            }
            first => Encoded {
                detached: embed_parts(method, first, parts).detached(),
                with_graph: None,
            },
        }
    }

    /// The loss of the batch and its gradients with respect to the embeddings that this process computed.
    fn own_gradients<M: Method<Batch = B>>(&self, method: &M, batch: &Batch, at_most: usize) -> EmbeddingGradients {
        let processes = &*self.processes;
        let (embeddings, num_anchors) = (batch.embeddings(), method.num_anchors(&self.batch));
        let losses = |rows: &[Tensor<2>], anchors| self.losses(method, &embeddings.with_rows(rows), anchors);
        if num_anchors == 1 {
            // The objective is a statistic of the batch. Each process computes all of it, so nothing is summed.
            let mut whole = EmbeddingGradients::compute(embeddings.tables(), 1, at_most, losses);
            if let Batch::Gathered(gathered) = batch {
                whole.gradients = gathered.own_rows(whole.gradients);
            }
            return whole;
        }
        let own = GradientShare::compute(
            embeddings.tables(),
            num_anchors,
            processes.share(num_anchors),
            at_most,
            losses,
        );
        let (loss, num_left_out) = self.summed_over_anchors(&own);
        let sum = GradientShare {
            gradients: match batch {
                Batch::Same(embeddings) => sums::of_tables(processes, own.gradients, self.rows_in_use(method, embeddings)),
                Batch::Gathered(gathered) => gathered.own_sums(processes, own.gradients),
            },
            loss,
            num_left_out,
            num_anchors,
        };
        sum.whole()
    }

    /// The loss of all anchors, and how many of them have none; `None` if no process masks any.
    fn summed_over_anchors(&self, own: &GradientShare) -> (Tensor<1>, Option<Tensor<1>>) {
        let number = |tensor: &Tensor<1>| tensor.clone().into_scalar::<f64>();
        let left_out = own.num_left_out.as_ref();
        let mut sums = [
            number(&own.loss),
            left_out.map_or(0.0, number),
            f64::from(u8::from(left_out.is_some())),
        ];
        self.processes.all_reduce(&mut sums);
        let [loss, num_left_out, num_processes_with_masks] = sums;
        let tensor = |number: f64| sums::tensor(vec![number], [1], &own.loss);
        (tensor(loss), (num_processes_with_masks > 0.0).then(|| tensor(num_left_out)))
    }

    fn rows_in_use<M: Method<Batch = B>>(&self, method: &M, embeddings: &Embeddings) -> Vec<Option<Tensor<1, Int>>> {
        let names = embeddings.names();
        names.map(|name| method.rows_in_use(&self.batch, name)).collect()
    }

    /// Sums the gradients of the parameters over processes, unless all processes have computed the whole gradient.
    fn summed<M: Method<Batch = B>>(&self, method: &M, gradients: GradientsParams) -> GradientsParams {
        if M::EMBEDS_WHOLE_BATCH {
            return gradients;
        }
        sums::of_parameters(&*self.processes, method, gradients)
    }
}
