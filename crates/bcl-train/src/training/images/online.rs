//! Evaluates image encoders during training.

use crate::training::evaluate::Measure;
use bcl_eval::{EvaluationError, images::ImageJudge};
use bcl_models::vision::ImageEncoder;
use bcl_report::result::Metrics;

impl Measure<ImageEncoder> for ImageJudge {
    fn measure(&self, encoder: &ImageEncoder) -> Result<Metrics, EvaluationError> {
        self.online(encoder)
    }
}
