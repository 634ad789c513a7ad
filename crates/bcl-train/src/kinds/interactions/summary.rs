//! What a run on interactions prints when it starts.

use crate::{
    recipe::RecommenderRecipe,
    training::run_summary::{RunSummary, grouped},
};
use bcl_backend::Backend;
use bcl_data::InteractionData;
use std::path::Path;

/// Summarises a run.
pub(super) fn summary(recipe: &RecommenderRecipe, data: &InteractionData, backend: &Backend, folder: &Path) -> RunSummary {
    let train = &data.train;
    let dim = recipe.encoder.dim();
    let negatives = match recipe.negatives.count() {
        Some(count) => format!("{count} negatives ({})", recipe.negatives.name()),
        None => "the other positives of the batch as negatives".to_owned(),
    };
    let data = format!(
        "{}: {} users, {} items, {} training and {} test interactions",
        data.name,
        grouped(train.num_users()),
        grouped(train.num_items()),
        grouped(train.len()),
        grouped(data.test.len())
    );
    let parameters = (train.num_users() + train.num_items()) * dim;
    let model = format!(
        "{} of {dim} dimensions, {} parameters",
        recipe.encoder.name(),
        grouped(parameters)
    );
    let loss = format!(
        "{}, {negatives}, batches of {}",
        recipe.loss.in_words(),
        recipe.training.batch_size
    );
    RunSummary::new(recipe, [data, model, loss], backend, folder)
}
