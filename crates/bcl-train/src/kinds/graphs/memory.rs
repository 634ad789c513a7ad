//! Estimates the memory of a run of a graph encoder.

use crate::memory::{Estimate, F32, product};
use bcl_data::graphs::GraphData;
use bcl_recipe::{GraphDataConfig, GraphDataSource, GraphRecipe};

/// Edges and node labels of generated graphs.
pub(crate) fn data(config: &GraphDataConfig) -> Estimate {
    let Ok(GraphDataSource::Planted(config)) = config.source() else {
        return Estimate::default();
    };
    // A ring has as many edges as nodes, in both directions, and each node a label and an offset.
    let nodes = (config.graphs * (6 * config.rings + config.background)) as u64;
    Estimate::default().with(
        "nodes and edges",
        "data.planted.graphs, data.planted.rings or data.planted.background",
        product([2 * F32 + 16, nodes]),
    )
}

/// The weights with their gradients and moments, and the activations of the largest batch that certainly occurs.
pub(crate) fn training(recipe: &GraphRecipe, data: &GraphData) -> Estimate {
    let (encoder, method) = (recipe.encoder.config(), recipe.method.settings());
    let parameters = encoder.num_parameters(data.num_features()) + method.head_parameters(encoder);
    let weights = Estimate::default().with(
        format!("{parameters} weights with gradients and optimizer state"),
        "encoder.hidden or encoder.layers",
        product([F32, 2 + recipe.optimizer.num_moments(), parameters]),
    );
    if recipe.training.epochs == 0 {
        return weights;
    }
    let nodes = nodes_of_a_batch(recipe, data);
    let encoded = method.num_encoded(nodes);
    let graphs = recipe.training.batch_size.min(data.num_graphs());
    let negatives = method.num_negatives(graphs) as u64;
    let anchors = method.num_anchors(nodes, graphs as u64);
    let compared = recipe
        .training
        .gradient_cache
        .map_or(anchors, |at_most| anchors.min(at_most as u64));
    weights
        .with(
            format!("the activations of {encoded} nodes, saved for backward"),
            "training.batch_size, training.max_nodes or encoder.hidden",
            product([F32, encoded, encoder.saved_per_node(data.num_features())]),
        )
        .with(
            format!("the scores of {compared} anchors with {negatives} negatives each, and their gradient"),
            "training.batch_size, training.max_nodes or training.gradient_cache",
            product([2, F32, compared, negatives]),
        )
}

/// The mean number of nodes of a full batch, which some batch of every epoch reaches, up to the limit.
fn nodes_of_a_batch(recipe: &GraphRecipe, data: &GraphData) -> u64 {
    let graphs = recipe.training.batch_size.min(data.num_graphs());
    let mean = graphs * data.num_nodes() / data.num_graphs();
    // A batch ends before the limit, by less than a graph.
    recipe.training.max_nodes.map_or(mean, |most| mean.min(most / 2)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_recipe::from_toml;

    fn bytes(more: &str) -> u64 {
        let text = format!("data.dataset = 'planted'\nloss.kind = 'info_nce'\nencoder.kind = 'gin'\n{more}");
        let recipe: GraphRecipe = from_toml(&text, "a", &[]).unwrap();
        training(&recipe, &bcl_data::graphs::PlantedGraphsConfig::default().generate()).bytes()
    }

    #[test]
    fn larger_batches_and_networks_need_more_and_limits_need_less() {
        let all = bytes("");
        assert!(bytes("training.batch_size = 64") < all);
        assert!(bytes("training.max_nodes = 500") < all);
        assert!(bytes("training.gradient_cache = 100") < all);
        assert!(bytes("encoder.hidden = 64") > all);
        assert!(bytes("training.epochs = 0") < all / 3);
    }

    #[test]
    fn both_views_of_graphs_are_counted() {
        let views = |ratio: f64| bytes(&format!("method = {{ kind = 'graphcl', views.ratio = {ratio} }}"));
        assert!(views(0.2) < views(0.0));
        let one_batch = bytes("method.kind = 'graphcl'\ntraining.batch_size = 150");
        assert!(one_batch < bytes("method.kind = 'graphcl'\ntraining.batch_size = 300"));
        let activations = |text: &str| bytes(text) - bytes(&format!("{text}\ntraining.epochs = 0"));
        let [nodes, both] = ["", "method = { kind = 'graphcl', views.ratio = 0.0 }"].map(activations);
        assert!(both > nodes, "{both} is not more than {nodes}");
    }

    #[test]
    fn generated_graphs_are_counted_before_they_are_drawn() {
        let text = "data.dataset = 'planted'\ndata.planted.graphs = 500000\nloss.kind = 'info_nce'\nencoder.kind = 'gin'";
        let recipe: GraphRecipe = from_toml(text, "a", &[]).unwrap();
        assert_eq!(data(&recipe.data).bytes(), 24 * 36 * 500_000);
    }
}
