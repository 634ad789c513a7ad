//! What a run on graphs prints when it starts.

use crate::training::run_summary::{RunSummary, grouped};
use bcl_backend::Backend;
use bcl_data::graphs::GraphData;
use bcl_recipe::GraphRecipe;
use std::path::Path;

/// Summarises a run.
pub(super) fn summary(recipe: &GraphRecipe, data: &GraphData, backend: &Backend, folder: &Path) -> RunSummary {
    let classes = if data.is_labelled() {
        format!("of {} classes", data.num_classes())
    } else {
        "without labels, so classifiers are off".to_owned()
    };
    let graphs = format!(
        "{}: {} graphs {classes}, {} nodes with {} features, {} edges",
        data.name(),
        grouped(data.num_graphs()),
        grouped(data.num_nodes()),
        grouped(data.num_features()),
        grouped(data.num_edges())
    );
    let (encoder, method) = (recipe.encoder.config(), recipe.method.settings());
    let heads = if method.num_heads() == 1 { "one head" } else { "two heads" };
    let model = format!(
        "{}, {} layers of {}, {} parameters, and {} of {heads}",
        recipe.encoder.name(),
        encoder.layers,
        encoder.hidden,
        grouped(encoder.num_parameters(data.num_features()) as usize),
        grouped(method.head_parameters(encoder) as usize)
    );
    let nodes = recipe
        .training
        .max_nodes
        .map(|nodes| format!(" and at most {} nodes", grouped(nodes)));
    let loss = format!(
        "{}, {}, batches of {} graphs{}",
        recipe.method.name(),
        recipe.loss.in_words(),
        recipe.training.batch_size,
        nodes.unwrap_or_default()
    );
    RunSummary::new(recipe, [graphs, model, loss], backend, folder)
}
