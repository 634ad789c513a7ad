//! The Weisfeiler-Lehman subtree kernel.

#[cfg(test)]
mod tests;

use super::Kernel;
use std::collections::HashMap;

/// A graph as lists of neighbours, with optional node labels.
///
/// The neighbours of node v are `neighbours[offsets[v] - offsets[0]..offsets[v + 1] - offsets[0]]`, numbered within the graph, so
/// `offsets` may be a slice of the offsets of many graphs.
#[derive(Debug, Clone, Copy)]
pub struct LabelledGraph<'a> {
    offsets: &'a [usize],
    neighbours: &'a [u32],
    labels: Option<&'a [u32]>,
}

impl<'a> LabelledGraph<'a> {
    /// Creates a graph. Without labels, each node is labelled by its degree.
    ///
    /// # Panics
    /// Panics if offsets do not ascend over all neighbours, if a neighbour is not a node, or if the numbers of nodes and labels
    /// differ.
    pub fn new(offsets: &'a [usize], neighbours: &'a [u32], labels: Option<&'a [u32]>) -> Self {
        let (Some(first), Some(last)) = (offsets.first(), offsets.last()) else {
            panic!("there are no offsets; a graph of n nodes has n + 1");
        };
        assert!(offsets.is_sorted(), "offsets must ascend");
        assert_eq!(
            last - first,
            neighbours.len(),
            "the last offset must be the end of the neighbours"
        );
        let graph = Self {
            offsets,
            neighbours,
            labels,
        };
        let num_nodes = graph.num_nodes();
        if let Some(node) = neighbours.iter().find(|&&node| node as usize >= num_nodes) {
            panic!("neighbour {node} is not one of {num_nodes} nodes, counted from 0");
        }
        if let Some(labels) = labels {
            assert_eq!(labels.len(), num_nodes, "each node needs one label");
        }
        graph
    }

    /// Number of nodes.
    pub fn num_nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of entries in the lists of neighbours: twice the number of edges, if both directions are listed.
    pub fn num_neighbours(&self) -> usize {
        self.neighbours.len()
    }

    fn neighbours(&self, node: usize) -> &'a [u32] {
        let first = self.offsets[0];
        &self.neighbours[self.offsets[node] - first..self.offsets[node + 1] - first]
    }

    /// The label of a node, or its degree.
    pub(super) fn label(&self, node: usize) -> u32 {
        self.labels
            .map_or_else(|| self.neighbours(node).len() as u32, |labels| labels[node])
    }
}

/// The Weisfeiler-Lehman subtree kernel after 0, 1, …, `rounds` rounds, each normalised.
///
/// Colour 0 of a node is its label. Each round gives the same new colour to nodes with the same colour and the same multiset of
/// colours of neighbours. With `φ_r(G)` the number of nodes of each colour after round r,
///
/// ```text
/// k_h(G, H) = Σ_{r=0..h} φ_r(G)'φ_r(H)        K_h(G, H) = k_h(G, H) / √(k_h(G, G) k_h(H, H))
/// ```
///
/// A graph without nodes has kernel 0 with all graphs. Pass all kernels to
/// [`CrossValidator::kernels`](super::CrossValidator::kernels), which chooses the number of rounds.
///
/// "Weisfeiler-Lehman graph kernels" (Shervashidze et al., JMLR 2011), definition 4.
///
/// ```
/// use bcl_eval::graphs::{LabelledGraph, weisfeiler_lehman};
///
/// // A path of three nodes, and a triangle: the same labels, but other degrees.
/// let path = LabelledGraph::new(&[0, 1, 3, 4], &[1, 0, 2, 1], Some(&[7, 7, 7]));
/// let triangle = LabelledGraph::new(&[0, 2, 4, 6], &[1, 2, 0, 2, 0, 1], Some(&[7, 7, 7]));
/// let kernels = weisfeiler_lehman(&[path, triangle], 1);
/// assert_eq!(kernels[0].row(0), [1.0, 1.0]);
/// // Round 0: 3 · 3. Round 1: 1 · 3, the middle of the path.
/// assert!((kernels[1].row(0)[1] - 12.0 / (14.0_f64 * 18.0).sqrt()).abs() < 1e-15);
/// ```
pub fn weisfeiler_lehman(graphs: &[LabelledGraph], rounds: usize) -> Vec<Kernel> {
    let mut colours = colours_of_labels(graphs);
    let mut sums = vec![0.0; graphs.len() * graphs.len()];
    let mut kernels = Vec::with_capacity(rounds + 1);
    for round in 0..=rounds {
        if round > 0 {
            colours = refined(graphs, &colours);
        }
        add_products(&mut sums, &colours);
        kernels.push(normalised(&sums, graphs.len()));
    }
    kernels
}

/// The colours of the nodes of each graph, numbered from 0 over all graphs.
type Colours = Vec<Vec<u32>>;

fn colours_of_labels(graphs: &[LabelledGraph]) -> Colours {
    let mut numbers = HashMap::new();
    let of_graph = |graph: &LabelledGraph| {
        let labels = (0..graph.num_nodes()).map(|node| graph.label(node));
        labels.map(|label| number(&mut numbers, label)).collect()
    };
    graphs.iter().map(of_graph).collect()
}

/// One round: a new colour for each colour and multiset of colours of neighbours.
fn refined(graphs: &[LabelledGraph], colours: &Colours) -> Colours {
    let mut numbers = HashMap::new();
    let of_graph = |(graph, colours): (&LabelledGraph, &Vec<u32>)| {
        let signature = |node| {
            let mut signature: Vec<u32> = graph.neighbours(node).iter().map(|&other| colours[other as usize]).collect();
            signature.sort_unstable();
            signature.push(colours[node]);
            signature
        };
        (0..graph.num_nodes())
            .map(|node| number(&mut numbers, signature(node)))
            .collect()
    };
    graphs.iter().zip(colours).map(of_graph).collect()
}

/// The number of a key: how many others came before it.
fn number<K: std::hash::Hash + Eq>(numbers: &mut HashMap<K, u32>, key: K) -> u32 {
    let next = numbers.len() as u32;
    *numbers.entry(key).or_insert(next)
}

/// Adds the product of the colour counts of each pair of graphs.
fn add_products(sums: &mut [f64], colours: &Colours) {
    let num_graphs = colours.len();
    // Per colour, the graphs that have it, with their numbers of nodes.
    let mut counts: Vec<Vec<(usize, f64)>> = Vec::new();
    for (graph, colours) in colours.iter().enumerate() {
        for &colour in colours {
            let colour = colour as usize;
            if colour >= counts.len() {
                counts.resize(colour + 1, Vec::new());
            }
            match counts[colour].last_mut() {
                Some((last, count)) if *last == graph => *count += 1.0,
                _ => counts[colour].push((graph, 1.0)),
            }
        }
    }
    for counts in counts {
        for &(one, count) in &counts {
            for &(other, others) in &counts {
                sums[one * num_graphs + other] += count * others;
            }
        }
    }
}

fn normalised(sums: &[f64], num_graphs: usize) -> Kernel {
    let own = |graph: usize| sums[graph * num_graphs + graph];
    let value = |(at, &sum): (usize, &f64)| {
        let (one, other) = (at / num_graphs, at % num_graphs);
        // The root of each by itself would make a diagonal that rounding moves away from 1.
        if sum > 0.0 {
            sum / (own(one) * own(other)).sqrt()
        } else {
            0.0
        }
    };
    Kernel::new(sums.iter().enumerate().map(value).collect(), num_graphs)
}
