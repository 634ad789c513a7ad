//! Evaluates image encoders during training.

use crate::training::evaluate::EvaluateEncoder;
use bcl_eval::{EvaluationError, images::ImageEvaluator};
use bcl_models::vision::ImageEncoder;
use bcl_report::result::Metrics;

impl EvaluateEncoder<ImageEncoder> for ImageEvaluator {
    fn evaluate_encoder(&self, encoder: &ImageEncoder) -> Result<Metrics, EvaluationError> {
        // Rank 0 evaluates alone, also where a protocol trains a classifier with the encoder in training mode.
        self.online(&encoder.clone().with_norms_over_ranks(None))
    }
}
