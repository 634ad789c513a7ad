//! Compares the files of a data set with each other, and builds the graphs.

use super::GraphReport;
use super::tables::{Table, Tables};
use crate::error::GraphError;
use crate::graphs::GraphData;
use crate::graphs::data::Parts;
use crate::graphs::features::{MOST_COLUMNS, label_range};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::path::Path;

/// A directed edge with the index of its line. Ordered by row, column and line.
type Edge = (u32, u32, u32);

/// Builds the graphs.
pub(super) fn assemble(name: &str, tables: Tables, symmetrise: bool) -> Result<(GraphData, GraphReport), GraphError> {
    let node_offsets = node_offsets(&tables.indicator, &tables.graph_labels)?;
    let nodes = tables.indicator.len();
    let per_node = |at: &Path, found| same_count(at, found, "node", nodes, &tables.indicator.at);
    if let Some(labels) = &tables.node_labels {
        per_node(&labels.at, labels.len())?;
        check_label_range(labels)?;
    }
    if let Some((at, attributes)) = &tables.node_attributes {
        per_node(at, attributes.values.len() / attributes.width.max(1))?;
    }
    if let Some(labels) = &tables.edge_labels {
        same_count(&labels.at, labels.len(), "edge", tables.edges.len(), &tables.edges.at)?;
    }

    check_edges(&tables.edges, &tables.indicator)?;
    let mut report = GraphReport {
        edge_lines: tables.edges.len(),
        ..GraphReport::default()
    };
    let edges = directed_edges(&tables.edges, nodes, symmetrise, &mut report)?;
    let edge_offsets = row_offsets(&edges, nodes);
    report.isolated_nodes = edge_offsets.windows(2).filter(|row| row[0] == row[1]).count();

    let (classes, labels) = classes(&tables.graph_labels)?;
    let first_node = |edge: &Edge| node_offsets[tables.indicator.values[edge.0 as usize] as usize - 1] as u32;
    let neighbours = edges.iter().map(|edge| edge.1 - first_node(edge)).collect();
    let edge_labels = tables.edge_labels.map(|table| {
        let label = |edge: &Edge| table.values[edge.2 as usize];
        edges.iter().map(label).collect()
    });
    let data = GraphData::new(Parts {
        name: name.to_string(),
        node_offsets,
        edge_offsets,
        neighbours,
        labels,
        classes,
        node_labels: tables.node_labels.map(|table| table.values),
        attributes: tables.node_attributes.map(|(_, attributes)| attributes),
        edge_labels,
    });
    Ok((data, report))
}

/// The first node of each graph, from the graph of each node.
fn node_offsets(indicator: &Table<i64>, graph_labels: &Table<i64>) -> Result<Vec<usize>, GraphError> {
    let graphs = graph_labels.len();
    let mut offsets = Vec::with_capacity(graphs + 1);
    let mut before = 0;
    for (index, &id) in indicator.values.iter().enumerate() {
        let at = || indicator.location(index);
        if id < 1 || id > graphs as i64 {
            return Err(GraphError::GraphOutOfRange {
                at: at(),
                id,
                graphs,
                labels: graph_labels.at.clone(),
            });
        }
        if id < before {
            return Err(GraphError::UnsortedGraphs { at: at(), id, before });
        }
        if id > before + 1 {
            let graph = before + 1;
            return Err(GraphError::GraphWithoutNodes { at: at(), graph });
        }
        if id > before {
            offsets.push(index);
        }
        before = id;
    }
    if before < graphs as i64 {
        return Err(GraphError::GraphWithoutNodes {
            at: indicator.location(indicator.len() - 1),
            graph: before + 1,
        });
    }
    offsets.push(indicator.len());
    Ok(offsets)
}

fn same_count(at: &Path, found: usize, row: &'static str, expected: usize, other: &Path) -> Result<(), GraphError> {
    if found == expected {
        return Ok(());
    }
    Err(GraphError::LineCount {
        at: at.to_path_buf(),
        found,
        expected,
        row,
        other: other.to_path_buf(),
    })
}

