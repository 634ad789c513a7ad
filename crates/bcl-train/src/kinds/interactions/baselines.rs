//! Baselines of recommenders: random, popularity, item-kNN and EASE.

use crate::{error::Error, kinds::Baselines};
use bcl_data::{InteractionData, Interactions, Seed};
use bcl_eval::{
    baselines::{Ease, EaseError, ItemKnn, Popularity, Random},
    ranking::{ItemOrder, RankingEvaluator},
};
use bcl_files::notice::{note, working};
use bcl_recipe::{BaselineKind, RankingEvaluationConfig};

/// Fits the baselines of a recipe and evaluates them on test. If the data are too large for EASE or item-kNN and the recipe has the default
/// list, they are skipped with a note. Random scores have a seed of their own, so that all runs on the data share them.
///
/// # Errors
/// If a baseline cannot be fitted to the data.
pub(crate) fn baselines(data: &InteractionData, config: &RankingEvaluationConfig) -> Result<Baselines, Error> {
    let hashed = ItemOrder::hashed(data.items.iter());
    let evaluator = |train: &Interactions, test: &Interactions, order: &ItemOrder| {
        RankingEvaluator::new(&config.cutoffs, train, test).in_order(order.without_untrained(train))
    };
    // The neighbours of item-kNN and the rounding of EASE follow the numbers of items, and these the order of the file. Numbered by the
    // order of ties, they are the same for any order.
    let [train, test] = [&data.train, &data.trained_test()].map(|part| renumbered(part, &hashed));
    let fitted = evaluator(&train, &test, &ItemOrder::numbered(train.num_items()));
    let by_default = config.baselines == RankingEvaluationConfig::default().baselines;
    let mut baselines = Baselines::new();
    for kind in &config.baselines {
        let _working = working(format!("fitting the baseline {} to {}", kind.name(), data.name));
        let metrics = match kind {
            BaselineKind::Random => {
                let random = Random::new(data.train.num_items(), Seed(0));
                evaluator(&data.train, &data.trained_test(), &hashed).evaluate(&random)?
            }
            BaselineKind::ItemKnn => match ItemKnn::fit(&train, config.knn_neighbours, config.knn_shrinkage) {
                Err(error) if by_default => {
                    note(format_args!("skipping the baseline item-kNN: {error}"));
                    continue;
                }
                knn => fitted.evaluate(&knn?)?,
            },
            BaselineKind::Popularity => fitted.evaluate(&Popularity::new(&train))?,
            BaselineKind::Ease => match Ease::fit(&train, config.ease_lambda) {
                Err(EaseError::TooManyItems { num_items, limit, .. }) if by_default => {
                    note(format_args!(
                        "skipping the baseline EASE: {} has {num_items} items, but EASE is limited to {limit}",
                        data.name
                    ));
                    continue;
                }
                ease => fitted.evaluate(&ease?)?,
            },
        };
        baselines.insert(kind.name().to_owned(), metrics);
    }
    Ok(baselines)
}

/// The same interactions with the items numbered by their places, which must be different for all.
fn renumbered(part: &Interactions, order: &ItemOrder) -> Interactions {
    let pairs = part.pairs().map(|(user, item)| (user, order.place(item).unwrap_or(item)));
    Interactions::from_pairs(part.num_users(), part.num_items(), pairs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_data::{HoldOut, IdMap, LoadReport};

    /// A single user, and one item more than EASE allows.
    fn many_items() -> InteractionData {
        let num_items = Ease::MAX_ITEMS + 1;
        InteractionData {
            name: "wide".to_owned(),
            train: Interactions::from_pairs(1, num_items, [(0, 0)]),
            test: Interactions::from_pairs(1, num_items, [(0, 1)]),
            users: IdMap::default(),
            items: IdMap::numbered(num_items),
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

    #[test]
    fn ties_do_not_follow_the_order_of_the_file() {
        // All 40 items have four users.
        let pairs: Vec<(u32, u32)> = (0..160)
            .map(|index| (index % 40, (index % 40 + 7 * (index / 40)) % 40))
            .collect();
        let test = |user: u32| (user, (user + 30) % 40);
        let read = |order: &dyn Fn(u32) -> u32| InteractionData {
            name: "tied".to_owned(),
            train: Interactions::from_pairs(40, 40, pairs.iter().map(|&(user, item)| (user, order(item)))),
            test: Interactions::from_pairs(40, 40, (0..40).map(test).map(|(user, item)| (user, order(item)))),
            users: IdMap::numbered(40),
            items: (0..40).map(|place| order(place).to_string()).collect(),
            truth: None,
            report: LoadReport::default(),
            hold_out: HoldOut::default(),
        };
        let config = RankingEvaluationConfig {
            baselines: vec![BaselineKind::Popularity, BaselineKind::ItemKnn, BaselineKind::Ease],
            cutoffs: vec![20],
            ..RankingEvaluationConfig::default()
        };
        let forward = baselines(&read(&|item| item), &config).unwrap();
        // Numbered backwards, an item keeps its id.
        assert_eq!(baselines(&read(&|item| 39 - item), &config).unwrap(), forward);
        let chance = 20.0 / 36.0;
        let recall = forward["popularity"]["recall@20"];
        assert!((recall - chance).abs() < 0.1, "{recall}");
    }
}
