//! Recommendation: items of a user as positives, sampled items as negatives.

use super::{Embeddings, Method, Objective, rows_of};
use crate::batches::{InteractionBatch, LogQ, NamedTensors, Negatives};
use bcl_core::{Pairs, Similarity};
use bcl_kernels::gather_rows;
use bcl_models::Recommender;
use burn::{
    module::Module,
    tensor::{Bool, Device, Int, Tensor},
};
use std::{iter, ops::Range};

/// The positive of a user is an item with which they interacted; a [sampler](bcl_data::negatives) draws the negatives.
#[derive(Module, Debug)]
pub struct Recommendation {
    /// The encoder.
    pub encoder: Recommender,
    /// Weight of the squared norms of a batch's user and positive embeddings in the objective.
    #[module(skip)]
    pub l2: f64,
}

impl Recommendation {
    /// Names of the tables: embeddings of the batch's users, `[batch_size, dim]`, and of all items, `[num_items, dim]`.
    pub const TABLES: [&'static str; 2] = ["users", "items"];
}

impl Method for Recommendation {
    type Encoder = Recommender;
    type Batch = InteractionBatch;
    type Part = InteractionBatch;

    const EMBEDS_WHOLE_BATCH: bool = true;

    fn encoder(&self) -> &Recommender {
        &self.encoder
    }

    /// Returns the whole batch as the only part, because graph encoders compute all embeddings at once.
    fn parts(batch: &InteractionBatch, _: usize) -> impl Iterator<Item = InteractionBatch> {
        iter::once(batch.clone())
    }

    fn rows_in_use(&self, batch: &InteractionBatch, table: &str) -> Option<Tensor<1, Int>> {
        (table == Self::TABLES[1]).then(|| batch.items())
    }

    fn embed(&self, batch: &InteractionBatch) -> Embeddings {
        let [users, items] = self.encoder.anchors_and_items(batch.users.clone());
        Embeddings::new().with(Self::TABLES[0], users).with(Self::TABLES[1], items)
    }

    fn num_anchors(&self, batch: &InteractionBatch) -> usize {
        batch.users.dims()[0]
    }

    fn objective(&self, batch: &InteractionBatch, embeddings: &Embeddings, anchors: Range<usize>) -> Objective {
        let [users, items] = Self::TABLES.map(|name| embeddings.rows(name));
        let users = rows_of(users, anchors.clone());
        let batch = batch.of_anchors(anchors);
        let least = self.encoder.similarity().least();
        // The encoder has normalised the embeddings, if it compares by cosine.
        match batch.negatives {
            Negatives::PerAnchor { items: negatives, mask } => {
                let pairs = Pairs::sampled(users, items, batch.positives, negatives).with_least_similarity(least);
                Objective::Pairs(match mask {
                    Some(mask) => pairs.into_scores().with_mask(mask).into(),
                    None => pairs,
                })
            }
            Negatives::Shared {
                items: negatives,
                excluded,
            } => {
                let [positives, negatives] = [batch.positives, negatives].map(|rows| gather_rows(items.clone(), rows));
                let pairs = Pairs::with_negatives(users, positives, negatives, Similarity::Dot, excluded);
                Objective::Pairs(pairs.with_least_similarity(least))
            }
        }
    }

    fn log_q(&self, batch: &InteractionBatch, anchors: Range<usize>) -> Option<LogQ> {
        batch.log_q.as_ref()?;
        batch.of_anchors(anchors).log_q
    }

    fn same_class(&self, batch: &InteractionBatch, anchors: Range<usize>, _: &Device) -> Option<Tensor<2, Bool>> {
        Some(batch.same_class.clone()?.slice_dim(0, anchors))
    }

    fn tensors(batch: &InteractionBatch) -> NamedTensors {
        let mask = match &batch.negatives {
            Negatives::PerAnchor { mask, .. } => mask.as_ref(),
            Negatives::Shared { .. } => None,
        };
        NamedTensors::default()
            .with("users", batch.users.to_data())
            .with("positives", batch.positives.to_data())
            .with("negatives", batch.negatives.items())
            .with_some("mask", mask.map(Tensor::to_data))
            .with_some("same_class", batch.same_class.as_ref().map(Tensor::to_data))
    }

    /// `l2 / 2` times the mean over the batch of the squared norms of the user's and the positive's table rows.
    fn penalty(&self, batch: &InteractionBatch) -> Option<Tensor<1>> {
        (self.l2 > 0.0).then(|| {
            let (users, items) = self.encoder.table_rows(batch.users.clone(), batch.positives.clone());
            let [batch_size, _] = users.dims();
            (users.square().sum() + items.square().sum()) * (0.5 * self.l2 / batch_size as f64)
        })
    }
}
