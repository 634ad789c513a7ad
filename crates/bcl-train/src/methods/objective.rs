//! The objective of a training step.

use bcl_core::{Losses, Scores};
use burn::tensor::Tensor;

/// The objective of some anchors: scores, which an estimator turns into losses, or losses.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "there is one per step or block of anchors")]
pub enum Objective {
    /// Similarities with positives and negatives.
    Scores(Scores),
    /// The loss of each anchor, for methods without negatives.
    Losses(Losses),
}

impl Objective {
    /// The loss of a batch as a whole, for methods whose only anchor is the batch.
    ///
    /// # Shapes
    /// - loss: `[1]`
    pub fn of_batch(loss: Tensor<1>) -> Self {
        Self::Losses(Losses::new(loss, None))
    }

    /// The scores, if any.
    pub fn scores(self) -> Option<Scores> {
        match self {
            Self::Scores(scores) => Some(scores),
            Self::Losses(_) => None,
        }
    }
}