fn check_label_range(labels: &Table<i64>) -> Result<(), GraphError> {
    let (least, largest, width) = label_range(&labels.values);
    if width <= MOST_COLUMNS as u64 {
        return Ok(());
    }
    Err(GraphError::LabelRange {
        at: labels.at.clone(),
        least,
        largest,
        width,
        limit: MOST_COLUMNS,
    })
}

/// Checks that both nodes of each edge exist and are of the same graph.
fn check_edges(edges: &Table<[i64; 2]>, indicator: &Table<i64>) -> Result<(), GraphError> {
    let nodes = indicator.len();
    for (index, &[row, column]) in edges.values.iter().enumerate() {
        let at = || edges.location(index);
        for (field, id) in [("row", row), ("column", column)] {
            if id < 1 || id > nodes as i64 {
                return Err(GraphError::NodeOutOfRange {
                    at: at(),
                    field,
                    id,
                    nodes,
                    indicator: indicator.at.clone(),
                });
            }
        }
        let [row_graph, column_graph] = [row, column].map(|id| indicator.values[id as usize - 1]);
        if row_graph != column_graph {
            return Err(GraphError::EdgeBetweenGraphs {
                at: at(),
                row,
                row_graph,
                column,
                column_graph,
            });
        }
    }
    Ok(())
}

/// All edges in both directions, sorted, without self-loops and repeats. A repeated edge keeps its first line.
fn directed_edges(
    table: &Table<[i64; 2]>,
    nodes: usize,
    symmetrise: bool,
    report: &mut GraphReport,
) -> Result<Vec<Edge>, GraphError> {
    let mut edges: Vec<Edge> = (0..)
        .zip(&table.values)
        .filter(|(_, [row, column])| row != column)
        .map(|(line, &[row, column])| ((row - 1) as u32, (column - 1) as u32, line))
        .collect();
    report.self_loops = table.len() - edges.len();
    let lines = edges.len();
    edges.par_sort_unstable();
    edges.dedup_by_key(|&mut (row, column, _)| (row, column));
    report.repeats = lines - edges.len();

    let offsets = row_offsets(&edges, nodes);
    let has = |row: u32, column: u32| {
        let of_row = &edges[offsets[row as usize]..offsets[row as usize + 1]];
        of_row.binary_search_by_key(&column, |edge| edge.1).is_ok()
    };
    let missing: Vec<Edge> = edges
        .iter()
        .filter(|&&(row, column, _)| !has(column, row))
        .map(|&(row, column, line)| (column, row, line))
        .collect();
    let Some(&(column, row, line)) = missing.iter().min_by_key(|edge| edge.2) else {
        return Ok(edges);
    };
    if !symmetrise {
        return Err(GraphError::MissingReverse {
            at: table.location(line as usize),
            row: row + 1,
            column: column + 1,
            count: missing.len(),
        });
    }
    report.added_reverses = missing.len();
    edges.extend(missing);
    edges.par_sort_unstable();
    Ok(edges)
}

/// The first edge of each row, then the number of edges.
fn row_offsets(edges: &[Edge], nodes: usize) -> Vec<usize> {
    let mut offsets = vec![0; nodes + 1];
    for &(row, ..) in edges {
        offsets[row as usize + 1] += 1;
    }
    for node in 0..nodes {
        offsets[node + 1] += offsets[node];
    }
    offsets
}

/// The different labels in ascending order, and the index of each graph's label among them.
fn classes(table: &Table<i64>) -> Result<(Vec<String>, Vec<u32>), GraphError> {
    let distinct: Vec<i64> = table.values.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
    if let [label] = distinct[..] {
        return Err(GraphError::OneClass {
            at: table.at.clone(),
            label,
            graphs: table.len(),
        });
    }
    let index = |label: &i64| distinct.partition_point(|other| other < label) as u32;
    let labels = table.values.iter().map(index).collect();
    Ok((distinct.iter().map(i64::to_string).collect(), labels))
}
