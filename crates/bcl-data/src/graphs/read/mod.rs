//! Reads data sets of graphs in the text format of the TU collection (Morris et al. 2020), from a folder or an archive.

mod assemble;
mod files;
mod rows;
mod tables;

use super::{GraphData, NodeFeatures};
use crate::DataError;
use assemble::assemble;
use files::Files;
use serde::{Deserialize, Serialize};
use std::path::Path;
use tables::Tables;

/// How to read graphs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GraphOptions {
    /// What becomes a node's features.
    pub features: NodeFeatures,
    /// Whether node attributes are features, too, before the others. Figures of unsupervised methods are without them.
    pub node_attributes: bool,
    /// Whether to add the reverse of edges that are given in one direction only, instead of refusing them.
    pub symmetrise: bool,
}

/// What a load read, dropped and added.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GraphReport {
    /// Lines of the file of edges.
    pub edge_lines: usize,
    /// Lines dropped because they join a node with itself.
    pub self_loops: usize,
    /// Lines dropped because the same edge, in the same direction, occurred before.
    pub repeats: usize,
    /// Directed edges added because only their reverse is in the file.
    pub added_reverses: usize,
    /// Nodes without an edge.
    pub isolated_nodes: usize,
    /// Graphs whose nodes all are without an edge.
    pub graphs_without_edges: usize,
    /// Files of the data set that are not read.
    pub unread: Vec<String>,
}

impl GraphReport {
    /// What was left out of the files or added to them, and what is unusual about `data`, a sentence each.
    pub fn notes(&self, data: &GraphData) -> Vec<String> {
        let dropped = [(self.self_loops, "join a node with itself"), (self.repeats, "repeat another")];
        let dropped = dropped.into_iter().filter(|(count, _)| *count > 0);
        let dropped = dropped.map(|(count, why)| format!("{count} of {} edges left out: they {why}", self.edge_lines));
        let others = [
            (self.added_reverses > 0).then(|| format!("{} edges added: the reverse of others", self.added_reverses)),
            (self.graphs_without_edges > 0)
                .then(|| format!("{} of {} graphs have no edges", self.graphs_without_edges, data.num_graphs())),
            (!self.unread.is_empty()).then(|| format!("not read: {}", self.unread.join(", "))),
        ];
        dropped.chain(others.into_iter().flatten()).collect()
    }
}

/// Reads the data set of graphs in a folder or an archive (zip, tar, tar.gz), and calls it `name`.
///
/// The files of a data set `NAME` begin with this name:
///
/// | file | content of its lines | |
/// | --- | --- | --- |
/// | `NAME_A.txt` | `row, column` of each directed edge | |
/// | `NAME_graph_indicator.txt` | the graph of each node | |
/// | `NAME_graph_labels.txt` | the class of each graph | optional; without it nothing can be classified |
/// | `NAME_node_labels.txt` | the label of each node, or several | optional |
/// | `NAME_node_attributes.txt` | numbers per node | optional; see [`GraphOptions::node_attributes`] |
/// | `NAME_edge_labels.txt` | the label of each line of `NAME_A.txt`, or several | optional; kept, but not used |
///
/// Nodes are numbered from 1 over all graphs, and graphs from 1. Nodes are sorted by graph. Each edge has two lines, one per
/// direction; see [`GraphOptions::symmetrise`] for files that have one. Self-loops and repeats are dropped. The number of nodes
/// is the number of lines of the graph indicator, because isolated nodes have no edge. Classes may be any integers and are
/// numbered from 0 in ascending order.
///
/// Values of a line are separated by commas, semicolons, tabs or blanks. Integers may be written as `1.0`. Lines at the top that begin with
/// `#` or `%` are comments. Each file may be gzipped, with `.gz` appended to its name. Other files, such as `NAME_edge_attributes.txt`, are not
/// read.
///
/// # Errors
/// Returns an error that names the file, the line, the value and the remedy, if the files cannot be read, contradict each other,
/// or lack what `options` need.
///
/// ```
/// use bcl_data::graphs::{GraphOptions, load_graphs};
///
/// // Two graphs: an edge, and a path of three nodes.
/// let dir = tempfile::tempdir()?;
/// for (part, text) in [
///     ("A", "1, 2\n2, 1\n3, 4\n4, 3\n4, 5\n5, 4\n"),
///     ("graph_indicator", "1\n1\n2\n2\n2\n"),
///     ("graph_labels", "1\n-1\n"),
/// ] {
///     std::fs::write(dir.path().join(format!("TWO_{part}.txt")), text)?;
/// }
/// let graphs = load_graphs("two", dir.path(), &GraphOptions::default())?;
/// assert_eq!((graphs.num_graphs(), graphs.num_nodes(), graphs.num_edges()), (2, 5, 3));
/// assert_eq!((graphs.classes(), graphs.labels()), (&["-1".to_string(), "1".to_string()][..], &[1, 0][..]));
/// assert_eq!(graphs.num_features(), 3); // no node labels: degrees 0 to 2
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn load_graphs(name: &str, path: &Path, options: &GraphOptions) -> Result<GraphData, DataError> {
    load_graphs_with_report(name, path, options).map(|(data, _)| data)
}

/// Reads a data set of graphs, and reports what was dropped and added.
///
/// # Errors
/// Returns the errors of [`load_graphs`].
pub fn load_graphs_with_report(name: &str, path: &Path, options: &GraphOptions) -> Result<(GraphData, GraphReport), DataError> {
    let tables = Tables::read(&Files::open(path)?)?;
    let (data, report) = assemble(name, tables, options.symmetrise)?;
    let data = data.with_features(options.features, options.node_attributes)?;
    Ok((data, report))
}
