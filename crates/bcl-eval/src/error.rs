//! Errors of an evaluation.

use crate::{graphs::GraphError, probe::ProbeError, ranking::RankingError};
use thiserror::Error;

/// Why a model could not be evaluated.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum EvaluationError {
    /// The scores of a probe batch are NaN or infinite.
    #[error(
        "the scores of the {scores} are not finite: training has diverged; lower optimizer.learning_rate or raise loss.temperature"
    )]
    NotFinite {
        /// Which scores: `positives` or `negatives`.
        scores: &'static str,
    },
    /// An [`Interrupt`](crate::Interrupt) asked to stop.
    #[error("interrupted while the model was evaluated")]
    Interrupted,
    /// Items cannot be ranked.
    #[error(transparent)]
    Ranking(RankingError),
    /// Image features cannot be evaluated.
    #[error(transparent)]
    Probe(#[from] ProbeError),
    /// Graphs cannot be classified.
    #[error(transparent)]
    Graphs(GraphError),
    /// Another process could not do its share.
    #[error("process {process}: {problem}")]
    OfProcess {
        /// The index of the process.
        process: usize,
        /// Its error.
        problem: String,
    },
    /// Images cannot be prepared for the encoder.
    #[error(transparent)]
    Views(#[from] bcl_images::ViewsError),
}

impl From<RankingError> for EvaluationError {
    fn from(error: RankingError) -> Self {
        match error {
            RankingError::Interrupted => Self::Interrupted,
            error => Self::Ranking(error),
        }
    }
}

impl From<GraphError> for EvaluationError {
    fn from(error: GraphError) -> Self {
        match error {
            GraphError::Interrupted => Self::Interrupted,
            error => Self::Graphs(error),
        }
    }
}

impl EvaluationError {
    /// Whether the cause is a model that has diverged.
    pub fn is_divergence(&self) -> bool {
        matches!(
            self,
            Self::NotFinite { .. }
                | Self::Ranking(RankingError::NotANumber { .. })
                | Self::Probe(ProbeError::NotFinite { .. })
                | Self::Graphs(GraphError::NotFinite { .. })
        )
    }
}
