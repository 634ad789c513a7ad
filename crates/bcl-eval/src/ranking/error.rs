//! Errors of evaluating rankings.

use thiserror::Error;

/// An error while evaluating rankings.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RankingError {
    /// A score is NaN, so the items have no order.
    #[error(
        "the score of user {user} for item {item} (both counted from 0) is not a number, so items cannot be ranked: training has \
         diverged; lower optimizer.learning_rate or raise loss.temperature"
    )]
    NotANumber {
        /// Dense user id.
        user: u32,
        /// Dense item id.
        item: u32,
    },
    /// The evaluation was [interrupted](super::RankingEvaluator::with_interrupt).
    #[error("interrupted while the model was being evaluated")]
    Interrupted,
    /// No user has a held-out item.
    #[error(
        "no user has a held-out item that is not a training item, so there is nothing to evaluate: provide a test file, or raise \
         data.split.test_ratio or selection.held_out"
    )]
    NothingHeldOut,
}
