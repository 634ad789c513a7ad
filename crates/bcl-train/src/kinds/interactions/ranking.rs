//! Evaluates recommenders during training.

use crate::training::evaluate::EvaluateEncoder;
use bcl_collective::Collective;
use bcl_eval::{
    EvaluationError,
    ranking::{EmbeddingScorer, RankingEvaluator},
};
use bcl_models::Recommender;
use bcl_report::result::{MACRO_AUC, Metrics};

/// What is measured after an epoch.
#[derive(Debug)]
pub(super) struct RankingMeasure {
    pub(super) evaluator: RankingEvaluator,
    /// Whether to measure the macro AUC, too, which a schedule of α reads.
    pub(super) macro_auc: bool,
}

impl RankingMeasure {
    fn with_auc(&self, mut metrics: Metrics, scorer: &EmbeddingScorer) -> Result<Metrics, EvaluationError> {
        if self.macro_auc {
            metrics.insert(MACRO_AUC.to_owned(), self.evaluator.macro_auc(scorer)?);
        }
        Ok(metrics)
    }
}

impl EvaluateEncoder<Recommender> for RankingMeasure {
    fn evaluate_encoder(&self, encoder: &Recommender) -> Result<Metrics, EvaluationError> {
        let scorer = EmbeddingScorer::new(encoder.embeddings());
        self.with_auc(self.evaluator.evaluate(&scorer)?, &scorer)
    }

    fn evaluate_on_processes(
        &self,
        encoder: &Recommender,
        processes: &dyn Collective,
    ) -> Option<Result<Metrics, EvaluationError>> {
        let scorer = EmbeddingScorer::new(encoder.embeddings());
        let metrics = self.evaluator.evaluate_on_processes(&scorer, processes);
        // Each process computes the whole AUC, with the same bits: it takes one pass over the scores.
        Some(
            metrics
                .map_err(EvaluationError::from)
                .and_then(|metrics| self.with_auc(metrics, &scorer)),
        )
    }
}
