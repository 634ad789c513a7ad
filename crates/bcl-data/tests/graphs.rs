//! Graphs are read as they were written, get the features of their options, and are divided into batches.

mod graphs_support;

use bcl_data::Seed;
use bcl_data::graphs::{
    GraphBatchLimits, GraphData, GraphOptions, LabelledGraph, NodeFeatures, load_graphs, load_graphs_with_report,
};
use graphs_support::{folder, gzip, mini, tar, zip};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fmt::Write as _;

fn read(files: &[(String, Vec<u8>)], options: GraphOptions) -> GraphData {
    load_graphs("mini", folder(files).path(), &options).unwrap()
}

/// The files of the small data set with one of them replaced.
fn with(part: &str, content: &str) -> Vec<(String, Vec<u8>)> {
    let name = format!("MINI_{part}.txt");
    let mut files = mini();
    files.retain(|(other, _)| *other != name);
    files.push((name, content.as_bytes().to_vec()));
    files
}

fn without(parts: &[&str]) -> Vec<(String, Vec<u8>)> {
    let mut files = mini();
    files.retain(|(name, _)| !parts.iter().any(|part| *name == format!("MINI_{part}.txt")));
    files
}

fn features(features: NodeFeatures, node_attributes: bool) -> GraphOptions {
    GraphOptions {
        features,
        node_attributes,
        symmetrise: false,
    }
}

/// The features of all nodes, in order.
fn rows(data: &GraphData) -> Vec<Vec<f32>> {
    let graphs = (0..data.num_graphs() as u32).map(|index| data.graph(index));
    graphs
        .flat_map(|graph| (0..graph.num_nodes() as u32).map(move |node| graph.features(node)))
        .collect()
}

fn one_hot(columns: &[usize], width: usize) -> Vec<Vec<f32>> {
    let row = |&column: &usize| (0..width).map(|other| f32::from(u8::from(other == column))).collect();
    columns.iter().map(row).collect()
}

#[test]
fn nodes_come_from_the_indicator_so_isolated_ones_at_the_end_of_a_graph_count() {
    let (data, report) = load_graphs_with_report("mini", folder(&mini()).path(), &GraphOptions::default()).unwrap();
    assert_eq!(data.node_offsets(), [0, 3, 7, 9]);
    assert_eq!((data.num_edges(), data.num_directed_edges()), (5, 10));
    assert_eq!(data.graph(1).neighbours(1), [0, 2]);
    assert_eq!(data.graph(1).neighbours(3), [0_u32; 0]);
    assert_eq!(data.degrees(), [1, 2, 1, 1, 2, 1, 0, 1, 1]);
    assert_eq!((report.edge_lines, report.isolated_nodes), (10, 1));
}

#[test]
fn classes_are_the_labels_in_ascending_order() {
    let data = read(&mini(), GraphOptions::default());
    assert_eq!(
        (data.classes(), data.labels()),
        (&["-1".to_string(), "1".to_string()][..], &[1, 0, 1][..])
    );
    let data = read(&with("graph_labels", "10\n9\n-3\n"), GraphOptions::default());
    assert_eq!(
        (data.classes().join(" "), data.labels()),
        ("-3 9 10".to_string(), &[2, 1, 0][..])
    );
}

#[test]
fn self_loops_and_repeats_are_dropped_and_counted() {
    let plain = read(&without(&["edge_labels"]), GraphOptions::default());
    let mut files = with(
        "A",
        "9, 8\n1, 2\n2, 2\n2, 1\n2, 3\n1, 2\n3, 2\n4, 5\n5, 4\n5, 6\n6, 5\n8, 9\n7, 7\n7, 7\n",
    );
    files.retain(|(name, _)| name != "MINI_edge_labels.txt");
    let (data, report) = load_graphs_with_report("mini", folder(&files).path(), &GraphOptions::default()).unwrap();
    assert_eq!(data, plain, "the order of lines does not matter either");
    assert_eq!(
        (report.edge_lines, report.self_loops, report.repeats, report.isolated_nodes),
        (14, 3, 1, 1)
    );
}

#[test]
fn edges_of_one_direction_are_completed_on_request() {
    let files = with("A", "2, 1\n2, 3\n4, 5\n5, 4\n6, 5\n9, 8\n");
    let files: Vec<_> = files.into_iter().filter(|(name, _)| name != "MINI_edge_labels.txt").collect();
    let options = GraphOptions {
        symmetrise: true,
        ..GraphOptions::default()
    };
    let (data, report) = load_graphs_with_report("mini", folder(&files).path(), &options).unwrap();
    assert_eq!(data, read(&without(&["edge_labels"]), GraphOptions::default()));
    assert_eq!(report.added_reverses, 4);

    let error = load_graphs("mini", folder(&files).path(), &GraphOptions::default())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("MINI_A.txt:1: the edge `2, 1` has no line `1, 2`; 4 edge(s)"),
        "{error}"
    );
}

