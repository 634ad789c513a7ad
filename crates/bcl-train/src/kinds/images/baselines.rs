//! Baselines of image encoders: raw pixels and the untrained encoder.

use super::start::untrained;

use crate::{
    kinds::Baselines,
    recipe::{ImageDataConfig, ImageRecipe},
};
use bcl_eval::{
    EvaluationError,
    images::{ImageBaselineKind, ImageEvaluationConfig, ImageEvaluator},
};
use bcl_images::ViewsConfig;
use bcl_models::vision::ImageEncoderConfig;
use bcl_report::result::Metrics;
use burn::tensor::Device;

/// Caches baselines: most runs of a command share them, and an official probe takes as long as training.
#[derive(Debug, Default)]
pub struct BaselineCache(Vec<(BaselineKey, Metrics)>);

/// All that determines the metrics of a baseline.
#[derive(Debug, Clone, PartialEq)]
struct BaselineKey {
    kind: ImageBaselineKind,
    data: ImageDataConfig,
    views: ViewsConfig,
    encoder: ImageEncoderConfig,
    evaluation: ImageEvaluationConfig,
    seed: u64,
}

impl BaselineCache {
    /// Returns the baselines of a recipe, by name.
    ///
    /// # Errors
    /// As [`ImageEvaluator::encoder`].
    pub fn of(
        &mut self,
        recipe: &ImageRecipe,
        evaluator: &ImageEvaluator,
        device: &Device,
    ) -> Result<Baselines, EvaluationError> {
        let mut baselines = Baselines::new();
        for &kind in &recipe.evaluation.baselines {
            let key = BaselineKey {
                kind,
                data: recipe.data.clone(),
                views: recipe.views.clone(),
                encoder: recipe.encoder.config(),
                evaluation: recipe.evaluation.clone(),
                seed: recipe.seed,
            };
            let known = self.0.iter().find(|(known, _)| *known == key);
            let metrics = match (known, kind) {
                (Some((_, metrics)), _) => metrics.clone(),
                (None, ImageBaselineKind::RawPixels) => evaluator.raw_pixels()?,
                (None, ImageBaselineKind::RandomEncoder) => evaluator.encoder(&untrained(recipe, device))?,
            };
            if known.is_none() {
                self.0.push((key, metrics.clone()));
            }
            if !metrics.is_empty() {
                baselines.insert(kind.name().to_owned(), metrics);
            }
        }
        Ok(baselines)
    }
}
