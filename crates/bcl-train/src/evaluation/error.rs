//! What can go wrong when a model is evaluated.

use thiserror::Error;

/// Why a model could not be evaluated.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum EvaluationError {
    /// A score is NaN, so the items have no order.
    #[error(
        "the score of user {user} for item {item} (both counted from 0) is not a number, so nothing can be ranked: training has \
         diverged; lower optimizer.learning_rate or raise loss.temperature"
    )]
    NotANumber {
        /// Dense user id.
        user: u32,
        /// Dense item id.
        item: u32,
    },
    /// Scores of the encoder are not finite.
    #[error(
        "the scores of the {scores} are not finite: training has diverged; lower optimizer.learning_rate or raise loss.temperature"
    )]
    NotFinite {
        /// Which scores: `positives` or `negatives`.
        scores: &'static str,
    },
    /// A [`Stop`](crate::training::Stop) was requested.
    #[error("interrupted while the model was evaluated")]
    Interrupted,
    /// There is no user to average over.
    #[error(
        "no user has a held-out item beyond the training items, so there is nothing to evaluate: give a test file, or raise \
         data.split.test_ratio or training.validation"
    )]
    NothingHeldOut,
    /// Image features cannot be judged.
    #[error(transparent)]
    Probe(#[from] crate::probe::ProbeError),
    /// Images cannot be shown to the encoder.
    #[error(transparent)]
    Views(#[from] bcl_images::ViewsError),
}

impl EvaluationError {
    /// Whether the model's numbers are to blame: it has diverged.
    pub fn is_divergence(&self) -> bool {
        matches!(
            self,
            Self::NotANumber { .. } | Self::NotFinite { .. } | Self::Probe(crate::probe::ProbeError::NotFinite { .. })
        )
    }
}
