//! The objective of a training step.

use crate::batches::LogQ;
use bcl_core::{Estimator, Losses, Pairs, Scores, SideInformation};
use burn::tensor::Tensor;

/// The objective of some anchors: pairs, which an estimator turns into losses, or losses.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "there is one per step")]
pub enum Objective {
    /// Anchors with positives and negatives.
    Pairs(Pairs),
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

    /// Applies the log-Q correction for an estimator that divides similarities by a temperature: `s / t` becomes `s / t - log q`. Losses stay as they are.
    pub fn corrected(self, log_q: LogQ, temperature: f64) -> Self {
        let (positives, negatives) = (log_q.positives * -temperature, log_q.negatives * -temperature);
        match self {
            Self::Pairs(pairs) => Self::Pairs(pairs.with_offsets(positives, negatives)),
            Self::Losses(losses) => Self::Losses(losses),
        }
    }

    /// Computes the losses with an estimator. Losses stay as they are.
    ///
    /// # Panics
    /// Panics as [`Estimator::losses`] does.
    pub fn losses(self, estimator: &dyn Estimator, side: &SideInformation) -> Losses {
        match self {
            Self::Pairs(pairs) => estimator.losses(pairs, side),
            Self::Losses(losses) => losses,
        }
    }

    /// Returns the scores, or the losses of a method without scores.
    ///
    /// # Errors
    /// Returns the losses, which are no error.
    #[expect(clippy::result_large_err, reason = "losses are as good a result as scores")]
    pub fn into_scores(self) -> Result<Scores, Losses> {
        match self {
            Self::Pairs(pairs) => Ok(pairs.into_scores()),
            Self::Losses(losses) => Err(losses),
        }
    }
}
