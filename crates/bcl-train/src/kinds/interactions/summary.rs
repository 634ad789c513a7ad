//! What a run on interactions prints when it starts.

use crate::training::run_summary::{RunSummary, grouped};
use bcl_backend::Backend;
use bcl_data::{HoldOut, InteractionData, Source, SplitKind};
use bcl_recipe::{DataSource, RecommenderRecipe};
use bcl_report::left_out::{left_out, untrained};
use std::path::Path;

/// Summarises a run.
pub(super) fn summary(recipe: &RecommenderRecipe, data: &InteractionData, backend: &Backend, folder: &Path) -> RunSummary {
    let data_set = data;
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
    RunSummary::new(recipe, [data, model, loss], backend, folder).with_data_lines(of_files(recipe, data_set))
}

/// How files were split, and what is missing from train or test.
fn of_files(recipe: &RecommenderRecipe, data: &InteractionData) -> Vec<(&'static str, String)> {
    let split = is_split_here(recipe).then(|| ("split", split_in_words(&data.hold_out).to_owned()));
    let left_out = left_out(&data.report).map(|text| ("dropped", text));
    let untrained = untrained(&data.report, data.test.len()).map(|text| ("unseen", text));
    split.into_iter().chain(left_out).chain(untrained).collect()
}

fn is_split_here(recipe: &RecommenderRecipe) -> bool {
    match recipe.data.source() {
        Ok(DataSource::Files(Source::Whole { .. }, _)) => true,
        Ok(DataSource::Named(_, options)) => options.split.is_some(),
        _ => false,
    }
}

/// What is held out for the test; the validation part is held out of train by the same rule.
fn split_in_words(rule: &HoldOut) -> &'static str {
    match (rule.kind(), rule.is_by_time()) {
        (SplitKind::Ratio, false) => "a random share of each user's interactions is held out",
        (SplitKind::Ratio, true) => "the newest share of each user's interactions is held out, by timestamp",
        (SplitKind::LeaveOneOut, false) => "one random interaction of each user is held out",
        (SplitKind::LeaveOneOut, true) => "the last interaction of each user is held out, by timestamp",
        (SplitKind::Temporal, _) => "the newest share of all interactions is held out, by timestamp",
    }
}
