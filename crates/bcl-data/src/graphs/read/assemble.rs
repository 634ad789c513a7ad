//! Compares the files of a data set with each other, and builds the graphs.

use super::GraphReport;
use super::tables::{FileGrid, Table, Tables};
use crate::DataError;
use crate::error::LineLocation;
use crate::graphs::GraphData;
use crate::graphs::features::{Columns, Grid, MOST_COLUMNS};
use rayon::prelude::*;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

/// A directed edge with the index of its line. Ordered by row, column and line.
type Edge = (u32, u32, u32);

/// Builds the graphs.
pub(super) fn assemble(name: &str, tables: Tables, symmetrise: bool) -> Result<(GraphData, GraphReport), DataError> {
    let node_offsets = node_offsets(&tables.indicator, tables.graph_labels.as_ref())?;
    let nodes = tables.indicator.len();
    if let Some(FileGrid { at, grid }) = &tables.node_labels {
        same_count(at, grid.len(), "node", nodes, &tables.indicator.at)?;
        check_label_range(at, &grid.ranges())?;
    }
    if let Some(FileGrid { at, grid }) = &tables.node_attributes {
        same_count(at, grid.len(), "node", nodes, &tables.indicator.at)?;
    }
    if let Some(FileGrid { at, grid }) = &tables.edge_labels {
        same_count(at, grid.len(), "edge", tables.edges.len(), &tables.edges.at)?;
    }

    check_edges(&tables.edges, &tables.indicator, &node_offsets)?;
    let mut report = GraphReport {
        edge_lines: tables.edges.len(),
        unread: tables.unread,
        ..GraphReport::default()
    };
    let edges = directed_edges(&tables.edges, nodes, symmetrise, &mut report)?;
    if let Some(local) = LocalIds::of(&tables.edges, &node_offsets) {
        local.refuse(&tables.edges)?;
    }
    let edge_offsets = row_offsets(&edges, nodes);
    report.isolated_nodes = edge_offsets.windows(2).filter(|row| row[0] == row[1]).count();
    let has_no_edges = |nodes: &&[usize]| edge_offsets[nodes[0]] == edge_offsets[nodes[1]];
    report.graphs_without_edges = node_offsets.windows(2).filter(has_no_edges).count();

    let (classes, labels) = tables.graph_labels.as_ref().map(classes).transpose()?.unwrap_or_default();
    let first_node = |edge: &Edge| node_offsets[tables.indicator.values[edge.0 as usize] as usize - 1] as u32;
    let neighbours = edges.iter().map(|edge| edge.1 - first_node(edge)).collect();
    let edge_labels = tables.edge_labels.map(|FileGrid { grid, .. }| {
        let labels = grid.combinations().unwrap_or(grid.values);
        edges.iter().map(|edge| labels[edge.2 as usize]).collect()
    });
    let node_labels = tables.node_labels.map(|file| file.grid);
    let data = GraphData {
        name: name.to_string(),
        node_offsets,
        edge_offsets,
        neighbours,
        labels,
        classes,
        label_combinations: node_labels.as_ref().and_then(Grid::combinations),
        node_labels,
        attributes: tables.node_attributes.map(|file| file.grid),
        edge_labels,
        columns: Columns::default(),
    };
    Ok((data.with_default_features(), report))
}

