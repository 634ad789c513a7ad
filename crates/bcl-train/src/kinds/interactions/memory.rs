//! Estimates the memory of a run of a recommender.

use crate::memory::{Estimate, F32, product};
use bcl_core::{Excluded, Pairs, Similarity, schedule::Schedule};
use bcl_data::InteractionData;
use bcl_recipe::{DataConfig, DataSource, RecommenderRecipe};
use burn::tensor::{Device, Tensor};

/// Number of anchors on which an epoch's diagnostics are measured, all at once.
pub(crate) const PROBE_ANCHORS: usize = 1024;

/// The sizes of the data that a run's memory depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// Number of users in train and test.
    pub users: usize,
    /// Number of items in train and test.
    pub items: usize,
    /// Number of training interactions.
    pub train: usize,
}

impl From<&InteractionData> for Sizes {
    fn from(data: &InteractionData) -> Self {
        Self {
            users: data.train.num_users(),
            items: data.train.num_items(),
            train: data.train.len(),
        }
    }
}

/// Generated interactions: as pairs while they are drawn, then as rows of items; and the ids of users and items.
pub(crate) fn data(config: &DataConfig) -> Estimate {
    const PAIR_AND_ITEM: u64 = 12;
    // Two pointers to the text, the text with its two counters, and the number.
    const ID: u64 = 56;
    let Ok(DataSource::Planted(config)) = config.source() else {
        return Estimate::default();
    };
    let (users, items) = (config.num_users as u64, config.num_items as u64);
    let interactions = product([users, config.interactions_per_user as u64]);
    Estimate::default()
        .with(
            "interactions",
            "data.planted.num_users or data.planted.interactions_per_user",
            product([interactions, PAIR_AND_ITEM]),
        )
        .with(
            "ids",
            "data.planted.num_users or data.planted.num_items",
            product([users.saturating_add(items), ID]),
        )
}

/// Whether a step keeps all scores. Losses against items that all anchors share may be computed without; that is asked for a batch of two.
fn needs_scores(recipe: &RecommenderRecipe) -> bool {
    let rows = || Tensor::<2>::zeros([2, 1], &Device::flex());
    let excluded = if recipe.negatives.mask_hits() {
        Excluded::listed([vec![0], vec![]])
    } else {
        Excluded::None
    };
    let pairs = Pairs::with_negatives(rows(), rows(), rows(), Similarity::Dot, excluded);
    let estimator = recipe.loss.objective().init(recipe.loss.without_data());
    // Scores are divided by a temperature that is learned.
    let is_learned = matches!(recipe.loss.schedules().get("temperature"), Some(Schedule::Learned { .. }));
    !recipe.negatives.shared() || is_learned || estimator.requirements().truth || pairs.needs_scores(estimator.as_ref())
}

/// Adds the hits of a batch that shares its negatives, if they are masked: a list for each anchor, and for weights by rank without scores a table for
/// each number of negatives.
fn with_hits(step: Estimate, recipe: &RecommenderRecipe, sizes: Sizes, [batch, negatives]: [u64; 2]) -> Estimate {
    if !(recipe.negatives.shared() && recipe.negatives.mask_hits()) {
        return step;
    }
    let density = sizes.train as f64 / (sizes.users as f64 * sizes.items as f64);
    let mean = (negatives as f64 * density).ceil() as u64;
    let keys = "negatives.count, negatives.mask_hits or training.batch_size";
    // The lists are joined to one.
    let step = step.with_in_main("the masked hits of a batch", keys, product([2, 4, batch, mean]));
    if needs_scores(recipe) || !["bayesian", "ring"].contains(&recipe.loss.without_data().name()) {
        return step;
    }
    // Users differ, and popular items are hits more often: few anchors have more than ten times the mean.
    let lengths = batch.min(mean.saturating_mul(10));
    // Twice in main memory in double precision, and on the device.
    let tables = product([2 * 8 + F32, lengths, negatives]);
    step.with(format!("weights by rank for {lengths} numbers of negatives"), keys, tables)
}

