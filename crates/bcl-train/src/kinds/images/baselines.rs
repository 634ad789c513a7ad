//! Baselines of image encoders: raw pixels and the untrained encoder.

use super::start::untrained;
use crate::kinds::{BaselineCache, Baselines};
use bcl_eval::{
    EvaluationError,
    images::{ImageBaselineKind, ImageEvaluationConfig, ImageEvaluator},
};
use bcl_images::ViewsConfig;
use bcl_models::vision::ImageEncoderConfig;
use bcl_recipe::{ImageDataConfig, ImageRecipe};
use burn::tensor::Device;

/// All that determines the metrics of a baseline.
#[derive(Debug, Clone, PartialEq)]
pub struct BaselineKey {
    kind: ImageBaselineKind,
    data: ImageDataConfig,
    views: ViewsConfig,
    encoder: ImageEncoderConfig,
    evaluation: ImageEvaluationConfig,
    seed: u64,
}

/// Returns the baselines of a recipe, by name.
///
/// # Errors
/// As [`ImageEvaluator::encoder`].
pub(super) fn baselines(
    recipe: &ImageRecipe,
    evaluator: &ImageEvaluator,
    device: &Device,
    cache: &mut BaselineCache<BaselineKey>,
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
        let metrics = cache.of(key, || match kind {
            ImageBaselineKind::RawPixels => evaluator.raw_pixels(),
            ImageBaselineKind::RandomEncoder => evaluator.encoder(&untrained(recipe, device)),
        })?;
        if !metrics.is_empty() {
            baselines.insert(kind.name().to_owned(), metrics);
        }
    }
    Ok(baselines)
}
