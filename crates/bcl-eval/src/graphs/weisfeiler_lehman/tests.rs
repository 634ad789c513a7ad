//! The kernel against counts of explicit trees, and its known limits.

use super::*;
use crate::graphs::{label_counts, sizes};
use bcl_data::Seed;
use faer::{Mat, Side};
use rand::{RngExt, seq::SliceRandom};
use std::collections::BTreeMap;

/// A graph that owns its lists.
#[derive(Debug, Clone)]
struct Owned {
    offsets: Vec<usize>,
    neighbours: Vec<u32>,
    labels: Vec<u32>,
}

impl Owned {
    fn new(labels: Vec<u32>, edges: &[(u32, u32)]) -> Self {
        let mut lists = vec![Vec::new(); labels.len()];
        for &(one, other) in edges {
            lists[one as usize].push(other);
            lists[other as usize].push(one);
        }
        let mut offsets = vec![0];
        offsets.extend(lists.iter().scan(0, |end, list| {
            *end += list.len();
            Some(*end)
        }));
        Self {
            offsets,
            neighbours: lists.concat(),
            labels,
        }
    }

    /// A ring of nodes with equal labels.
    fn ring(length: u32) -> Vec<(u32, u32)> {
        (0..length).map(|node| (node, (node + 1) % length)).collect()
    }

    fn random(seed: u64) -> Self {
        let mut rng = Seed(seed).named("graph").rng();
        let num_nodes: u32 = rng.random_range(1..12);
        let labels = (0..num_nodes).map(|_| 5 * rng.random_range(0..3)).collect();
        let pairs = (0..num_nodes).flat_map(|one| (0..one).map(move |other| (one, other)));
        let edges: Vec<_> = pairs.filter(|_| rng.random::<f64>() < 0.3).collect();
        Self::new(labels, &edges)
    }

    fn graph(&self) -> LabelledGraph<'_> {
        LabelledGraph::new(&self.offsets, &self.neighbours, Some(&self.labels))
    }

    /// The tree of walks of `depth` edges from a node, written out with the branches of each node in order.
    fn tree(&self, node: usize, depth: usize) -> String {
        if depth == 0 {
            return self.labels[node].to_string();
        }
        let neighbours = &self.neighbours[self.offsets[node]..self.offsets[node + 1]];
        let mut branches: Vec<String> = neighbours.iter().map(|&other| self.tree(other as usize, depth - 1)).collect();
        branches.sort();
        format!("{}({})", self.tree(node, depth - 1), branches.join(","))
    }

    fn trees(&self, depth: usize) -> BTreeMap<String, f64> {
        let mut counts = BTreeMap::new();
        for node in 0..self.labels.len() {
            *counts.entry(self.tree(node, depth)).or_insert(0.0) += 1.0;
        }
        counts
    }
}

fn kernels(graphs: &[Owned], rounds: usize) -> Vec<Kernel> {
    let graphs: Vec<LabelledGraph> = graphs.iter().map(Owned::graph).collect();
    weisfeiler_lehman(&graphs, rounds)
}

#[test]
fn products_are_those_of_counted_trees() {
    let graphs: Vec<Owned> = (0..12).map(Owned::random).collect();
    let mut sums = vec![0.0; 144];
    for (depth, kernel) in kernels(&graphs, 3).iter().enumerate() {
        let counts: Vec<_> = graphs.iter().map(|graph| graph.trees(depth)).collect();
        for (at, sum) in sums.iter_mut().enumerate() {
            let [one, other] = [&counts[at / 12], &counts[at % 12]];
            *sum += one
                .iter()
                .map(|(tree, count)| count * other.get(tree).unwrap_or(&0.0))
                .sum::<f64>();
        }
        for (at, sum) in sums.iter().enumerate() {
            let expected = sum / (sums[at / 12 * 13] * sums[at % 12 * 13]).sqrt();
            assert!((kernel.row(at / 12)[at % 12] - expected).abs() < 1e-14, "depth {depth}");
        }
    }
}

#[test]
fn renumbered_nodes_have_kernel_one() {
    for seed in 0..20 {
        let graph = Owned::random(seed);
        let mut numbers: Vec<u32> = (0..graph.labels.len() as u32).collect();
        numbers.shuffle(&mut Seed(seed).rng());
        let mut labels = vec![0; numbers.len()];
        let mut edges = Vec::new();
        for (node, &number) in numbers.iter().enumerate() {
            labels[number as usize] = graph.labels[node];
            let neighbours = &graph.neighbours[graph.offsets[node]..graph.offsets[node + 1]];
            let edges_up = neighbours.iter().filter(|&&other| (other as usize) < node);
            edges.extend(edges_up.map(|&other| (number, numbers[other as usize])));
        }
        for kernel in kernels(&[graph, Owned::new(labels, &edges)], 4) {
            assert_eq!(kernel.row(0), [1.0, 1.0], "seed {seed}");
        }
    }
}