/// A training step: the embedding tables with gradients and optimizer state, and the scores of a batch.
pub(crate) fn training(recipe: &RecommenderRecipe, sizes: Sizes) -> Estimate {
    let dim = recipe.encoder.dim();
    let rows = sizes.users as u64 + sizes.items as u64;
    // Weights, gradients, and what the optimizer keeps.
    let tables = product([2 + recipe.optimizer.num_moments(), F32, rows, dim as u64]);

    let batch = recipe.training.batch_size.min(sizes.train);
    let anchors = recipe.training.gradient_cache.map_or(batch, |at_most| at_most.min(batch)) as u64;
    let probed = PROBE_ANCHORS.min(sizes.train) as u64;
    let of_batch = |batch: u64| recipe.negatives.count().map_or(batch, |count| count as u64);
    // A score and its gradient; the probe has no gradient.
    let scores = product([2, F32, anchors, of_batch(batch as u64)]);
    let probe = product([F32, probed, of_batch(probed)]);
    // The item of each draw.
    let draws = of_batch(batch as u64);
    let drawn = if recipe.negatives.shared() {
        draws
    } else {
        product([batch as u64, draws])
    };
    let keys = "negatives.count, training.batch_size or training.gradient_cache";
    let step = if needs_scores(recipe) {
        Estimate::default().with(format!("the scores of {anchors} anchors"), keys, scores)
    } else {
        Estimate::default()
    };
    let step = step.with_in_main(
        "the negatives of a batch",
        "negatives.count or training.batch_size",
        product([F32, drawn]),
    );
    let step = with_hits(step, recipe, sizes, [batch as u64, draws]);
    let measured = Estimate::default().with(format!("the scores of {probed} anchors"), "negatives.count", probe);
    Estimate::default()
        .with(
            format!("embeddings of {rows} users and items with gradients and optimizer state"),
            "encoder.dim",
            tables,
        )
        .with_larger(step, measured)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_recipe::from_toml;

    const SIZES: Sizes = Sizes {
        users: 100,
        items: 50,
        train: 3000,
    };

    fn bytes(more: &str) -> u64 {
        let loss = if more.contains("loss.kind") {
            ""
        } else {
            "loss.kind = 'info_nce'\n"
        };
        let text = format!("data.dataset = 'planted'\n{loss}{more}");
        training(&from_toml(&text, "a", &[]).unwrap(), SIZES).bytes()
    }

    #[test]
    fn the_parts_are_counted() {
        let tables = |dim: u64| 16 * 150 * dim;
        assert_eq!(
            bytes("encoder.dim = 8\nnegatives.count = 10\ntraining.batch_size = 2000"),
            tables(8) + 2000 * 10 * (8 + 4)
        );
        // A batch is no larger than the data, and gradient caching holds fewer scores at a time.
        let cached = "encoder.dim = 8\nnegatives.count = 10\ntraining.batch_size = 5000\ntraining.gradient_cache = 100";
        assert_eq!(bytes(cached), tables(8) + 100 * 10 * 8 + 3000 * 10 * 4);
        // Weights that are divided by their mean need all scores.
        let by_rank = "loss.kind = 'bayesian'\nencoder.dim = 1\ntraining.batch_size = 2000";
        let needs_all = &format!("{by_rank}\nloss.normalised = true");
        let in_batch = "negatives.kind = 'in_batch'";
        let step = |negatives: u64| 8 * 2000 * negatives + 4 * negatives;
        // A density of 0.6, and four bytes twice.
        let hits = |negatives: u64| 8 * 2000 * negatives * 6 / 10;
        assert_eq!(
            bytes(&format!("{needs_all}\n{in_batch}")),
            tables(1) + step(2000) + hits(2000)
        );
        let shared = "[negatives]\nkind = 'uniform_all'\nshared = true\ncount = 5000";
        let all = tables(1) + step(5000);
        assert_eq!(bytes(&format!("{needs_all}\n{shared}")), all + hits(5000));
        assert_eq!(bytes(&format!("{needs_all}\n{shared}\nmask_hits = false")), all);
        let plain = "encoder.dim = 1\ntraining.batch_size = 2000";
        let learned = "loss.temperature = { kind = 'learned', start = 0.1 }";
        assert_eq!(bytes(&format!("{plain}\n{learned}\n{shared}")), all + hits(5000));
        // Other weights by rank have a table for each number of negatives, of which there are no more than anchors.
        let by_number = 20 * 2000 * 5000;
        assert_eq!(
            bytes(&format!("{by_rank}\n{shared}")),
            tables(1) + 4 * 5000 + hits(5000) + by_number
        );
        assert_eq!(bytes(&format!("{plain}\n{shared}")), tables(1) + 4 * 5000 + hits(5000));
        // Otherwise the probe of 1,024 anchors is the largest.
        let probe = tables(1) + 4 * 1024 * 5000;
        for loss in [by_rank, plain] {
            assert_eq!(bytes(&format!("{loss}\n{shared}\nmask_hits = false")), probe);
        }
    }

    #[test]
    fn generated_interactions_are_counted_before_they_are_drawn() {
        let text = "data.dataset = 'planted'\ndata.planted.num_users = 1000000\nloss.kind = 'info_nce'";
        let recipe: RecommenderRecipe = from_toml(text, "a", &[]).unwrap();
        assert_eq!(data(&recipe.data).bytes(), 12 * 30 * 1_000_000 + 56 * 1_000_800);
    }
}
