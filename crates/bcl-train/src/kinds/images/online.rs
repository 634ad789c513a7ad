//! Evaluates image encoders during training.

use crate::training::{evaluate::EvaluateEncoder, ranks::of_first};
use bcl_collective::Collective;
use bcl_eval::{EvaluationError, images::ImageEvaluator};
use bcl_models::vision::ImageEncoder;
use bcl_report::result::Metrics;

impl EvaluateEncoder<ImageEncoder> for ImageEvaluator {
    fn evaluate_encoder(&self, encoder: &ImageEncoder) -> Result<Metrics, EvaluationError> {
        self.online(&alone(encoder))
    }

    fn evaluate_on_ranks(&self, encoder: &ImageEncoder, ranks: &dyn Collective) -> Option<Result<Metrics, EvaluationError>> {
        let encoder = match of_first(alone(encoder), ranks) {
            Ok(encoder) => encoder,
            Err(problem) => {
                let rank = ranks.rank();
                return Some(Err(EvaluationError::OfRank { rank, problem }));
            }
        };
        Some(self.online_on_ranks(&encoder, ranks))
    }
}

/// An encoder that normalises batches by their own statistics, even if training synchronises them: ranks evaluate different numbers of batches.
fn alone(encoder: &ImageEncoder) -> ImageEncoder {
    encoder.clone().with_norms_over_ranks(None)
}
