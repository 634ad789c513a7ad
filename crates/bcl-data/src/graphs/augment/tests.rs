//! What each operation keeps and changes, and what its draws depend on.

use super::{GraphAugmentation, GraphView, GraphViewsConfig};
use crate::{
    Seed,
    graphs::{Graph, GraphData, LabelledGraph, PlantedGraphsConfig},
};

const RATIOS: [f64; 4] = [0.0, 0.2, 0.5, 0.99];

/// Planted graphs, and graphs at the edges: a single node, an edge, two isolated nodes, a triangle with a path beside it, and all pairs of five
/// nodes. The labels of nodes are their numbers.
fn graphs() -> GraphData {
    let planted = PlantedGraphsConfig {
        graphs: 6,
        ..PlantedGraphsConfig::default()
    }
    .generate();
    let planted = (0..6).map(|graph| edges_of(planted.graph(graph)));
    let all_pairs = (0..5).flat_map(|b| (0..b).map(move |a| (a, b))).collect();
    let by_hand = [
        (1, vec![]),
        (2, vec![(0, 1)]),
        (2, vec![]),
        (6, vec![(0, 1), (1, 2), (0, 2), (3, 4), (4, 5)]),
        (5, all_pairs),
    ];
    let graphs = planted.chain(by_hand).map(|(num_nodes, edges)| LabelledGraph {
        num_nodes,
        edges,
        node_labels: (0..num_nodes.into()).collect(),
        class: 0,
    });
    GraphData::from_graphs("views", ["only"], graphs)
}

fn edges_of(graph: Graph<'_>) -> (u32, Vec<(u32, u32)>) {
    let nodes = 0..graph.num_nodes() as u32;
    let edges = nodes.flat_map(|a| graph.neighbours(a).iter().map(move |&b| (a, b)));
    (graph.num_nodes() as u32, edges.filter(|(a, b)| a < b).collect())
}

