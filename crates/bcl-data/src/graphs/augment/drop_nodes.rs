//! Dropped nodes.

use super::{share::remaining, view::GraphView};
use crate::{Xoshiro256PlusPlus, graphs::Graph};
use rand::seq::index;

/// Removes random nodes with their edges.
pub(super) fn drop_nodes(graph: Graph<'_>, ratio: f64, rng: &mut Xoshiro256PlusPlus) -> GraphView {
    let num_nodes = graph.num_nodes();
    let kept = index::sample(rng, num_nodes, remaining(num_nodes, ratio));
    let mut kept: Vec<u32> = kept.into_iter().map(|node| node as u32).collect();
    kept.sort_unstable();
    GraphView::induced(graph, &kept)
}
