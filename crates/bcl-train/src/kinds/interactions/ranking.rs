//! Evaluates recommenders during training.

use crate::training::evaluate::EvaluateEncoder;
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
}
