//! Batches of interactions.

use bcl_core::Excluded;
use burn::tensor::{Bool, Int, Tensor, TensorData};
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

/// The negatives of a batch.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "there is one per step")]
pub enum Negatives {
    /// Different items for each anchor.
    PerAnchor {
        /// `[batch_size, num_negatives]`
        items: Tensor<2, Int>,
        /// Which of them count, `[batch_size, num_negatives]`; `None` if all do.
        mask: Option<Tensor<2, Bool>>,
    },
    /// The same items for all anchors.
    Shared {
        /// `[num_negatives]`; the positives of the batch for `in_batch`.
        items: Tensor<1, Int>,
        /// Which of them are no negatives of an anchor.
        excluded: Excluded,
    },
}

impl Negatives {
    /// The items, on the host.
    pub fn items(&self) -> TensorData {
        match self {
            Self::PerAnchor { items, .. } => items.to_data(),
            Self::Shared { items, .. } => items.to_data(),
        }
    }

    /// Restricts the negatives to some anchors.
    fn of_anchors(&self, anchors: Range<usize>) -> Self {
        match self {
            Self::PerAnchor { items, mask } => Self::PerAnchor {
                items: items.clone().slice_dim(0, anchors.clone()),
                mask: mask.clone().map(|mask| mask.slice_dim(0, anchors)),
            },
            Self::Shared { items, excluded } => Self::Shared {
                items: items.clone(),
                excluded: excluded.starting_at(anchors.start),
            },
        }
    }
}

impl InteractionBatch {
    /// The items of the batch, positives and negatives, each once.
    ///
    /// # Shapes
    /// - output: `[num_items]`, ascending
    pub fn items(&self) -> Tensor<1, Int> {
        let items: BTreeSet<i64> = self
            .positives
            .to_data()
            .iter::<i64>()
            .chain(self.negatives.items().iter::<i64>())
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
        let shared = matches!(self.negatives, Negatives::Shared { .. });
        Self {
            users: of_items(&self.users),
            positives: of_items(&self.positives),
            negatives: self.negatives.of_anchors(anchors.clone()),
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
