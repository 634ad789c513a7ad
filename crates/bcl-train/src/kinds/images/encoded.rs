//! The evaluation of a trained encoder: all processes encode the images, and process 0 measures the features.

use super::{evaluator, start};
use crate::{
    error::Error,
    kinds::{Run, Trained},
    training::{folder::load_model, processes::of_first},
};
use bcl_eval::{
    images::{ImageEvaluator, ImageFeatures},
    probe::Labelled,
};
use bcl_models::vision::ImageEncoder;
use bcl_recipe::ImageRecipe;
use bcl_report::result::{CALIBRATION_ERROR, CalibrationBin, LAST_LOSS, Metrics};

/// The trained encoder, and the features that all processes have computed with it.
#[derive(Debug)]
pub struct Encoded {
    evaluator: ImageEvaluator,
    encoder: ImageEncoder,
    /// `None` on all processes but the first.
    features: Option<ImageFeatures>,
}

/// The test metrics of a trained encoder, and the features behind them.
pub(super) struct Evaluated {
    pub(super) evaluator: ImageEvaluator,
    /// Features of the training and of the test images.
    pub(super) features: [Labelled; 2],
    pub(super) metrics: Metrics,
}

impl Encoded {
    /// Encodes the images of a run with its saved weights, which process 0 reads for all.
    pub(super) fn of(run: &Run<'_, ImageRecipe>) -> Result<Self, Error> {
        let (around, processes) = (run.around, &*run.around.processes);
        let evaluator = evaluator(run.recipe, &run.data, around.backend, around.stop.clone());
        let untrained = start::untrained(run.recipe, &around.backend.device());
        let mut loaded = None;
        around.on_first(|| {
            loaded = Some(load_model(untrained.clone(), around.folder)?);
            Ok(())
        })?;
        let encoder = of_first(loaded.unwrap_or(untrained), processes).map_err(Error::Training)?;
        let _working = run.working("encoding the images");
        let features = evaluator.features_on_processes(&encoder, processes)?;
        Ok(Self {
            evaluator,
            encoder,
            features,
        })
    }

    /// Measures the features. Process 0 alone has them.
    ///
    /// # Panics
    /// Panics on any other process.
    pub(super) fn evaluated(self, trained: &Trained) -> Result<Evaluated, Error> {
        let features = self.features.expect("process 0 has the features");
        let mut metrics = self.evaluator.encoder_with(&self.encoder, &features)?;
        if let Some(last) = trained.records().last() {
            // The calibration error of P(TN|x), if the true classes are known.
            let calibration = CalibrationBin::expected_error(&last.calibration);
            metrics.extend(calibration.map(|error| (CALIBRATION_ERROR.to_owned(), error)));
            if !self.evaluator.has_probes() {
                metrics.insert(LAST_LOSS.to_owned(), last.loss);
            }
        }
        Ok(Evaluated {
            evaluator: self.evaluator,
            features: [features.train, features.test],
            metrics,
        })
    }
}
