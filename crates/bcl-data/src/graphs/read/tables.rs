//! Finds the files of a data set and reads each of them.

use super::files::{Files, PackedFile};
use super::rows::{CORRECT, NOT_A_CLASS, NOT_AN_INTEGER, Row, Rows, misnamed};
use crate::error::LineLocation;
use crate::graphs::features::{Grid, MOST_COLUMNS};
use crate::{DataError, memory};
use std::path::{Path, PathBuf};

/// Maximum number of lines per file.
const MOST_LINES: usize = 500_000_000;
/// Minimum memory per line of a file, in bytes: an edge while it is read, sorted and stored.
const LINE_BYTES: u64 = 36;

/// The content of all files of a data set, not yet compared with each other.
pub(super) struct Tables {
    pub(super) edges: Table<[i64; 2]>,
    pub(super) indicator: Table<i64>,
    pub(super) graph_labels: Option<Table<i64>>,
    pub(super) node_labels: Option<FileGrid<i64>>,
    pub(super) node_attributes: Option<FileGrid<f32>>,
    pub(super) edge_labels: Option<FileGrid<i64>>,
    /// Files of the data set that are not read.
    pub(super) unread: Vec<String>,
}

/// The values of a file: one entry per line, without a gap.
pub(super) struct Table<T> {
    pub(super) at: PathBuf,
    pub(super) first_line: u64,
    pub(super) values: Vec<T>,
}

/// The values of a file with the same number of values per line.
pub(super) struct FileGrid<T> {
    pub(super) at: PathBuf,
    pub(super) grid: Grid<T>,
}

/// Contents of the required files, for errors.
const EDGES: &str = "the two nodes of each edge";
const INDICATOR: &str = "the graph of each node";
const GRAPH_LABELS: &str = "the class of each graph";

impl Tables {
    pub(super) fn read(files: &Files) -> Result<Self, DataError> {
        let names = files.names()?;
        let prefix = prefix(files, &names)?;
        refuse_twice(files, &names, &prefix)?;

        let (mut edges, mut indicator, mut graph_labels) = (None, None, None);
        let (mut node_labels, mut node_attributes, mut edge_labels) = (None, None, None);
        let part_of = |name: &str| PARTS.into_iter().find(|part| plain(name) == file_name(&prefix, part));
        // The part that a file with another ending would be, if no other file is this part.
        let meant = |name: &str| {
            let missing = |part: &&str| !names.iter().any(|other| part_of(other) == Some(*part));
            let has_name_of = |part: &&str| name.strip_prefix(&format!("{prefix}_{part}.")).is_some();
            PARTS.into_iter().filter(has_name_of).find(missing)
        };
        files.for_each(
            &mut |name| part_of(name).or_else(|| meant(name)).is_some(),
            &mut |name, file| {
                match part_of(name) {
                    Some("A") => edges = Some(edge_table(file)?),
                    Some("graph_indicator") => indicator = Some(indicator_table(file)?),
                    Some("graph_labels") => graph_labels = Some(class_table(file)?),
                    Some("node_labels") => node_labels = Some(labels(file, "nodes", "node label")?),
                    Some("edge_labels") => edge_labels = Some(labels(file, "edges", "edge label")?),
                    Some(_) => node_attributes = Some(grid(file, "nodes", |row, value| row.number("attribute", value))?),
                    None => return Err(misnamed(file, &file_name(&prefix, meant(name).unwrap_or_default()))),
                }
                Ok(())
            },
        )?;

        let at = |part: &str| files.location(&file_name(&prefix, part));
        let is_unread = |name: &String| {
            let is_ours = name.strip_prefix(&*prefix).is_some_and(|rest| rest.starts_with('_'));
            is_ours && part_of(name).is_none() && !name.to_lowercase().contains("readme")
        };
        Ok(Self {
            edges: filled(required(edges, at("A"), EDGES)?, EDGES)?,
            indicator: filled(required(indicator, at("graph_indicator"), INDICATOR)?, INDICATOR)?,
            graph_labels: graph_labels.map(|table| filled(table, GRAPH_LABELS)).transpose()?,
            node_labels,
            node_attributes,
            edge_labels,
            unread: names.iter().filter(|name| is_unread(name)).cloned().collect(),
        })
    }
}

impl<T> Table<T> {
    /// Number of lines.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// The line of entry `index`.
    pub(super) fn location(&self, index: usize) -> LineLocation {
        LineLocation::new(&self.at, index as u64 + self.first_line)
    }
}

/// The name of the file of a part, not packed.
fn file_name(prefix: &str, part: &str) -> String {
    format!("{prefix}_{part}.txt")
}

/// The ends of the names of all files that are read.
const PARTS: [&str; 6] = [
    "A",
    "graph_indicator",
    "graph_labels",
    "node_labels",
    "node_attributes",
    "edge_labels",
];

