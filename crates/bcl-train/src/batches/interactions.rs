//! Batches of interactions.

use bcl_core::Scores;
use burn::tensor::{Bool, Int, Tensor};
use std::{collections::BTreeSet, ops::Range};

/// Users with their positive items and negatives.
#[derive(Debug, Clone)]
pub struct InteractionBatch {
    /// Anchors, `[batch_size]`.
    pub users: Tensor<1, Int>,
    /// Their positives, `[batch_size]`.
    pub positives: Tensor<1, Int>,
    /// The negatives.
    pub negatives: Negatives,
    /// Which negatives count, `[batch_size, num_negatives]`; `None` if all do.
    pub mask: Option<Tensor<2, Bool>>,
    /// Which negatives are false (the user likes them); `None` if the data do not tell, as only planted data do.
    pub same_class: Option<Tensor<2, Bool>>,
    /// The log-Q correction, if requested.
    pub log_q: Option<LogQ>,
}

/// The log-Q correction: the log probability with which an item is drawn as a negative.
#[derive(Debug, Clone)]
pub struct LogQ {
    /// Of the positives, `[batch_size]`.
    pub positives: Tensor<1>,
    /// Of the negatives, `[batch_size, num_negatives]` or `[1, num_negatives]`.
    pub negatives: Tensor<2>,
}

impl LogQ {
    /// Corrects scores for an estimator that divides them by a temperature: `s / t` becomes `s / t - log q`.
    pub fn correct(self, mut scores: Scores, temperature: f64) -> Scores {
        scores.positives = scores.positives - self.positives.unsqueeze_dim(1) * temperature;
        scores.negatives = scores.negatives - self.negatives * temperature;
        // Corrected scores have no lower bound.
        scores.least_similarity = None;
        scores
    }
}

/// The negatives of a batch.
#[derive(Debug, Clone)]
pub enum Negatives {
    /// Different items for each anchor, `[batch_size, num_negatives]`.
    PerAnchor(Tensor<2, Int>),
    /// The same items for all anchors, `[num_negatives]`; the positives of the batch for `in_batch`.
    Shared(Tensor<1, Int>),
}

impl InteractionBatch {
    /// The items of the batch, positives and negatives, each once.
    ///
    /// # Shapes
    /// - output: `[num_items]`, ascending
    pub fn items(&self) -> Tensor<1, Int> {
        let negatives = match &self.negatives {
            Negatives::PerAnchor(items) => items.to_data(),
            Negatives::Shared(items) => items.to_data(),
        };
        let items: BTreeSet<i64> = self
            .positives
            .to_data()
            .iter::<i64>()
            .chain(negatives.iter::<i64>())
            .collect();
        let items: Vec<i64> = items.into_iter().collect();
        Tensor::from_data(&*items, &self.positives.device())
    }

    /// Restricts the batch to some of its anchors.
    ///
    /// # Panics
    /// Panics if the range exceeds the batch.
    pub fn of_anchors(&self, anchors: Range<usize>) -> Self {
        let [batch_size] = self.users.dims();
        if anchors == (0..batch_size) {
            return self.clone();
        }
        let of_mask = |mask: &Tensor<2, Bool>| mask.clone().slice_dim(0, anchors.clone());
        let of_items = |items: &Tensor<1, Int>| items.clone().slice_dim(0, anchors.clone());
        let shared = matches!(self.negatives, Negatives::Shared(_));
        Self {
            users: of_items(&self.users),
            positives: of_items(&self.positives),
            negatives: match &self.negatives {
                Negatives::PerAnchor(items) => Negatives::PerAnchor(items.clone().slice_dim(0, anchors.clone())),
                Negatives::Shared(items) => Negatives::Shared(items.clone()),
            },
            mask: self.mask.as_ref().map(of_mask),
            same_class: self.same_class.as_ref().map(of_mask),
            log_q: self.log_q.clone().map(|LogQ { positives, negatives }| LogQ {
                positives: positives.slice_dim(0, anchors.clone()),
                negatives: if shared {
                    negatives
                } else {
                    negatives.slice_dim(0, anchors.clone())
                },
            }),
        }
    }
}
