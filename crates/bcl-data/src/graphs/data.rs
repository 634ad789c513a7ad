//! A collection of graphs.

use super::features::{Attributes, Columns, Grid, MOST_COLUMNS, NodeFeatures};
use crate::{DataError, Seed};
use rand::seq::SliceRandom;

/// A collection of undirected graphs, with or without classes.
///
/// Each edge is stored in both directions, without self-loops and repeats, so the adjacency matrix of each graph is symmetric.
/// The nodes of all graphs are numbered through: graph `i` has the nodes `node_offsets[i]..node_offsets[i + 1]`. Neighbours are
/// numbered within their own graph.
///
/// # Shapes
/// - `node_offsets`: `[num_graphs + 1]`
/// - `edge_offsets`: `[num_nodes + 1]`, the neighbours of node `v` are `neighbours[edge_offsets[v]..edge_offsets[v + 1]]`
/// - `neighbours`:   `[num_directed_edges]`, ascending within each node
/// - `labels`:       `[num_graphs]`, indices into `classes`; `[0]` without classes
///
/// Published data sets list their graphs class by class, so [shuffle](Self::shuffled) them before forming batches: in a batch of
/// one class all negatives are false.
///
/// ```
/// use bcl_data::graphs::{GraphData, LabelledGraph};
///
/// // A triangle, and a path with an isolated node beside it.
/// let triangle = LabelledGraph { num_nodes: 3, edges: vec![(0, 1), (1, 2), (2, 0)], node_labels: vec![4, 4, 6], class: 0 };
/// let path = LabelledGraph { num_nodes: 4, edges: vec![(0, 1), (1, 2)], node_labels: vec![4, 6, 4, 4], class: 1 };
/// let graphs = GraphData::from_graphs("two", ["closed", "open"], [triangle, path]);
///
/// assert_eq!((graphs.num_graphs(), graphs.num_nodes(), graphs.num_edges()), (2, 7, 5));
/// assert_eq!(graphs.graph(1).neighbours(1), [0, 2]);
/// assert!(graphs.graph(1).neighbours(3).is_empty());
/// assert_eq!(graphs.num_features(), 3); // labels 4 to 6
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct GraphData {
    pub(super) name: String,
    pub(super) node_offsets: Vec<usize>,
    pub(super) edge_offsets: Vec<usize>,
    pub(super) neighbours: Vec<u32>,
    pub(super) labels: Vec<u32>,
    pub(super) classes: Vec<String>,
    /// `[num_nodes, labels per node]`
    pub(super) node_labels: Option<Grid<i64>>,
    /// The number of the combination of labels of each node, if there are several.
    pub(super) label_combinations: Option<Vec<i64>>,
    pub(super) attributes: Option<Attributes>,
    pub(super) edge_labels: Option<Vec<i64>>,
    pub(super) columns: Columns,
}

/// A graph in the form in which it is written by hand or generated; see [`GraphData::from_graphs`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LabelledGraph {
    /// Number of nodes, at least 1.
    pub num_nodes: u32,
    /// Edges in either or both directions; self-loops and repeats are dropped.
    pub edges: Vec<(u32, u32)>,
    /// One label per node.
    pub node_labels: Vec<i64>,
    /// Index of its class, if there are classes.
    pub class: u32,
}

/// One graph of a [`GraphData`].
#[derive(Debug, Clone, Copy)]
pub struct Graph<'a> {
    data: &'a GraphData,
    index: usize,
}

