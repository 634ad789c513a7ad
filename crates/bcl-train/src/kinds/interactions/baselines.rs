//! Baselines of recommenders: random, popularity, item-kNN and EASE.

use crate::{error::Error, kinds::Baselines};
use bcl_data::{InteractionData, Seed};
use bcl_eval::{
    baselines::{Ease, EaseError, ItemKnn, Popularity, Random},
    ranking::RankingEvaluator,
};
use bcl_files::notice::{note, working};
use bcl_recipe::{BaselineKind, RankingEvaluationConfig};

/// Fits the baselines of a recipe and evaluates them on test. If the data are too large for EASE or item-kNN and the recipe has the default
/// list, they are skipped with a note. Random scores have a seed of their own, so that all runs on the data share them.
///
/// # Errors
/// If a baseline cannot be fitted to the data.
pub(crate) fn baselines(data: &InteractionData, config: &RankingEvaluationConfig) -> Result<Baselines, Error> {
    let evaluator = RankingEvaluator::new(&config.cutoffs, &data.train, &data.trained_test());
    // The second list was the default of version 0.1, and recipes in run folders spell it out.
    let former = [BaselineKind::Popularity, BaselineKind::Ease];
    let by_default = config.baselines == RankingEvaluationConfig::default().baselines || config.baselines == former;
    let mut baselines = Baselines::new();
    for kind in &config.baselines {
        let _working = working(format!("fitting the baseline {} to {}", kind.name(), data.name));
        let metrics = match kind {
            BaselineKind::Random => evaluator.evaluate(&Random::new(data.train.num_items(), Seed(0)))?,
            BaselineKind::ItemKnn => match ItemKnn::fit(&data.train, config.knn_neighbours, config.knn_shrinkage) {
                Err(error) if by_default => {
                    note(format_args!("skipping the baseline item-kNN: {error}"));
                    continue;
                }
                knn => evaluator.evaluate(&knn?)?,
            },
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
        assert_eq!(fitted.keys().collect::<Vec<_>>(), ["item_knn", "popularity", "random"]);
        let asked = RankingEvaluationConfig {
            baselines: vec![BaselineKind::Ease],
            ..RankingEvaluationConfig::default()
        };
        let error = baselines(&many_items(), &asked).unwrap_err().to_string();
        assert!(error.contains("remove \"ease\" from evaluation.baselines"), "{error}");
    }
}