#[test]
fn a_ring_of_six_equals_two_triangles() {
    // No number of rounds tells regular graphs of the same degree apart: the known limit of the test.
    let triangles = [Owned::ring(3), vec![(3, 4), (4, 5), (5, 3)]].concat();
    let graphs = [Owned::new(vec![1; 6], &Owned::ring(6)), Owned::new(vec![1; 6], &triangles)];
    for kernel in kernels(&graphs, 5) {
        assert_eq!(kernel.row(0), [1.0, 1.0]);
    }
}

#[test]
fn a_round_sees_one_more_edge_away() {
    // Two paths of seven nodes; the last label differs. A node at distance r from it is told apart after r rounds.
    let path: Vec<(u32, u32)> = (0..6).map(|node| (node, node + 1)).collect();
    let graphs = [Owned::new(vec![0; 7], &path), Owned::new(vec![0, 0, 0, 0, 0, 0, 1], &path)];
    let found = kernels(&graphs, 6);
    let values: Vec<f64> = found.iter().map(|kernel| kernel.row(0)[1]).collect();
    assert!(values.is_sorted_by(|a, b| a > b), "{values:?}");
}

#[test]
fn kernels_are_positive_semidefinite() {
    let graphs: Vec<Owned> = (0..30).map(Owned::random).collect();
    for kernel in kernels(&graphs, 3) {
        let matrix = Mat::from_fn(30, 30, |row, column| kernel.row(row)[column]);
        let values = matrix.self_adjoint_eigenvalues(Side::Lower).unwrap();
        assert!(values[0] > -1e-12, "{}", values[0]);
    }
}

#[test]
fn round_zero_is_the_cosine_of_label_counts() {
    let graphs: Vec<Owned> = (0..8).map(Owned::random).collect();
    let labelled: Vec<LabelledGraph> = graphs.iter().map(Owned::graph).collect();
    let counts = label_counts(&labelled);
    let kernel = &weisfeiler_lehman(&labelled, 0)[0];
    let products = Kernel::linear(&counts);
    for one in 0..8 {
        for other in 0..8 {
            let cosine = products.row(one)[other] / (products.row(one)[one] * products.row(other)[other]).sqrt();
            assert!((kernel.row(one)[other] - cosine).abs() < 1e-14);
        }
    }
}

#[test]
fn without_labels_degrees_are_labels() {
    let graphs: Vec<Owned> = (0..8).map(Owned::random).collect();
    let with_degrees = graphs.iter().map(|graph| Owned {
        labels: graph.offsets.windows(2).map(|pair| (pair[1] - pair[0]) as u32).collect(),
        ..graph.clone()
    });
    let with_degrees: Vec<Owned> = with_degrees.collect();
    let unlabelled: Vec<LabelledGraph> = graphs
        .iter()
        .map(|graph| LabelledGraph::new(&graph.offsets, &graph.neighbours, None))
        .collect();
    assert_eq!(weisfeiler_lehman(&unlabelled, 2), kernels(&with_degrees, 2));
}

#[test]
fn a_graph_without_nodes_has_kernel_zero() {
    let graphs = [Owned::new(Vec::new(), &[]), Owned::new(vec![1], &[])];
    for kernel in kernels(&graphs, 1) {
        assert_eq!([kernel.row(0), kernel.row(1)], [[0.0, 0.0], [0.0, 1.0]]);
    }
}

#[test]
fn offsets_may_start_anywhere() {
    let graph = Owned::random(5);
    let shifted: Vec<usize> = graph.offsets.iter().map(|offset| offset + 1000).collect();
    let shifted = LabelledGraph::new(&shifted, &graph.neighbours, Some(&graph.labels));
    assert_eq!(weisfeiler_lehman(&[shifted, graph.graph()], 3)[3].row(0), [1.0, 1.0]);
    assert_eq!(sizes(&[shifted]), sizes(&[graph.graph()]));
}

#[test]
#[should_panic(expected = "neighbour 2 is not one of 2 nodes")]
fn a_neighbour_beyond_the_nodes_panics() {
    LabelledGraph::new(&[0, 1, 2], &[1, 2], None);
}
