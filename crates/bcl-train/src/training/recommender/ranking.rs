//! Evaluates recommenders during training.

use crate::training::evaluate::Measure;
use bcl_eval::{
    EvaluationError,
    ranking::{EmbeddingScorer, RankingEvaluator},
};
use bcl_models::Recommender;
use bcl_report::result::Metrics;

impl Measure<Recommender> for RankingEvaluator {
    fn measure(&self, encoder: &Recommender) -> Result<Metrics, EvaluationError> {
        Ok(self.evaluate(&EmbeddingScorer::new(encoder.embeddings()))?)
    }
}