impl GraphData {
    /// Builds a collection from graphs in memory, with their node labels as features. Without `classes` it has none.
    ///
    /// # Panics
    /// Panics if there is no graph, or if a graph has no nodes, an edge to a node that it does not have, more or fewer labels than
    /// nodes, or a class beyond `classes`. Also panics if the labels of all graphs span more than 10,000 integers.
    pub fn from_graphs<C: Into<String>>(
        name: &str,
        classes: impl IntoIterator<Item = C>,
        graphs: impl IntoIterator<Item = LabelledGraph>,
    ) -> Self {
        let classes: Vec<String> = classes.into_iter().map(Into::into).collect();
        let (mut node_offsets, mut edge_offsets, mut neighbours) = (vec![0], vec![0], Vec::new());
        let (mut labels, mut node_labels) = (Vec::new(), Vec::new());
        for (index, graph) in graphs.into_iter().enumerate() {
            let nodes = graph.num_nodes;
            assert!(nodes > 0, "graph {index} has no nodes");
            assert_eq!(
                graph.node_labels.len(),
                nodes as usize,
                "graph {index} must have one label per node"
            );
            assert!(
                classes.is_empty() || (graph.class as usize) < classes.len(),
                "the class of graph {index} is {}, but must be below {}",
                graph.class,
                classes.len()
            );
            let mut edges = Vec::with_capacity(2 * graph.edges.len());
            for (a, b) in graph.edges {
                assert!(
                    a < nodes && b < nodes,
                    "edge ({a}, {b}) of graph {index} is not below {nodes}"
                );
                if a != b {
                    edges.extend([(a, b), (b, a)]);
                }
            }
            edges.sort_unstable();
            edges.dedup();
            let mut row_ends = (0..nodes).map(|node| edges.partition_point(|&(row, _)| row <= node) + neighbours.len());
            edge_offsets.extend(&mut row_ends);
            neighbours.extend(edges.iter().map(|&(_, column)| column));
            node_offsets.push(node_offsets[index] + nodes as usize);
            labels.extend((!classes.is_empty()).then_some(graph.class));
            node_labels.extend(graph.node_labels);
        }
        assert!(node_offsets.len() > 1, "a collection must have at least one graph");
        let node_labels = Grid {
            width: 1,
            values: node_labels,
        };
        let (least, largest, width) = node_labels.ranges()[0];
        assert!(
            width <= MOST_COLUMNS as u64,
            "node labels go from {least} to {largest}, but may span at most {MOST_COLUMNS} integers"
        );
        let graphs = Self {
            name: name.to_string(),
            node_offsets,
            edge_offsets,
            neighbours,
            labels,
            classes,
            label_combinations: None,
            node_labels: Some(node_labels),
            attributes: None,
            edge_labels: None,
            columns: Columns::default(),
        };
        graphs.with_default_features()
    }

    /// Replaces the features by the default, which every collection has.
    pub(super) fn with_default_features(self) -> Self {
        self.with_features(NodeFeatures::Auto, false)
            .expect("the default needs neither labels nor attributes")
    }

    /// Replaces the features: `features`, after the node attributes if `node_attributes` is true.
    ///
    /// # Errors
    /// Returns an error if the graphs lack the labels or attributes.
    pub fn with_features(self, features: NodeFeatures, node_attributes: bool) -> Result<Self, DataError> {
        let columns = Columns::new(
            &self.name,
            features,
            self.attributes.as_ref(),
            node_attributes,
            self.node_labels.as_ref(),
            || self.degrees(),
        )?;
        Ok(Self { columns, ..self })
    }

    /// Name in recipes and reports.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of graphs.
    pub fn num_graphs(&self) -> usize {
        self.node_offsets.len() - 1
    }

    /// Number of nodes of all graphs.
    pub fn num_nodes(&self) -> usize {
        self.edge_offsets.len() - 1
    }

    /// Number of undirected edges of all graphs.
    pub fn num_edges(&self) -> usize {
        self.neighbours.len() / 2
    }

    /// Number of directed edges, which is twice [`num_edges`](Self::num_edges).
    pub fn num_directed_edges(&self) -> usize {
        self.neighbours.len()
    }

    /// Number of feature columns.
    pub fn num_features(&self) -> usize {
        self.columns.width(self.attributes.as_ref())
    }

    /// Whether the graphs have classes. Without them encoders train, but nothing can be classified.
    pub fn is_labelled(&self) -> bool {
        !self.classes.is_empty()
    }

    /// Number of classes; 0 without labels.
    pub fn num_classes(&self) -> usize {
        self.classes.len()
    }

    /// The classes as written in the file, sorted by number: the label `-1` before `1`.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// The class of each graph, an index into [`classes`](Self::classes); empty without labels. `[num_graphs]`
    pub fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// The first node of each graph, then the number of nodes. `[num_graphs + 1]`
    pub fn node_offsets(&self) -> &[usize] {
        &self.node_offsets
    }

    /// Number of nodes of graph `index`.
    ///
    /// # Panics
    /// Panics if `index` is not below [`num_graphs`](Self::num_graphs).
    pub fn nodes_of(&self, index: u32) -> usize {
        self.graph(index).num_nodes()
    }

