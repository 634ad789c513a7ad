//! Batches of interactions with their negatives.

use burn::tensor::{Bool, Int, Tensor};
use std::ops::Range;

/// Users, what they chose, and what they are to be told from.
#[derive(Debug, Clone)]
pub struct InteractionBatch {
    /// Anchors, `[batch_size]`.
    pub users: Tensor<1, Int>,
    /// Their positives, `[batch_size]`.
    pub positives: Tensor<1, Int>,
    /// Where the negatives come from.
    pub negatives: Negatives,
    /// The negatives that count, `[batch_size, num_negatives]`, where some do not.
    pub mask: Option<Tensor<2, Bool>>,
    /// The negatives their user likes in truth, where that is known.
    pub same_class: Option<Tensor<2, Bool>>,
    /// What the log-Q correction takes off the scores, where it is asked for.
    pub log_q: Option<LogQ>,
}

/// Temperature times the log probability with which items are drawn as negatives.
///
/// Estimators divide scores by the temperature, so taking this off a score is the correction `s / t - log q`.
#[derive(Debug, Clone)]
pub struct LogQ {
    /// Of the positives, `[batch_size]`.
    pub positives: Tensor<1>,
    /// Of the negatives, `[batch_size, num_negatives]` or `[1, num_negatives]`.
    pub negatives: Tensor<2>,
}

/// The negatives of a batch.
#[derive(Debug, Clone)]
pub enum Negatives {
    /// Items of their own for every anchor, `[batch_size, num_negatives]`.
    PerAnchor(Tensor<2, Int>),
    /// The same items for all anchors, `[num_negatives]`; the positives of the batch for `in_batch`.
    Shared(Tensor<1, Int>),
}

impl InteractionBatch {
    /// The same batch with some of its anchors only.
    ///
    /// # Panics
    /// When the range leaves the batch.
    pub fn of_anchors(&self, anchors: Range<usize>) -> Self {
        let [batch_size] = self.users.dims();
        if anchors == (0..batch_size) {
            return self.clone();
        }
        let of_marks = |marks: &Tensor<2, Bool>| marks.clone().slice_dim(0, anchors.clone());
        let of_items = |items: &Tensor<1, Int>| items.clone().slice_dim(0, anchors.clone());
        let shared = matches!(self.negatives, Negatives::Shared(_));
        Self {
            users: of_items(&self.users),
            positives: of_items(&self.positives),
            negatives: match &self.negatives {
                Negatives::PerAnchor(items) => Negatives::PerAnchor(items.clone().slice_dim(0, anchors.clone())),
                Negatives::Shared(items) => Negatives::Shared(items.clone()),
            },
            mask: self.mask.as_ref().map(of_marks),
            same_class: self.same_class.as_ref().map(of_marks),
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
