//! The part of a manifest that describes graphs.

use super::{Contents, Manifest};
use crate::DataError;
use crate::graphs::{GraphData, GraphOptions, GraphReport, NodeFeatures, load_graphs_with_report};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// Expected counts of a data set of graphs, checked when it is loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct GraphCounts {
    /// Number of graphs.
    pub graphs: usize,
    /// Number of graphs per label, as written in the file.
    pub classes: BTreeMap<String, usize>,
    /// Number of nodes of all graphs.
    pub nodes: usize,
    /// Number of undirected edges of all graphs, without self-loops and repeats.
    pub edges: usize,
    /// Number of feature columns with the default features.
    pub features: usize,
    /// Number of attributes per node. Not checked if not given.
    pub node_attributes: Option<usize>,
    /// Number of nodes of the smallest graph.
    pub smallest: usize,
    /// Number of nodes of the largest graph.
    pub largest: usize,
    /// The largest number of neighbours of a node.
    pub max_degree: usize,
    /// Number of nodes without an edge.
    pub isolated_nodes: usize,
}

impl Manifest {
    /// Whether this data set contains graphs.
    pub fn is_graphs(&self) -> bool {
        self.layout.contents() == Contents::Graphs
    }

    /// Reads the graphs of this data set from their [location](Self::locate_graphs), and checks their counts.
    ///
    /// The counts hold for all options: `symmetrise` and the features change none of them in a complete copy.
    ///
    /// # Errors
    /// Returns the errors of [`load_graphs`](crate::graphs::load_graphs), and an error if the counts differ from the manifest.
    pub fn load_graphs(&self, path: &Path, options: &GraphOptions) -> Result<(GraphData, GraphReport), DataError> {
        let standard = GraphOptions {
            features: NodeFeatures::Auto,
            node_attributes: false,
            ..*options
        };
        let (data, report) = load_graphs_with_report(&self.name, path, &standard)?;
        if let Some(expected) = &self.counts.graphs {
            check_counts(expected, &data, &report, path)?;
        }
        let data = data.with_features(options.features, options.node_attributes)?;
        Ok((data, report))
    }
}

/// Reads the data set of graphs called `name` from the folder `dir`, which contains its archive or a folder with it, and checks
/// its counts.
///
/// # Errors
/// Returns the errors of [`Manifest::find`], [`Manifest::locate_graphs`] and [`Manifest::load_graphs`].
pub fn load_named_graphs(name: &str, dir: &Path, options: &GraphOptions) -> Result<GraphData, DataError> {
    let manifest = Manifest::find(name)?;
    let (data, _) = manifest.load_graphs(&manifest.locate_graphs(dir)?, options)?;
    Ok(data)
}

fn check_counts(expected: &GraphCounts, data: &GraphData, report: &GraphReport, path: &Path) -> Result<(), DataError> {
    let sizes = || (0..data.num_graphs() as u32).map(|graph| data.nodes_of(graph));
    let attributes = data.num_node_attributes();
    let counts = [
        ("graphs", expected.graphs, data.num_graphs()),
        ("classes", expected.classes.len(), data.num_classes()),
        ("nodes", expected.nodes, data.num_nodes()),
        ("edges", expected.edges, data.num_edges()),
        ("features", expected.features, data.num_features()),
        (
            "attributes per node",
            expected.node_attributes.unwrap_or(attributes),
            attributes,
        ),
        ("nodes in its smallest graph", expected.smallest, sizes().min().unwrap_or(0)),
        ("nodes in its largest graph", expected.largest, sizes().max().unwrap_or(0)),
        (
            "neighbours of one node",
            expected.max_degree,
            data.degrees().into_iter().max().unwrap_or(0) as usize,
        ),
        ("nodes without an edge", expected.isolated_nodes, report.isolated_nodes),
    ];
    if let Some((what, expected, found)) = counts.into_iter().find(|(_, expected, found)| expected != found) {
        return Err(DataError::wrong_count(path, data.name(), found, what, expected));
    }
    for (label, &expected) in &expected.classes {
        let found = data
            .labels()
            .iter()
            .filter(|&&class| data.classes()[class as usize] == *label)
            .count();
        if found != expected {
            let what = format!("graphs with the label {label}");
            return Err(DataError::wrong_count(path, data.name(), found, &what, expected));
        }
    }
    Ok(())
}