/// Calls a check with views of all graphs at several ratios and seeds.
fn for_each_view(operation: GraphAugmentation, check: impl Fn(Graph<'_>, f64, &GraphView)) {
    let data = graphs();
    for graph in (0..data.num_graphs() as u32).map(|graph| data.graph(graph)) {
        for ratio in RATIOS {
            for seed in 0..20 {
                check(graph, ratio, &operation.apply(graph, ratio, &mut Seed(seed).rng()));
            }
        }
    }
}

/// The node of the graph that a node of a view was. Its one-hot label tells.
fn node_in_graph(view: &GraphView, node: usize) -> u32 {
    let width = view.features().len() / view.num_nodes();
    let row = &view.features()[node * width..(node + 1) * width];
    assert_eq!(row.iter().sum::<f32>(), 1.0, "{row:?}");
    row.iter().position(|&value| value == 1.0).expect("a label") as u32
}

/// Checks that a view has exactly the edges of the graph between its nodes, each of which keeps its features.
fn assert_induced(graph: Graph<'_>, view: &GraphView) {
    let nodes: Vec<u32> = (0..view.num_nodes()).map(|node| node_in_graph(view, node)).collect();
    assert!(nodes.is_sorted_by(|a, b| a < b), "{nodes:?}");
    for (node, &old) in nodes.iter().enumerate() {
        let expected: Vec<u32> = graph
            .neighbours(old)
            .iter()
            .copied()
            .filter(|other| nodes.contains(other))
            .collect();
        let found: Vec<u32> = view.neighbours(node).iter().map(|&other| nodes[other as usize]).collect();
        assert_eq!(found, expected);
    }
}

fn rounded(ratio: f64, count: usize) -> usize {
    (ratio * count as f64).round() as usize
}

#[test]
fn every_operation_leaves_a_symmetric_graph_without_self_loops_and_repeats() {
    for operation in GraphAugmentation::ALL {
        for_each_view(operation, |_, _, view| {
            assert!(view.num_nodes() > 0);
            for node in 0..view.num_nodes() {
                let neighbours = view.neighbours(node);
                assert!(neighbours.is_sorted_by(|a, b| a < b), "{operation:?}: {neighbours:?}");
                for &other in neighbours {
                    assert_ne!(other as usize, node, "{operation:?}");
                    assert!(view.neighbours(other as usize).contains(&(node as u32)), "{operation:?}");
                }
            }
            let directed: usize = (0..view.num_nodes()).map(|node| view.neighbours(node).len()).sum();
            assert_eq!(view.num_edges(), directed / 2);
        });
    }
}

#[test]
fn identity_and_a_ratio_of_zero_change_nothing() {
    for operation in GraphAugmentation::ALL {
        for_each_view(operation, |graph, ratio, view| {
            let is_whole = operation == GraphAugmentation::Identity || ratio == 0.0 && operation != GraphAugmentation::Subgraph;
            if is_whole {
                assert_eq!(*view, GraphView::of(graph), "{operation:?}");
            }
        });
    }
}

#[test]
fn dropped_nodes_take_their_edges_with_them_and_one_node_remains() {
    for_each_view(GraphAugmentation::DropNodes, |graph, ratio, view| {
        let num_nodes = graph.num_nodes();
        assert_eq!(view.num_nodes(), (num_nodes - rounded(ratio, num_nodes)).max(1));
        assert_induced(graph, view);
    });
}

#[test]
fn perturbed_edges_are_replaced_by_pairs_that_were_not_joined() {
    for_each_view(GraphAugmentation::PerturbEdges, |graph, ratio, view| {
        let num_nodes = graph.num_nodes();
        assert_eq!(view.features(), GraphView::of(graph).features());
        let num_changed = rounded(ratio, graph.num_edges());
        let num_free = num_nodes * (num_nodes - 1) / 2 - graph.num_edges();
        let is_new = |node: usize, other: u32| !graph.neighbours(node as u32).contains(&other);
        let news = (0..num_nodes).flat_map(|node| view.neighbours(node).iter().filter(move |&&other| is_new(node, other)));
        let num_added = news.count() / 2;
        assert_eq!(num_added, num_changed.min(num_free));
        assert_eq!(view.num_edges(), graph.num_edges() - num_changed + num_added);
    });
}

#[test]
fn masked_nodes_have_normal_features_and_all_else_stays() {
    let mut draws = Vec::new();
    let data = graphs();
    for (seed, graph) in (0..200).flat_map(|seed| (0..6).map(move |graph| (seed, graph))) {
        let graph = data.graph(graph);
        let view = GraphAugmentation::MaskAttributes.apply(graph, 0.2, &mut Seed(seed).rng());
        let whole = GraphView::of(graph);
        let width = data.num_features();
        let rows = view.features().chunks(width).zip(whole.features().chunks(width));
        let masked: Vec<&[f32]> = rows.filter(|(row, before)| row != before).map(|(row, _)| row).collect();
        assert_eq!(masked.len(), rounded(0.2, graph.num_nodes()));
        assert!((0..graph.num_nodes()).all(|node| view.neighbours(node) == whole.neighbours(node)));
        draws.extend(masked.concat());
    }
    let count = draws.len() as f32;
    let mean = draws.iter().sum::<f32>() / count;
    let deviation = (draws.iter().map(|draw| (draw - mean).powi(2)).sum::<f32>() / count).sqrt();
    assert!(
        (mean - 0.5).abs() < 0.01 && (deviation - 0.5).abs() < 0.01,
        "{mean} ± {deviation}"
    );
}

#[test]
fn a_subgraph_is_connected_and_as_large_as_its_component_allows() {
    for_each_view(GraphAugmentation::Subgraph, |graph, ratio, view| {
        assert_induced(graph, view);
        assert_eq!(reached(0, |node| view.neighbours(node as usize)), view.num_nodes());
        let num_nodes = graph.num_nodes();
        let size = (num_nodes - rounded(ratio, num_nodes)).max(1);
        let component = reached(node_in_graph(view, 0), |node| graph.neighbours(node));
        assert_eq!(view.num_nodes(), size.min(component));
    });
}

/// The number of nodes of the connected component of a node.
fn reached<'a>(start: u32, neighbours: impl Fn(u32) -> &'a [u32]) -> usize {
    let mut found = vec![start];
    let mut next = 0;
    while let Some(&node) = found.get(next) {
        let new: Vec<u32> = neighbours(node)
            .iter()
            .copied()
            .filter(|other| !found.contains(other))
            .collect();
        found.extend(new);
        next += 1;
    }
    found.len()
}

#[test]
fn every_node_is_dropped_and_every_pair_joined_about_equally_often() {
    let path = LabelledGraph {
        num_nodes: 5,
        edges: vec![(0, 1), (1, 2), (2, 3), (3, 4)],
        node_labels: vec![0, 1, 2, 3, 4],
        class: 0,
    };
    let data = GraphData::from_graphs("path", ["only"], [path]);
    let (mut kept, mut added) = ([0; 5], [[0; 5]; 5]);
    for seed in 0..3000 {
        let view = GraphAugmentation::DropNodes.apply(data.graph(0), 0.4, &mut Seed(seed).rng());
        for node in 0..view.num_nodes() {
            kept[node_in_graph(&view, node) as usize] += 1;
        }
        let view = GraphAugmentation::PerturbEdges.apply(data.graph(0), 0.25, &mut Seed(seed).rng());
        for (a, b) in (0..5).flat_map(|a| (a + 2..5).map(move |b| (a, b))) {
            added[a][b] += i32::from(view.neighbours(a).contains(&(b as u32)));
        }
    }
    assert!(kept.iter().all(|&count: &i32| (count - 1800).abs() < 110), "{kept:?}");
    let free = [(0, 2), (0, 3), (0, 4), (1, 3), (1, 4), (2, 4)];
    assert!(free.iter().all(|&(a, b)| (added[a][b] - 500).abs() < 90), "{added:?}");
}