/// The first node of each graph, from the graph of each node.
fn node_offsets(indicator: &Table<i64>, graph_labels: Option<&Table<i64>>) -> Result<Vec<usize>, DataError> {
    // Without labels, the last node is of the last graph, because nodes are sorted by graph.
    let last = indicator.values.last().copied().unwrap_or_default();
    let graphs = graph_labels.map_or(last, |labels| labels.len() as i64);
    let mut offsets = Vec::with_capacity(indicator.len().min(graphs.unsigned_abs() as usize) + 1);
    let mut before = 0;
    for (index, &id) in indicator.values.iter().enumerate() {
        let at = || indicator.location(index);
        if id < 1 || graph_labels.is_some() && id > graphs {
            return Err(DataError::at(at(), out_of_range(id, graph_labels)));
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
    if before < graphs {
        return Err(without_nodes(indicator.location(indicator.len() - 1), before + 1));
    }
    offsets.push(indicator.len());
    Ok(offsets)
}

fn out_of_range(id: i64, graph_labels: Option<&Table<i64>>) -> String {
    let range = graph_labels.map(|labels| format!(" to {}, the number of lines in {}", labels.len(), labels.at.display()));
    let remedy = if id == 0 {
        "If ids start at 0, add 1 to all of them: `awk '{print $1 + 1}' OLD > NEW`"
    } else {
        "Correct the id, or fetch both files again"
    };
    format!(
        "graph id {id} is out of range: graphs are numbered from 1{}. {remedy}",
        range.unwrap_or_default()
    )
}

fn without_nodes(at: LineLocation, graph: i64) -> DataError {
    let what = format!("graph {graph} has no nodes: no line contains its id");
    DataError::at(
        at,
        format!("{what}. Remove the graph and its label, if any, and number the others from 1 without a gap"),
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

fn check_label_range(at: &Path, ranges: &[(i64, i64, u64)]) -> Result<(), DataError> {
    let mut width: u64 = 0;
    for (column, &(least, largest, range)) in (1..).zip(ranges) {
        width = width.saturating_add(range);
        if width > MOST_COLUMNS as u64 {
            let of_column = if ranges.len() > 1 {
                format!(" in column {column}")
            } else {
                String::new()
            };
            let what = format!(
                "node labels go from {least} to {largest}{of_column}, which makes {width} columns; at most {MOST_COLUMNS} are supported"
            );
            let remedy = "Renumber the labels without large gaps, or move real numbers to `_node_attributes.txt`";
            return Err(DataError::file(at, format!("{what}. {remedy}")));
        }
    }
    Ok(())
}

/// Checks that both nodes of each edge exist and are of the same graph.
fn check_edges(edges: &Table<[i64; 2]>, indicator: &Table<i64>, node_offsets: &[usize]) -> Result<(), DataError> {
    let nodes = indicator.len();
    for (index, &[row, column]) in edges.values.iter().enumerate() {
        let at = || edges.location(index);
        for (field, id) in [("row", row), ("column", column)] {
            if id < 1 || id > nodes as i64 {
                let indicator = indicator.at.display();
                let what =
                    format!("{field} is node {id}, but nodes are numbered from 1 to {nodes}, the number of lines in {indicator}");
                let remedy = if id == 0 {
                    "Correct the id or, if ids start at 0, add 1 to all of them"
                } else {
                    "Correct the id, or fetch both files again"
                };
                return Err(DataError::at(at(), format!("{what}. {remedy}")));
            }
        }
        let [row_graph, column_graph] = [row, column].map(|id| indicator.values[id as usize - 1]);
        if row_graph != column_graph {
            let what = format!("the edge joins node {row} of graph {row_graph} with node {column} of graph {column_graph}");
            let remedy = match LocalIds::of(edges, node_offsets) {
                Some(local) => local.refusal(),
                None => "Remove the edge, or correct the graph ids of the nodes".to_owned(),
            };
            return Err(DataError::at(at(), format!("{what}. {remedy}")));
        }
    }
    Ok(())
}

/// Signs that the ids of nodes start anew in each graph: no edge has an id above the size of the largest graph.
struct LocalIds {
    largest_graph: usize,
    /// Graphs of several nodes that are behind all nodes with edges.
    behind: usize,
    graphs: usize,
}

impl LocalIds {
    fn of(edges: &Table<[i64; 2]>, node_offsets: &[usize]) -> Option<Self> {
        let graphs = || node_offsets.windows(2).map(|nodes| (nodes[0], nodes[1] - nodes[0]));
        let largest_graph = graphs().map(|(_, size)| size).max()?;
        let largest_id = edges.values.iter().flatten().max().map_or(0, |&id| id as usize);
        let signs = Self {
            largest_graph,
            behind: graphs().filter(|&(first, size)| first >= largest_id && size > 1).count(),
            graphs: node_offsets.len() - 1,
        };
        (signs.graphs > 1 && largest_id <= largest_graph).then_some(signs)
    }

    /// Refuses edges that repeat although graphs have none, and edges that leave most graphs without any.
    fn refuse(&self, edges: &Table<[i64; 2]>) -> Result<(), DataError> {
        if self.behind == 0 {
            return Ok(());
        }
        let without = format!("{} of {} graphs have no edge", self.behind, self.graphs);
        let mut lines = HashMap::new();
        for (index, edge) in edges.values.iter().enumerate() {
            if let Some(first) = lines.insert(edge, index) {
                let (at, [row, column]) = (edges.location(index), edge);
                let first = edges.location(first).line;
                let what = format!("the edge `{row}, {column}` is the same as in line {first}, but {without}");
                return Err(DataError::at(at, format!("{what}. {}", self.refusal())));
            }
        }
        if 2 * self.behind > self.graphs {
            return Err(DataError::file(&edges.at, format!("{without}. {}", self.refusal())));
        }
        Ok(())
    }

    fn refusal(&self) -> String {
        format!(
            "No id is above {}, the size of the largest graph, so nodes seem to be numbered anew in each graph. Number them through: add to \
             the ids of a graph the number of nodes of all graphs before it; if graphs have no edges indeed, leave them out",
            self.largest_graph
        )
    }
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
        let remedy =
            "At least two classes are needed; check that this is the right file, or remove it to train without evaluation";
        return Err(DataError::file(&table.at, format!("{what}. {remedy}")));
    }
    let index = |label: &i64| distinct.partition_point(|other| other < label) as u32;
    let labels = table.values.iter().map(index).collect();
    Ok((distinct.iter().map(i64::to_string).collect(), labels))
}
