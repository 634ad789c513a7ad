//! Compares the files of a data set with each other, and builds the graphs.

use super::GraphReport;
use super::tables::{Table, Tables};
use crate::DataError;
use crate::error::LineLocation;
use crate::graphs::GraphData;
use crate::graphs::features::{Columns, MOST_COLUMNS, label_range};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::path::Path;

/// A directed edge with the index of its line. Ordered by row, column and line.
type Edge = (u32, u32, u32);

/// Builds the graphs.
pub(super) fn assemble(name: &str, tables: Tables, symmetrise: bool) -> Result<(GraphData, GraphReport), DataError> {
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
    let data = GraphData {
        name: name.to_string(),
        node_offsets,
        edge_offsets,
        neighbours,
        labels,
        classes,
        node_labels: tables.node_labels.map(|table| table.values),
        attributes: tables.node_attributes.map(|(_, attributes)| attributes),
        edge_labels,
        columns: Columns::default(),
    };
    Ok((data.with_default_features(), report))
}

/// The first node of each graph, from the graph of each node.
fn node_offsets(indicator: &Table<i64>, graph_labels: &Table<i64>) -> Result<Vec<usize>, DataError> {
    let graphs = graph_labels.len();
    let mut offsets = Vec::with_capacity(graphs + 1);
    let mut before = 0;
    for (index, &id) in indicator.values.iter().enumerate() {
        let at = || indicator.location(index);
        if id < 1 || id > graphs as i64 {
            let labels = graph_labels.at.display();
            let what =
                format!("graph id {id} is out of range: graphs are numbered from 1 to {graphs}, the number of lines in {labels}");
            return Err(DataError::at(
                at(),
                format!("{what}. Correct the id, or fetch both files again"),
            ));
        }
        if id < before {
            let remedy = "Sort the nodes by graph, and number them in that order in all files";
            return Err(DataError::at(at(), format!("graph id {id} comes after {before}. {remedy}")));
        }
        if id > before + 1 {
            return Err(without_nodes(at(), before + 1));
        }
        if id > before {
            offsets.push(index);
        }
        before = id;
    }
    if before < graphs as i64 {
        return Err(without_nodes(indicator.location(indicator.len() - 1), before + 1));
    }
    offsets.push(indicator.len());
    Ok(offsets)
}

fn without_nodes(at: LineLocation, graph: i64) -> DataError {
    let what = format!("graph {graph} has no nodes: no line contains its id");
    DataError::at(
        at,
        format!("{what}. Remove the graph and its label, and number the others from 1 without a gap"),
    )
}

fn same_count(at: &Path, found: usize, row: &'static str, expected: usize, other: &Path) -> Result<(), DataError> {
    if found == expected {
        return Ok(());
    }
    let what = format!(
        "has {found} lines, but must have {expected}, one per {row} as in {}",
        other.display()
    );
    Err(DataError::file(at, format!("{what}. Fetch both files again")))
}

fn check_label_range(labels: &Table<i64>) -> Result<(), DataError> {
    let (least, largest, width) = label_range(&labels.values);
    if width <= MOST_COLUMNS as u64 {
        return Ok(());
    }
    let what =
        format!("node labels go from {least} to {largest}, which makes {width} columns; at most {MOST_COLUMNS} are supported");
    let remedy = "Renumber the labels without large gaps, or move real numbers to `_node_attributes.txt`";
    Err(DataError::file(&labels.at, format!("{what}. {remedy}")))
}

/// Checks that both nodes of each edge exist and are of the same graph.
fn check_edges(edges: &Table<[i64; 2]>, indicator: &Table<i64>) -> Result<(), DataError> {
    let nodes = indicator.len();
    for (index, &[row, column]) in edges.values.iter().enumerate() {
        let at = || edges.location(index);
        for (field, id) in [("row", row), ("column", column)] {
            if id < 1 || id > nodes as i64 {
                let indicator = indicator.at.display();
                let what =
                    format!("{field} is node {id}, but nodes are numbered from 1 to {nodes}, the number of lines in {indicator}");
                return Err(DataError::at(
                    at(),
                    format!("{what}. Correct the id, or fetch both files again"),
                ));
            }
        }
        let [row_graph, column_graph] = [row, column].map(|id| indicator.values[id as usize - 1]);
        if row_graph != column_graph {
            let what = format!("the edge joins node {row} of graph {row_graph} with node {column} of graph {column_graph}");
            let remedy = "Remove the edge, or correct the graph ids of the nodes";
            return Err(DataError::at(at(), format!("{what}. {remedy}")));
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
) -> Result<Vec<Edge>, DataError> {
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
        let (row, column, count) = (row + 1, column + 1, missing.len());
        let problem = format!(
            "the edge `{row}, {column}` has no line `{column}, {row}`; {count} edge(s) of the file lack their reverse. Add the missing \
             lines, or set `symmetrise = true` to have them added"
        );
        return Err(DataError::at(table.location(line as usize), problem));
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
fn classes(table: &Table<i64>) -> Result<(Vec<String>, Vec<u32>), DataError> {
    let distinct: Vec<i64> = table.values.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
    if let [label] = distinct[..] {
        let what = format!("all {} graphs have the label {label}", table.len());
        let remedy = "At least two classes are needed; check that this is the right file";
        return Err(DataError::file(&table.at, format!("{what}. {remedy}")));
    }
    let index = |label: &i64| distinct.partition_point(|other| other < label) as u32;
    let labels = table.values.iter().map(index).collect();
    Ok((distinct.iter().map(i64::to_string).collect(), labels))
}
