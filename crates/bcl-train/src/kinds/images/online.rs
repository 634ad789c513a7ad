//! Evaluates image encoders during training.

use crate::training::{evaluate::EvaluateEncoder, processes::of_first, recovery::TrainingFeatures};
use bcl_collective::Collective;
use bcl_eval::{EvaluationError, images::ImageEvaluator};
use bcl_models::vision::ImageEncoder;
use bcl_report::result::Metrics;

impl EvaluateEncoder<ImageEncoder> for ImageEvaluator {
    fn evaluate_encoder(&self, encoder: &ImageEncoder) -> Result<Metrics, EvaluationError> {
        self.online(&alone(encoder))
    }

    fn evaluate_on_processes(
        &self,
        encoder: &ImageEncoder,
        processes: &dyn Collective,
    ) -> Option<Result<Metrics, EvaluationError>> {
        let encoder = match of_first(alone(encoder), processes) {
            Ok(encoder) => encoder,
            Err(problem) => {
                let process = processes.index();
                return Some(Err(EvaluationError::OfProcess { process, problem }));
            }
        };
        Some(self.online_on_processes(&encoder, processes))
    }

    fn training_features(
        &self,
        encoder: &ImageEncoder,
        processes: &dyn Collective,
    ) -> Result<Option<TrainingFeatures>, EvaluationError> {
        let encoder = of_first(alone(encoder), processes).map_err(|problem| EvaluationError::OfProcess {
            process: processes.index(),
            problem,
        })?;
        let features = self.training_features_on_processes(&encoder, processes)?;
        let classes = self.training_images().labels().iter().copied().collect::<Option<Vec<u32>>>();
        Ok(features.map(|features| TrainingFeatures { features, classes }))
    }
}

/// An encoder that normalises batches by their own statistics, even if training synchronises them: processes evaluate different numbers of batches.
fn alone(encoder: &ImageEncoder) -> ImageEncoder {
    encoder.clone().with_norms_over_processes(None)
}
