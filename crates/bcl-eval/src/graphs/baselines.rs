//! Graph vectors that need no encoder: what a learned one should beat.

use super::{LabelledGraph, Vectors};
use std::collections::BTreeMap;

/// The numbers of nodes and of entries in the lists of neighbours of each graph.
///
/// ```
/// use bcl_eval::graphs::{LabelledGraph, sizes};
///
/// let path = LabelledGraph::new(&[0, 1, 3, 4], &[1, 0, 2, 1], None);
/// assert_eq!(sizes(&[path]).row(0), [3.0, 4.0]);
/// ```
pub fn sizes(graphs: &[LabelledGraph]) -> Vectors {
    let size = |graph: &LabelledGraph| [graph.num_nodes() as f64, graph.num_neighbours() as f64];
    Vectors::new(graphs.iter().flat_map(size).collect(), 2)
}

/// The number of nodes of each label (or degree, for graphs without labels), in columns by ascending label.
///
/// ```
/// use bcl_eval::graphs::{LabelledGraph, label_counts};
///
/// // Two nodes of degree 1 and one of degree 2.
/// let path = LabelledGraph::new(&[0, 1, 3, 4], &[1, 0, 2, 1], None);
/// assert_eq!(label_counts(&[path]).row(0), [2.0, 1.0]);
/// ```
///
/// # Panics
/// Panics if no graph has a node.
pub fn label_counts(graphs: &[LabelledGraph]) -> Vectors {
    let labels = |graph: &LabelledGraph| -> Vec<u32> { (0..graph.num_nodes()).map(|node| graph.label(node)).collect() };
    let mut columns: BTreeMap<u32, usize> = graphs.iter().flat_map(labels).map(|label| (label, 0)).collect();
    columns
        .values_mut()
        .enumerate()
        .for_each(|(position, column)| *column = position);
    let mut counts = vec![0.0; graphs.len() * columns.len()];
    for (graph, row) in graphs.iter().zip(counts.chunks_exact_mut(columns.len().max(1))) {
        for label in labels(graph) {
            row[columns[&label]] += 1.0;
        }
    }
    Vectors::new(counts, columns.len())
}
