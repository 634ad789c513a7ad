//! Estimates the memory of a run of a graph encoder.

use crate::memory::{Estimate, F32, product};
use bcl_data::graphs::GraphData;
use bcl_eval::graphs::GraphClassifier;
use bcl_recipe::{GraphBaselineKind, GraphDataConfig, GraphDataSource, GraphEvaluationConfig, GraphRecipe};

/// Bytes of a number of a kernel.
const F64: u64 = 8;

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

/// The weights with their gradients and moments, and the larger of a step and the evaluation.
pub(crate) fn training(recipe: &GraphRecipe, data: &GraphData) -> Estimate {
    let (encoder, method) = (recipe.encoder.config(), recipe.method.settings());
    let parameters = encoder.num_parameters(data.num_features()) + method.head_parameters(encoder);
    let weights = Estimate::default().with(
        format!("{parameters} weights with gradients and optimizer state"),
        "encoder.hidden or encoder.layers",
        product([F32, 2 + recipe.optimizer.num_moments(), parameters]),
    );
    let step = match recipe.training.epochs {
        0 => Estimate::default(),
        _ => step(recipe, data),
    };
    weights.with_larger(step, evaluation(&recipe.evaluation, data))
}

/// The activations of the largest batch that certainly occurs, and its scores.
fn step(recipe: &GraphRecipe, data: &GraphData) -> Estimate {
    let (encoder, method) = (recipe.encoder.config(), recipe.method.settings());
    // A batch ends before the limit, by less than a graph.
    let graphs = graphs_of_a_batch(recipe, data, recipe.training.max_nodes.map(|most| most / 2));
    // The mean number of nodes, which some batch of every epoch reaches.
    let nodes = (graphs * data.num_nodes() / data.num_graphs()) as u64;
    let encoded = method.num_encoded(nodes);
    let negatives = method.num_negatives(graphs) as u64;
    let anchors = method.num_anchors(nodes, graphs as u64);
    let compared = recipe
        .training
        .gradient_cache
        .map_or(anchors, |at_most| anchors.min(at_most as u64));
    Estimate::default()
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

/// The number of graphs in a full batch; with a limit on nodes, of graphs of mean size.
pub(super) fn graphs_of_a_batch(recipe: &GraphRecipe, data: &GraphData, most_nodes: Option<usize>) -> usize {
    let graphs = recipe.training.batch_size.min(data.num_graphs());
    let within = most_nodes.map(|most| most.saturating_mul(data.num_graphs()) / data.num_nodes().max(1));
    // A batch has two graphs, even above the limit.
    within.map_or(graphs, |within| graphs.min(within.max(2)))
}

/// Matrices of one number for each pair of graphs: the kernels of Weisfeiler-Lehman with their sum, or the kernel of the training part of a fold.
fn evaluation(config: &GraphEvaluationConfig, data: &GraphData) -> Estimate {
    if !data.is_labelled() {
        return Estimate::default();
    }
    let graphs = data.num_graphs() as u64;
    let is_rbf = |kind: &GraphClassifier| matches!(kind, GraphClassifier::RbfSvm | GraphClassifier::RbfSvmRaw);
    let mut largest = 0;
    if config.classifiers.iter().any(is_rbf) {
        let of_fold = graphs - graphs / config.folds as u64;
        largest = product([F64, of_fold, of_fold]);
    }
    if config.baselines.contains(&GraphBaselineKind::WeisfeilerLehman) {
        largest = largest.max(product([F64, config.wl_rounds as u64 + 2, graphs, graphs]));
    }
    Estimate::default().with_in_main(
        format!("the kernels of {graphs} graphs"),
        "evaluation.wl_rounds, or leave weisfeiler_lehman out of evaluation.baselines and use linear_svm in evaluation.classifiers",
        largest,
    )
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
        assert!(bytes("training.epochs = 0") < all);
    }

    #[test]
    fn kernels_of_all_pairs_of_graphs_are_counted() {
        let graphs = bcl_data::graphs::PlantedGraphsConfig::default().generate();
        let needed = |more: &str| {
            let text = format!("data.dataset = 'planted'\nloss.kind = 'info_nce'\nencoder.kind = 'gin'\n{more}");
            let recipe: GraphRecipe = from_toml(&text, "a", &[]).unwrap();
            evaluation(&recipe.evaluation, &graphs).bytes()
        };
        let pairs = (graphs.num_graphs() * graphs.num_graphs()) as u64;
        assert_eq!(
            needed("evaluation = { baselines = ['weisfeiler_lehman'], wl_rounds = 3 }"),
            5 * 8 * pairs
        );
        let fold = graphs.num_graphs() as u64 * 9 / 10;
        assert_eq!(
            needed("evaluation = { baselines = [], classifiers = ['rbf_svm'], folds = 10 }"),
            8 * fold * fold
        );
        assert_eq!(needed("evaluation = { baselines = [], classifiers = ['linear_svm'] }"), 0);
    }

    #[test]
    fn a_limit_on_nodes_bounds_graphs_and_scores() {
        let graphs = bcl_data::graphs::PlantedGraphsConfig::default().generate();
        let text = "data.dataset = 'planted'\nloss.kind = 'info_nce'\nencoder.kind = 'gin'\ntraining.batch_size = 300";
        let recipe: GraphRecipe = from_toml(text, "a", &[]).unwrap();
        let mean = graphs.num_nodes() / graphs.num_graphs();
        assert_eq!(graphs_of_a_batch(&recipe, &graphs, None), 300.min(graphs.num_graphs()));
        assert_eq!(
            graphs_of_a_batch(
                &recipe,
                &graphs,
                Some((10 * graphs.num_nodes()).div_ceil(graphs.num_graphs()))
            ),
            10
        );
        assert_eq!(graphs_of_a_batch(&recipe, &graphs, Some(mean / 2)), 2);
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
