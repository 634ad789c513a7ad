//! Baselines of recommenders: popularity and EASE.

use crate::{
    error::Error,
    kinds::Baselines,
    recipe::{BaselineKind, RankingEvaluationConfig},
};
use bcl_data::InteractionData;
use bcl_eval::{
    baselines::{Ease, EaseError, Popularity},
    ranking::RankingEvaluator,
};
use bcl_report::notice::{note, working};

/// Fits the baselines of a recipe and evaluates them on test. If there are too many items for EASE and the recipe has the default list,
/// EASE is skipped with a note.
///
/// # Errors
/// If a baseline cannot be fitted to the data.
pub(crate) fn baselines(data: &InteractionData, config: &RankingEvaluationConfig) -> Result<Baselines, Error> {
    let evaluator = RankingEvaluator::new(&config.cutoffs, &data.train, &data.trained_test());
    let by_default = config.baselines == RankingEvaluationConfig::default().baselines;
    let mut baselines = Baselines::new();
    for kind in &config.baselines {
        let _working = working(format!("fitting the baseline {} to {}", kind.name(), data.name));
        let metrics = match kind {
            BaselineKind::Popularity => evaluator.evaluate(&Popularity::new(&data.train))?,
            BaselineKind::Ease => match Ease::fit(&data.train, config.ease_lambda) {
                Err(EaseError::TooManyItems { num_items, limit, .. }) if by_default => {
                    note(format_args!(
                        "skipping the baseline EASE: {} has {num_items} items, but EASE is limited to {limit}",
                        data.name
                    ));
                    continue;
                }
                ease => evaluator.evaluate(&ease?)?,
            },
        };
        baselines.insert(kind.name().to_owned(), metrics);
    }
    Ok(baselines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_data::{HoldOut, IdMap, Interactions, LoadReport};

    /// A single user, and one item more than EASE allows.
    fn many_items() -> InteractionData {
        let num_items = Ease::MAX_ITEMS + 1;
        InteractionData {
            name: "wide".to_owned(),
            train: Interactions::from_pairs(1, num_items, [(0, 0)]),
            test: Interactions::from_pairs(1, num_items, [(0, 1)]),
            users: IdMap::default(),
            items: IdMap::default(),
            truth: None,
            report: LoadReport::default(),
            hold_out: HoldOut::default(),
        }
    }

    #[test]
    fn ease_is_skipped_for_too_many_items_unless_the_recipe_names_it() {
        let fitted = baselines(&many_items(), &RankingEvaluationConfig::default()).unwrap();
        assert_eq!(fitted.keys().collect::<Vec<_>>(), ["popularity"]);
        let asked = RankingEvaluationConfig {
            baselines: vec![BaselineKind::Ease],
            ..RankingEvaluationConfig::default()
        };
        let error = baselines(&many_items(), &asked).unwrap_err().to_string();
        assert!(error.contains("remove \"ease\" from evaluation.baselines"), "{error}");
    }
}
