//! Evaluates recommenders during training.

use crate::training::evaluate::EvaluateEncoder;
use bcl_collective::Collective;
use bcl_eval::{
    EvaluationError,
    ranking::{EmbeddingScorer, RankingEvaluator},
};
use bcl_models::Recommender;
use bcl_report::result::Metrics;

impl EvaluateEncoder<Recommender> for RankingEvaluator {
    fn evaluate_encoder(&self, encoder: &Recommender) -> Result<Metrics, EvaluationError> {
        Ok(self.evaluate(&EmbeddingScorer::new(encoder.embeddings()))?)
    }

    fn evaluate_on_processes(
        &self,
        encoder: &Recommender,
        processes: &dyn Collective,
    ) -> Option<Result<Metrics, EvaluationError>> {
        let scorer = EmbeddingScorer::new(encoder.embeddings());
        Some(Self::evaluate_on_processes(self, &scorer, processes).map_err(EvaluationError::from))
    }
}
