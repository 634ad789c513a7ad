//! What can go wrong when a ranking is evaluated.

use thiserror::Error;

/// Why rankings could not be evaluated.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RankingError {
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
    /// The evaluator was [asked to end](super::RankingEvaluator::with_interrupt).
    #[error("interrupted while the model was evaluated")]
    Interrupted,
    /// There is no user to average over.
    #[error(
        "no user has a held-out item beyond the training items, so there is nothing to evaluate: give a test file, or raise \
         data.split.test_ratio or training.validation"
    )]
    NothingHeldOut,
}
