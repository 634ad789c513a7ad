//! A batch of views.

use super::view::GraphView;
use crate::graphs::{GraphBatch, GraphData};

/// The views of some graphs as one graph with block-diagonal adjacency.
///
/// # Panics
/// Panics if the batch would have more than `u32::MAX` nodes.
pub(super) fn batch_of_views(data: &GraphData, graphs: &[u32], views: Vec<GraphView>) -> GraphBatch {
    let num_nodes: usize = views.iter().map(GraphView::num_nodes).sum();
    let mut batch = GraphBatch::with_room(data, graphs, num_nodes);
    for view in views {
        let rows = (0..view.num_nodes()).map(|node| view.neighbours(node));
        batch.push(rows);
        batch.features.extend(view.features());
    }
    batch
}