#[test]
fn edge_labels_stay_with_their_edges() {
    // Sorted by node, the edges are 1-2, 2-1, 2-3, 3-2, ...; here their lines are not.
    let mut files = with("A", "3, 2\n9, 8\n1, 2\n2, 1\n2, 3\n4, 5\n5, 4\n5, 6\n6, 5\n8, 9\n2, 3\n");
    files.retain(|(name, _)| name != "MINI_edge_labels.txt");
    files.push((
        "MINI_edge_labels.txt".into(),
        b"32\n98\n12\n21\n23\n45\n54\n56\n65\n89\n0\n".to_vec(),
    ));
    let data = read(&files, GraphOptions::default());
    assert_eq!(data.edge_labels().unwrap(), [12, 21, 23, 32, 45, 54, 56, 65, 89, 98]);

    let mut one_way = with("A", "2, 1\n2, 3\n4, 5\n5, 6\n8, 9\n");
    one_way.retain(|(name, _)| name != "MINI_edge_labels.txt");
    one_way.push(("MINI_edge_labels.txt".into(), b"1\n2\n3\n4\n5\n".to_vec()));
    let options = GraphOptions {
        symmetrise: true,
        ..GraphOptions::default()
    };
    assert_eq!(read(&one_way, options).edge_labels().unwrap(), [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]);
}

#[test]
fn gaps_between_node_labels_keep_their_columns_and_labels_may_start_anywhere() {
    let data = read(&mini(), GraphOptions::default());
    assert_eq!(data.num_features(), 5, "labels 2 to 6");
    assert_eq!(rows(&data), one_hot(&[0, 1, 4, 0, 1, 4, 0, 1, 4], 5));
    assert_eq!(data.node_labels().unwrap()[..3], [2, 3, 6]);
    assert_eq!(data.graph(2).node_labels().unwrap(), [3, 6]);

    let negative = read(&with("node_labels", "-2\n1\n0\n0\n0\n0\n0\n0\n0\n"), GraphOptions::default());
    assert_eq!(rows(&negative)[..3], one_hot(&[0, 3, 2], 4)[..]);
}

#[test]
fn graphs_without_node_labels_get_their_degree() {
    let data = read(&without(&["node_labels"]), GraphOptions::default());
    assert_eq!(rows(&data), one_hot(&[1, 2, 1, 1, 2, 1, 0, 1, 1], 3));
    assert_eq!(rows(&data), rows(&read(&mini(), features(NodeFeatures::Degree, false))));
}

