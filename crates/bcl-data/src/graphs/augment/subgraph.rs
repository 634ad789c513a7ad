//! Connected subgraphs.

use super::{share::remaining, view::GraphView};
use crate::{Xoshiro256PlusPlus, graphs::Graph};
use rand::RngExt;
use std::mem;

/// Grows a connected part from a random node, and removes all else.
pub(super) fn subgraph(graph: Graph<'_>, ratio: f64, rng: &mut Xoshiro256PlusPlus) -> GraphView {
    let num_nodes = graph.num_nodes();
    let size = remaining(num_nodes, ratio);
    let start = rng.random_range(0..num_nodes as u32);
    let mut is_reached = vec![false; num_nodes];
    is_reached[start as usize] = true;
    let mut frontier = vec![start];
    let mut nodes = Vec::with_capacity(size);
    while nodes.len() < size && !frontier.is_empty() {
        let node = frontier.swap_remove(rng.random_range(0..frontier.len()));
        nodes.push(node);
        let neighbours = graph.neighbours(node).iter().copied();
        frontier.extend(neighbours.filter(|&other| !mem::replace(&mut is_reached[other as usize], true)));
    }
    nodes.sort_unstable();
    GraphView::induced(graph, &nodes)
}