#[test]
fn a_subgraph_grows_into_every_neighbour_equally_often() {
    let star = LabelledGraph {
        num_nodes: 5,
        edges: vec![(0, 1), (0, 2), (0, 3), (0, 4)],
        node_labels: vec![0, 1, 2, 3, 4],
        class: 0,
    };
    let data = GraphData::from_graphs("star", ["only"], [star]);
    let mut kept = [0; 5];
    for seed in 0..3000 {
        let view = GraphAugmentation::Subgraph.apply(data.graph(0), 0.4, &mut Seed(seed).rng());
        for node in 0..view.num_nodes() {
            kept[node_in_graph(&view, node) as usize] += 1;
        }
    }
    assert_eq!(kept[0], 3000);
    assert!(kept[1..].iter().all(|&count: &i32| (count - 1500).abs() < 110), "{kept:?}");
}

#[test]
fn a_view_depends_on_its_seed_and_its_graph_but_not_on_the_batch() {
    let data = graphs();
    let config = GraphViewsConfig::default();
    let views = |graphs: &[u32], seed| config.batches(&data, graphs, Seed(seed));
    let both = views(&[3, 1], 0);
    assert_eq!(views(&[3, 1], 0), both);
    for (batch, alone) in both.iter().zip(views(&[1], 0)) {
        assert_eq!(batch.features[batch.node_offsets[1] * batch.num_features..], alone.features);
        let edges = batch.edge_offsets[batch.node_offsets[1]];
        let shifted: Vec<u32> = alone
            .neighbours
            .iter()
            .map(|node| node + batch.node_offsets[1] as u32)
            .collect();
        assert_eq!(batch.neighbours[edges..], shifted);
    }
    assert_ne!(views(&[3, 1], 1), both);
    assert_ne!(both[0], both[1]);
}

#[test]
fn views_without_changes_are_the_batch_itself() {
    let data = graphs();
    let config = GraphViewsConfig {
        first: vec![GraphAugmentation::Identity],
        second: vec![GraphAugmentation::Identity],
        ..GraphViewsConfig::default()
    };
    let order = [7, 0, 10, 6, 3];
    assert_eq!(
        config.batches(&data, &order, Seed(5)),
        [data.batch(&order), data.batch(&order)]
    );
}

#[test]
fn each_view_draws_its_operations_equally_often() {
    let data = graphs();
    let config = GraphViewsConfig {
        first: vec![GraphAugmentation::Identity],
        second: vec![
            GraphAugmentation::DropNodes,
            GraphAugmentation::PerturbEdges,
            GraphAugmentation::MaskAttributes,
        ],
        ratio: 0.5,
    };
    let whole = GraphView::of(data.graph(0));
    let mut counts = [0; 3];
    for seed in (0..3000).map(Seed) {
        assert_eq!(config.view(&data, 0, 0, seed), whole);
        let view = config.view(&data, 0, 1, seed);
        let has_all_nodes = view.num_nodes() == whole.num_nodes();
        let has_features = view.features() == whole.features();
        counts[usize::from(has_all_nodes) + usize::from(has_all_nodes && !has_features)] += 1;
    }
    assert!(counts.iter().all(|&count: &i32| (count - 1000).abs() < 100), "{counts:?}");
}

#[test]
fn views_without_operations_and_ratios_out_of_range_are_refused() {
    let config = |first, ratio| GraphViewsConfig {
        first,
        ratio,
        ..GraphViewsConfig::default()
    };
    let all = GraphAugmentation::ALL.to_vec();
    assert!(config(all.clone(), 0.0).check().is_ok());
    for (config, word) in [
        (config(Vec::new(), 0.2), "method.views.first is empty"),
        (config(all.clone(), 1.0), "method.views.ratio is 1"),
        (config(all, f64::NAN), "method.views.ratio is NaN"),
    ] {
        let error = config.check().unwrap_err().to_string();
        assert!(error.starts_with(word), "{error}");
    }
}