/// What the names of all files begin with.
fn prefix(files: &Files, names: &[String]) -> Result<String, DataError> {
    let of_edges = |name: &'_ str| plain(name).strip_suffix("_A.txt").map(str::len);
    let with_another_ending = |name: &'_ str| name.rfind("_A.");
    let all = |length: &dyn Fn(&str) -> Option<usize>| -> Vec<&str> {
        let mut prefixes: Vec<&str> = names.iter().filter_map(|name| Some(&name[..length(name)?])).collect();
        prefixes.dedup();
        prefixes
    };
    let mut prefixes = all(&of_edges);
    if prefixes.is_empty() {
        prefixes = all(&with_another_ending);
    }
    let problem = match prefixes.as_slice() {
        [prefix] => return Ok((*prefix).to_string()),
        [] => {
            "contains no file that ends in `_A.txt`. Name the folder or archive that contains NAME_A.txt and NAME_graph_indicator.txt"
                .to_owned()
        }
        _ => {
            let names = prefixes.join(", ");
            format!("contains several data sets: {names}. Keep each in a folder or archive of its own")
        }
    };
    Err(DataError::file(files.path(), problem))
}

/// The name of a file without `.gz`.
fn plain(name: &str) -> &str {
    name.strip_suffix(".gz").unwrap_or(name)
}

fn refuse_twice(files: &Files, names: &[String], prefix: &str) -> Result<(), DataError> {
    for part in PARTS {
        let name = file_name(prefix, part);
        if names.iter().filter(|other| plain(other) == name).count() > 1 {
            let problem = "exists twice, perhaps plain and gzipped or in two folders of an archive. Remove one of the two";
            return Err(DataError::file(&files.location(&name), problem));
        }
    }
    Ok(())
}

fn required<T>(table: Option<Table<T>>, at: PathBuf, content: &'static str) -> Result<Table<T>, DataError> {
    table.ok_or_else(|| {
        let problem = format!("no such file, but it must contain {content}. Add it, or fetch the data set again");
        DataError::file(&at, problem)
    })
}

fn filled<T>(table: Table<T>, content: &'static str) -> Result<Table<T>, DataError> {
    if !table.values.is_empty() {
        return Ok(table);
    }
    let remedy = if content == GRAPH_LABELS {
        "Fetch the data set again, or remove the file to train without evaluation"
    } else {
        "Fetch the data set again"
    };
    Err(DataError::file(
        &table.at,
        format!("is empty, but must contain {content}. {remedy}"),
    ))
}

fn edge_table(file: PackedFile) -> Result<Table<[i64; 2]>, DataError> {
    const WEIGHTS: &str = "Keep the two nodes: weights and labels of edges are not read here";
    rows(Rows::open(file, "edges")?, |row| {
        row.integers(["row", "column"], NOT_AN_INTEGER, WEIGHTS)
    })
}

fn indicator_table(file: PackedFile) -> Result<Table<i64>, DataError> {
    rows(Rows::open(file, "nodes")?, |row| {
        row.integers(["graph id"], NOT_AN_INTEGER, CORRECT).map(|[graph]| graph)
    })
}

fn class_table(file: PackedFile) -> Result<Table<i64>, DataError> {
    const SEVERAL: &str = "Keep the class to evaluate with, or remove the file to train without evaluation";
    rows(Rows::open(file, "graphs")?, |row| {
        row.integers(["class"], NOT_A_CLASS, SEVERAL).map(|[class]| class)
    })
}

/// Reads a row of labels per node or edge.
fn labels(file: PackedFile, unit: &'static str, field: &'static str) -> Result<FileGrid<i64>, DataError> {
    grid(file, unit, |row, value| row.integer(field, value, NOT_AN_INTEGER))
}

fn rows<T>(mut rows: Rows, parse: impl Fn(&Row) -> Result<T, DataError>) -> Result<Table<T>, DataError> {
    let limit = most_lines(1);
    let at = rows.path().to_path_buf();
    let mut values = Vec::new();
    while let Some(row) = rows.next()? {
        if values.len() == limit {
            return Err(too_large(&at, limit, "lines"));
        }
        values.push(parse(&row)?);
    }
    Ok(Table {
        at,
        first_line: rows.first_line(),
        values,
    })
}

/// Reads as many values per line as the first line has.
fn grid<T>(
    file: PackedFile,
    unit: &'static str,
    parse: impl Fn(&Row, &str) -> Result<T, DataError>,
) -> Result<FileGrid<T>, DataError> {
    let mut rows = Rows::open(file, unit)?;
    let at = rows.path().to_path_buf();
    let (mut width, mut lines, mut limit) = (0, 0, 0);
    let mut values = Vec::new();
    while let Some(row) = rows.next()? {
        let before = values.len();
        for value in row.values() {
            values.push(parse(&row, value)?);
        }
        let found = values.len() - before;
        if lines == 0 {
            (width, limit) = (found, most_lines(found * size_of::<T>()));
        }
        if found > MOST_COLUMNS {
            return Err(too_large(&at, MOST_COLUMNS, "values per line"));
        }
        if found != width {
            return Err(row.value_count(&format!("{width}, as in the first line"), found, CORRECT));
        }
        if lines == limit {
            return Err(too_large(&at, limit, "lines"));
        }
        lines += 1;
    }
    let grid = Grid { width, values };
    Ok(FileGrid { at, grid })
}

fn too_large(at: &Path, limit: usize, what: &str) -> DataError {
    let problem = format!("has more than {limit} {what}. Use a part of the data, or a machine with more memory");
    DataError::file(at, problem)
}

/// The number of lines with so many bytes of values that fit into free memory.
fn most_lines(bytes: usize) -> usize {
    let bytes = LINE_BYTES.max(bytes as u64);
    let fitting = memory::available().map_or(u64::MAX, |available| available / bytes);
    fitting.min(MOST_LINES as u64) as usize
}