    /// The label of each node as written in the file, if there are node labels. If the file has several columns, the number of the
    /// combination instead, in ascending order. `[num_nodes]`
    pub fn node_labels(&self) -> Option<&[i64]> {
        let labels = self.node_labels.as_ref()?;
        Some(self.label_combinations.as_deref().unwrap_or(&labels.values))
    }

    /// Whether node labels are among the features.
    pub fn has_label_features(&self) -> bool {
        self.columns.with_labels
    }

    /// Number of attributes per node, used as features or not; 0 if there are none.
    pub fn num_node_attributes(&self) -> usize {
        self.attributes.as_ref().map_or(0, |attributes| attributes.width)
    }

    /// The attributes of each node, if there are any. `[num_nodes, num_node_attributes]`
    pub fn node_attributes(&self) -> Option<&[f32]> {
        self.attributes.as_ref().map(|attributes| &*attributes.values)
    }

    /// The label of each directed edge as written in the file, if there are edge labels; combined like [node labels](Self::node_labels).
    /// They are not used by any encoder.
    /// `[num_directed_edges]`
    pub fn edge_labels(&self) -> Option<&[i64]> {
        self.edge_labels.as_deref()
    }

    /// The number of neighbours of each node. `[num_nodes]`
    pub fn degrees(&self) -> Vec<u32> {
        self.edge_offsets.windows(2).map(|row| (row[1] - row[0]) as u32).collect()
    }

    /// Graph `index`.
    ///
    /// # Panics
    /// Panics if `index` is not below [`num_graphs`](Self::num_graphs).
    pub fn graph(&self, index: u32) -> Graph<'_> {
        let index = index as usize;
        let graphs = self.num_graphs();
        assert!(index < graphs, "graph is {index}, but must be below {graphs}");
        Graph { data: self, index }
    }

    /// All graphs in random order.
    pub fn shuffled(&self, seed: Seed) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.num_graphs() as u32).collect();
        order.shuffle(&mut seed.rng());
        order
    }
}

impl<'a> Graph<'a> {
    /// Number of nodes.
    pub fn num_nodes(self) -> usize {
        self.data.node_offsets[self.index + 1] - self.first_node()
    }

    /// Number of undirected edges.
    pub fn num_edges(self) -> usize {
        let (first, end) = (self.first_node(), self.data.node_offsets[self.index + 1]);
        (self.data.edge_offsets[end] - self.data.edge_offsets[first]) / 2
    }

    /// Index of its class; `None` without labels.
    pub fn class(self) -> Option<u32> {
        self.data.labels.get(self.index).copied()
    }

    /// The neighbours of `node`, both numbered within the graph, in ascending order.
    ///
    /// # Panics
    /// Panics if `node` is not below [`num_nodes`](Self::num_nodes).
    pub fn neighbours(self, node: u32) -> &'a [u32] {
        let node = self.global(node);
        &self.data.neighbours[self.data.edge_offsets[node]..self.data.edge_offsets[node + 1]]
    }

    /// The features of `node`. `[num_features]`
    ///
    /// # Panics
    /// Panics if `node` is not below [`num_nodes`](Self::num_nodes).
    pub fn features(self, node: u32) -> Vec<f32> {
        let mut row = vec![0.0; self.num_features()];
        self.write_features(node, &mut row);
        row
    }

    /// Writes the features of `node` into `row`, which is zero.
    pub(super) fn write_features(self, node: u32, row: &mut [f32]) {
        let attributes = self.data.attributes.as_ref();
        self.data.columns.write(attributes, self.global(node), row);
    }

    /// Number of feature columns.
    pub fn num_features(self) -> usize {
        self.data.num_features()
    }

    /// The labels of its nodes, if there are node labels. `[num_nodes]`
    pub fn node_labels(self) -> Option<&'a [i64]> {
        let end = self.data.node_offsets[self.index + 1];
        self.data.node_labels().map(|labels| &labels[self.first_node()..end])
    }

    fn first_node(self) -> usize {
        self.data.node_offsets[self.index]
    }

    fn global(self, node: u32) -> usize {
        let nodes = self.num_nodes();
        assert!((node as usize) < nodes, "node is {node}, but must be below {nodes}");
        self.first_node() + node as usize
    }
}
