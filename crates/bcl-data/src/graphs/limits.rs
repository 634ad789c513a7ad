//! Limits on the size of a batch, and how an epoch is divided by them.

use super::data::GraphData;
use std::ops::Range;

/// Limits on a batch: a number of graphs, and optionally a number of nodes.
///
/// Graphs are taken in the given order. A batch ends before the graph that would exceed either limit. Memory grows with the
/// number of nodes: 128 graphs of REDDIT-BINARY have 55,000 nodes on average, but the largest 128 have 280,000.
///
/// ```
/// use bcl_data::graphs::{GraphBatchLimits, PlantedGraphsConfig};
///
/// let graphs = PlantedGraphsConfig { graphs: 21, ..PlantedGraphsConfig::default() }.generate();
/// let order: Vec<u32> = (0..21).collect();
/// let limits = GraphBatchLimits::new(10, None);
/// assert_eq!(limits.for_training(&graphs, &order), [0..10, 10..20]); // one graph has no negatives
/// assert_eq!(limits.for_embedding(&graphs, &order), [0..10, 10..20, 20..21]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GraphBatchLimits {
    graphs: usize,
    nodes: Option<usize>,
}

impl GraphBatchLimits {
    /// At most `graphs` graphs and `nodes` nodes per batch.
    ///
    /// # Panics
    /// Panics if `graphs` is less than 2.
    pub fn new(graphs: usize, nodes: Option<usize>) -> Self {
        assert!(graphs >= 2, "a batch must have room for 2 graphs, but the limit is {graphs}");
        Self { graphs, nodes }
    }

    /// The limit on nodes, if there is one.
    pub fn nodes(self) -> Option<usize> {
        self.nodes
    }

    /// Divides `order` into batches of at least two graphs, because the negatives of a graph are the others of its batch.
    ///
    /// A batch of two graphs may exceed the limit on nodes. If a single graph remains at the end, it is left out; with a new
    /// order each epoch, it is another one each time. The same order gives the same batches.
    ///
    /// # Panics
    /// Panics if an index of `order` is not below the number of graphs.
    pub fn for_training(self, data: &GraphData, order: &[u32]) -> Vec<Range<usize>> {
        let mut batches = self.divide(data, order, 2);
        if batches.last().is_some_and(|last| last.len() < 2) {
            batches.pop();
        }
        batches
    }

    /// As [`for_training`](Self::for_training), but in a given number of batches, which does not depend on the order. If there are fewer, the
    /// largest are halved; if there are more, neighbours with few nodes are joined.
    ///
    /// # Panics
    /// Panics if an index of `order` is not below the number of graphs, or if there are fewer than `2 · count` graphs.
    ///
    /// ```
    /// use bcl_data::graphs::{GraphBatchLimits, PlantedGraphsConfig};
    ///
    /// let graphs = PlantedGraphsConfig { graphs: 20, ..PlantedGraphsConfig::default() }.generate();
    /// let order: Vec<u32> = (0..20).collect();
    /// let limits = GraphBatchLimits::new(10, None);
    /// assert_eq!(limits.for_training_in(3, &graphs, &order), [0..5, 5..10, 10..20]);
    /// assert_eq!(limits.for_training_in(1, &graphs, &order), [0..20]);
    /// ```
    pub fn for_training_in(self, count: usize, data: &GraphData, order: &[u32]) -> Vec<Range<usize>> {
        assert!(
            count > 0 && order.len() >= 2 * count,
            "{} graphs cannot be divided into {count} batches of two or more",
            order.len()
        );
        let nodes = |range: &Range<usize>| order[range.clone()].iter().map(|&graph| data.nodes_of(graph)).sum::<usize>();
        let mut batches = self.for_training(data, order);
        while batches.len() < count {
            let sizes = batches.iter().map(Range::len).enumerate();
            // Of equal sizes the first.
            let (largest, size) = sizes.rev().max_by_key(|&(_, size)| size).expect("there is a batch");
            if size < 4 {
                // No half would have two graphs, so all are divided anew.
                return (0..count)
                    .map(|batch| batch * order.len() / count..(batch + 1) * order.len() / count)
                    .collect();
            }
            let Range { start, end } = batches[largest].clone();
            batches.splice(largest..=largest, [start..start + size / 2, start + size / 2..end]);
        }
        while batches.len() > count {
            let pair = |at: &usize| nodes(&(batches[*at].start..batches[at + 1].end));
            let first = (0..batches.len() - 1).min_by_key(pair).expect("there are two batches");
            let joined = batches[first].start..batches[first + 1].end;
            batches.splice(first..=first + 1, [joined]);
        }
        batches
    }

    /// Divides `order` into batches without leaving out a graph, to compute embeddings. A graph with more nodes than the limit
    /// has a batch of its own.
    ///
    /// # Panics
    /// Panics if an index of `order` is not below the number of graphs.
    pub fn for_embedding(self, data: &GraphData, order: &[u32]) -> Vec<Range<usize>> {
        self.divide(data, order, 1)
    }

    /// Batches of at least `least` graphs, except for the last one.
    fn divide(self, data: &GraphData, order: &[u32], least: usize) -> Vec<Range<usize>> {
        let most = self.nodes.unwrap_or(usize::MAX);
        let mut batches = Vec::new();
        let (mut start, mut nodes) = (0, 0);
        for (position, &graph) in order.iter().enumerate() {
            let more = data.nodes_of(graph);
            let graphs = position - start;
            if graphs >= self.graphs || graphs >= least && nodes + more > most {
                batches.push(start..position);
                (start, nodes) = (position, 0);
            }
            nodes += more;
        }
        if start < order.len() {
            batches.push(start..order.len());
        }
        batches
    }
}
