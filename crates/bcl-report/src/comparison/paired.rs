//! Differences between recipes, paired by seed.
//!
//! Runs with the same seed share initial weights, batches and negatives as far as their recipes allow. Much of the variance over seeds
//! therefore cancels in the difference, whose interval is narrower than the two means' intervals.

use super::group::{DataGroup, RecipeGroup, figures, intervals};
use super::{Choice, Difference, Intervals};
use crate::result::Metrics;

/// The loss of the reference recipe.
const REFERENCE_LOSS: &str = "info_nce";

/// Each recipe minus the first one with the `info_nce` loss, if they have a common seed and a common metric.
pub(super) fn differences(group: &DataGroup, metrics: &[String]) -> Vec<Difference> {
    let is_reference = |recipe: &&RecipeGroup| recipe.first().loss == REFERENCE_LOSS;
    let Some(reference) = group.recipes.iter().find(is_reference) else {
        return Vec::new();
    };
    group
        .recipes
        .iter()
        .filter(|recipe| !std::ptr::eq(*recipe, reference))
        .map(|recipe| Difference {
            name: recipe.name.clone(),
            reference: reference.name.clone(),
            seeds: common_seeds(recipe, reference).collect(),
            validation: paired(recipe, reference, Choice::Validation, metrics),
            oracle: paired(recipe, reference, Choice::Oracle, metrics),
        })
        .filter(|difference| !(difference.validation.is_empty() && difference.oracle.is_empty()))
        .collect()
}

fn common_seeds(recipe: &RecipeGroup, reference: &RecipeGroup) -> impl Iterator<Item = u64> {
    recipe.runs.keys().copied().filter(|seed| reference.runs.contains_key(seed))
}

fn paired(recipe: &RecipeGroup, reference: &RecipeGroup, choice: Choice, metrics: &[String]) -> Intervals {
    let differences: Vec<Metrics> = common_seeds(recipe, reference)
        .filter_map(|seed| {
            let subtracted = figures(reference.runs[&seed], choice)?;
            let figures = figures(recipe.runs[&seed], choice)?.iter();
            Some(
                figures
                    .filter_map(|(metric, figure)| Some((metric.clone(), figure - subtracted.get(metric)?)))
                    .collect(),
            )
        })
        .collect();
    intervals(metrics, &differences)
}