#[test]
fn attributes_are_off_by_default_and_come_before_labels() {
    let plain = read(&mini(), GraphOptions::default());
    assert_eq!((plain.num_features(), plain.num_node_attributes()), (5, 2));
    let data = read(&mini(), features(NodeFeatures::Auto, true));
    assert_eq!(data.num_features(), 7);
    assert_eq!(rows(&data)[2], [2.5, 1000.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
    assert_eq!(data.node_attributes().unwrap()[..4], [0.5, 1.0, 1.5, -2.0]);

    let alone = read(&without(&["node_labels"]), features(NodeFeatures::Auto, true));
    assert_eq!(rows(&alone)[1], [1.5, -2.0], "attributes replace the degree");
    let both = read(&mini(), features(NodeFeatures::Degree, true));
    assert_eq!(rows(&both)[1], [1.5, -2.0, 0.0, 0.0, 1.0]);
}

#[test]
fn constant_features_are_one() {
    assert_eq!(
        rows(&read(&mini(), features(NodeFeatures::Constant, false))),
        vec![vec![1.0]; 9]
    );
}

/// A star with `leaves` leaves beside an edge.
fn star(leaves: u32) -> GraphData {
    let star = LabelledGraph {
        num_nodes: leaves + 1,
        edges: (1..=leaves).map(|leaf| (0, leaf)).collect(),
        node_labels: vec![0; leaves as usize + 1],
        class: 0,
    };
    let edge = LabelledGraph {
        num_nodes: 2,
        edges: vec![(1, 0)],
        node_labels: vec![0; 2],
        class: 1,
    };
    let data = GraphData::from_graphs("star", ["star", "edge"], [star, edge]);
    data.with_features(NodeFeatures::Degree, false).unwrap()
}

#[test]
fn degrees_from_1000_on_are_one_standardised_column() {
    assert_eq!(star(999).num_features(), 1000);
    let data = star(1000);
    assert_eq!(data.num_features(), 1);
    let values: Vec<f64> = rows(&data).iter().map(|row| f64::from(row[0])).collect();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    let std = (squares / (values.len() as f64 - 1.0)).sqrt();
    assert!(mean.abs() < 1e-6 && (std - 1.0).abs() < 1e-6, "{mean} {std}");
    assert!(values[0] > 30.0 && values[1] < 0.0);
}

#[test]
fn folders_and_archives_of_any_kind_are_equal() {
    let plain = read(&mini(), GraphOptions::default());
    let below: Vec<_> = mini()
        .into_iter()
        .map(|(name, content)| (format!("MINI/{name}"), content))
        .collect();
    let mut messy = below.clone();
    messy.push(("__MACOSX/MINI/._MINI_A.txt".into(), b"\0\x05\x16\x07".to_vec()));
    messy.push(("MINI/README.txt".into(), b"Words.".to_vec()));
    messy.push(("MINI/MINI_edge_attributes.txt".into(), b"anything".to_vec()));
    messy.reverse();
    let dir = tempfile::tempdir().unwrap();
    for (name, bytes) in [
        ("a.zip", zip(&below)),
        ("b.tar", tar(&below)),
        ("c.tar.gz", gzip(&tar(&below))),
        ("d.zip", zip(&messy)),
        ("e.tgz", gzip(&tar(&messy))),
        ("f.zip", zip(&mini())),
    ] {
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(load_graphs("mini", &path, &GraphOptions::default()).unwrap(), plain, "{name}");
    }
    let gzipped: Vec<_> = mini()
        .into_iter()
        .map(|(name, content)| (format!("{name}.gz"), gzip(&content)))
        .collect();
    assert_eq!(read(&gzipped, GraphOptions::default()), plain);
}

#[test]
fn windows_line_ends_byte_order_marks_spaces_and_final_blank_lines_are_no_values() {
    let messy: Vec<_> = mini()
        .into_iter()
        .map(|(name, content)| {
            let text = String::from_utf8(content).unwrap().replace('\n', " \r\n").replace(", ", ",");
            (name, format!("\u{feff}{text}\r\n\n").into_bytes())
        })
        .collect();
    assert_eq!(read(&messy, GraphOptions::default()), read(&mini(), GraphOptions::default()));
}

#[test]
fn a_shuffled_order_is_a_permutation_that_depends_on_the_seed() {
    let data = star(3);
    assert_eq!(
        data.shuffled(Seed(1)).into_iter().collect::<BTreeSet<_>>(),
        BTreeSet::from([0, 1])
    );
    let graphs = (0..50).map(|_| LabelledGraph {
        num_nodes: 1,
        node_labels: vec![0],
        ..LabelledGraph::default()
    });
    let data = GraphData::from_graphs("many", ["one"], graphs);
    assert_eq!(data.shuffled(Seed(1)), data.shuffled(Seed(1)));
    assert_ne!(data.shuffled(Seed(1)), data.shuffled(Seed(2)));
}

fn labelled_graph() -> impl Strategy<Value = LabelledGraph> {
    (1_u32..9).prop_flat_map(|num_nodes| {
        let edges = prop::collection::vec((0..num_nodes, 0..num_nodes), 0..12);
        let node_labels = prop::collection::vec(-1_i64..4, num_nodes as usize);
        (edges, node_labels, 0_u32..2).prop_map(move |(edges, node_labels, class)| LabelledGraph {
            num_nodes,
            edges,
            node_labels,
            class,
        })
    })
}

fn graphs() -> impl Strategy<Value = Vec<LabelledGraph>> {
    prop::collection::vec(labelled_graph(), 2..12)
}

/// The text of a collection, with every edge in both directions.
fn written(graphs: &[LabelledGraph]) -> Vec<(String, Vec<u8>)> {
    let (mut edges, mut indicator, mut labels, mut node_labels) = (String::new(), String::new(), String::new(), String::new());
    let mut first = 1;
    for (graph, id) in graphs.iter().zip(1..) {
        for (a, b) in graph.edges.iter().map(|(a, b)| (a + first, b + first)) {
            writeln!(edges, "{a}, {b}\n{b}, {a}").unwrap();
        }
        for label in &graph.node_labels {
            writeln!(indicator, "{id}").unwrap();
            writeln!(node_labels, "{label}").unwrap();
        }
        writeln!(labels, "{}", graph.class).unwrap();
        first += graph.num_nodes;
    }
    [
        ("A", edges),
        ("graph_indicator", indicator),
        ("graph_labels", labels),
        ("node_labels", node_labels),
    ]
    .map(|(part, text)| (format!("X_{part}.txt"), text.into_bytes()))
    .into()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_written_is_read_back(mut graphs in graphs()) {
        graphs[0].class = 0;
        graphs[1].class = 1;
        graphs[0].num_nodes += 1;
        graphs[0].node_labels.push(0);
        graphs[0].edges.push((0, 1));
        // If no graph after the first had edges, its ids would seem to start anew in each.
        let last = graphs.last_mut().unwrap();
        last.num_nodes += 1;
        last.node_labels.push(0);
        last.edges.push((0, 1));
        let expected = GraphData::from_graphs("x", ["0", "1"], graphs.clone());
        let data = load_graphs("x", folder(&written(&graphs)).path(), &GraphOptions::default()).unwrap();
        prop_assert_eq!(data, expected);
    }

    #[test]
    fn a_batch_is_the_graphs_side_by_side(graphs in graphs(), seed in 0_u64..100) {
        let data = GraphData::from_graphs("x", ["0", "1"], graphs);
        let order = data.shuffled(Seed(seed));
        let batch = data.batch(&order);
        prop_assert_eq!(batch.num_graphs(), data.num_graphs());
        prop_assert_eq!(batch.num_nodes(), data.num_nodes());
        prop_assert_eq!(batch.neighbours.len(), data.num_directed_edges());
        prop_assert!(batch.node_graph.is_sorted());
        for (position, &index) in order.iter().enumerate() {
            let graph = data.graph(index);
            let first = batch.node_offsets[position];
            prop_assert_eq!(batch.node_offsets[position + 1] - first, graph.num_nodes());
            prop_assert_eq!(Some(batch.labels[position]), graph.class());
            for node in 0..graph.num_nodes() as u32 {
                let at = first + node as usize;
                prop_assert_eq!(batch.node_graph[at] as usize, position);
                let row = &batch.neighbours[batch.edge_offsets[at]..batch.edge_offsets[at + 1]];
                let local: Vec<u32> = row.iter().map(|neighbour| neighbour - first as u32).collect();
                prop_assert_eq!(&local, graph.neighbours(node));
                let width = batch.num_features;
                prop_assert_eq!(&batch.features[at * width..(at + 1) * width], graph.features(node));
                // Symmetric: the matrix is its own transpose.
                for &neighbour in graph.neighbours(node) {
                    prop_assert!(neighbour != node && graph.neighbours(neighbour).contains(&node));
                }
            }
        }
    }

    #[test]
    fn batches_keep_their_limits_and_the_order(graphs in graphs(), most in 2_usize..6, nodes in prop::option::of(1_usize..30)) {
        let data = GraphData::from_graphs("x", ["0", "1"], graphs);
        let order = data.shuffled(Seed(3));
        let limits = GraphBatchLimits::new(most, nodes);
        let size = |part: &std::ops::Range<usize>| order[part.clone()].iter().map(|&graph| data.nodes_of(graph)).sum::<usize>();
        for (least, batches) in [(2, limits.for_training(&data, &order)), (1, limits.for_embedding(&data, &order))] {
            let mut end = 0;
            for part in &batches {
                prop_assert_eq!(part.start, end);
                end = part.end;
                prop_assert!((least..=most).contains(&part.len()));
                prop_assert!(part.len() == least || nodes.is_none_or(|nodes| size(part) <= nodes));
            }
            // Only a single graph at the end may be left out, and only in training.
            prop_assert!(order.len() - end < least);
            // No batch could have taken the next graph, too.
            for pair in batches.windows(2) {
                let longer = pair[0].start..pair[0].end + 1;
                prop_assert!(pair[0].len() == most || nodes.is_some_and(|nodes| size(&longer) > nodes));
            }
        }
    }
}

#[test]
fn an_empty_order_has_no_batches_and_a_single_graph_none_in_training() {
    let data = star(3);
    let limits = GraphBatchLimits::new(2, None);
    assert!(limits.for_training(&data, &[]).is_empty() && limits.for_embedding(&data, &[]).is_empty());
    assert!(limits.for_training(&data, &[1]).is_empty());
    assert_eq!(limits.for_embedding(&data, &[1]), std::iter::once(0..1).collect::<Vec<_>>());
}

#[test]
#[should_panic(expected = "must have room for 2 graphs")]
fn a_limit_of_one_graph_is_refused() {
    GraphBatchLimits::new(1, None);
}

#[test]
#[should_panic(expected = "graph is 2, but must be below 2")]
fn a_batch_of_a_graph_that_does_not_exist_is_refused() {
    star(3).batch(&[0, 2]);
}

#[test]
#[should_panic(expected = "graph 0 has no nodes")]
fn a_graph_needs_a_node() {
    GraphData::from_graphs("x", ["0"], [LabelledGraph::default()]);
}
