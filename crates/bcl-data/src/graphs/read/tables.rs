//! Finds the files of a data set and reads each of them.

use super::files::{Files, PackedFile};
use super::rows::{NOT_A_CLASS, NOT_AN_INTEGER, Rows};
use crate::error::LineLocation;
use crate::graphs::features::{Attributes, MOST_COLUMNS};
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
    pub(super) graph_labels: Table<i64>,
    pub(super) node_labels: Option<Table<i64>>,
    pub(super) node_attributes: Option<(PathBuf, Attributes)>,
    pub(super) edge_labels: Option<Table<i64>>,
}

/// The values of a file: one entry per line, from line 1 without a gap.
pub(super) struct Table<T> {
    pub(super) at: PathBuf,
    pub(super) values: Vec<T>,
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
        let part_of = |name: &str| {
            let part = plain(name).strip_prefix(&*prefix)?.strip_prefix('_')?.strip_suffix(".txt")?;
            PARTS.iter().copied().find(|known| *known == part)
        };
        files.for_each(&mut |name| part_of(name).is_some(), &mut |name, file| {
            match part_of(name).unwrap_or_default() {
                "A" => edges = Some(edge_table(file)?),
                "graph_indicator" => indicator = Some(table(file, "nodes", "graph id", NOT_AN_INTEGER)?),
                "graph_labels" => graph_labels = Some(table(file, "graphs", "class", NOT_A_CLASS)?),
                "node_labels" => node_labels = Some(table(file, "nodes", "node label", NOT_AN_INTEGER)?),
                "edge_labels" => edge_labels = Some(table(file, "edges", "edge label", NOT_AN_INTEGER)?),
                _ => node_attributes = Some(attributes(file)?),
            }
            Ok(())
        })?;

        let at = |part: &str| files.location(&format!("{prefix}_{part}.txt"));
        Ok(Self {
            edges: required(edges, at("A"), EDGES)?,
            indicator: required(indicator, at("graph_indicator"), INDICATOR)?,
            graph_labels: required(graph_labels, at("graph_labels"), GRAPH_LABELS)?,
            node_labels,
            node_attributes,
            edge_labels,
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
        LineLocation::new(&self.at, index as u64 + 1)
    }
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
    let mut prefixes: Vec<&str> = names.iter().filter_map(|name| plain(name).strip_suffix("_A.txt")).collect();
    prefixes.dedup();
    let problem = match prefixes.as_slice() {
        [prefix] => return Ok((*prefix).to_string()),
        [] => {
            "contains no file that ends in `_A.txt`. Name the folder or archive that contains NAME_A.txt, NAME_graph_indicator.txt and \
             NAME_graph_labels.txt"
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
        let name = format!("{prefix}_{part}.txt");
        if names.iter().filter(|other| plain(other) == name).count() > 1 {
            let problem = "exists twice, perhaps plain and gzipped or in two folders of an archive. Remove one of the two";
            return Err(DataError::file(&files.location(&name), problem));
        }
    }
    Ok(())
}

fn required<T>(table: Option<Table<T>>, at: PathBuf, content: &'static str) -> Result<Table<T>, DataError> {
    let table = table.ok_or_else(|| {
        let problem = format!("no such file, but it must contain {content}. Add it, or fetch the data set again");
        DataError::file(&at, problem)
    })?;
    if table.values.is_empty() {
        let problem = format!("is empty, but must contain {content}. Fetch the data set again");
        return Err(DataError::file(&table.at, problem));
    }
    Ok(table)
}

fn edge_table(file: PackedFile) -> Result<Table<[i64; 2]>, DataError> {
    collect(Rows::open(file, "edges")?, |row| {
        row.integers(["row", "column"], NOT_AN_INTEGER)
    })
}

fn table(file: PackedFile, rows: &'static str, field: &'static str, problem: &str) -> Result<Table<i64>, DataError> {
    collect(Rows::open(file, rows)?, |row| {
        row.integers([field], problem).map(|[value]| value)
    })
}

fn collect<T>(mut rows: Rows, parse: impl Fn(&super::rows::Row) -> Result<T, DataError>) -> Result<Table<T>, DataError> {
    let limit = most_lines(1);
    let at = rows.path().to_path_buf();
    let mut values = Vec::new();
    while let Some(row) = rows.next()? {
        if values.len() == limit {
            return Err(too_large(&at, limit, "lines"));
        }
        values.push(parse(&row)?);
    }
    Ok(Table { at, values })
}

/// Reads one row of numbers per node.
fn attributes(file: PackedFile) -> Result<(PathBuf, Attributes), DataError> {
    let mut rows = Rows::open(file, "nodes")?;
    let at = rows.path().to_path_buf();
    let (mut width, mut lines, mut limit) = (0, 0, 0);
    let mut values = Vec::new();
    while let Some(row) = rows.next()? {
        let before = values.len();
        for value in row.values() {
            values.push(row.number("attribute", value)?);
        }
        let found = values.len() - before;
        if lines == 0 {
            (width, limit) = (found, most_lines(found));
        }
        if found > MOST_COLUMNS {
            return Err(too_large(&at, MOST_COLUMNS, "attributes per node"));
        }
        if found != width {
            return Err(row.value_count(&format!("{width}, as in the first line"), found));
        }
        if lines == limit {
            return Err(too_large(&at, limit, "lines"));
        }
        lines += 1;
    }
    Ok((at, Attributes { width, values }))
}

fn too_large(at: &Path, limit: usize, what: &str) -> DataError {
    let problem = format!("has more than {limit} {what}. Use a part of the data, or a machine with more memory");
    DataError::file(at, problem)
}

/// The number of lines with `values` values that fit into free memory.
fn most_lines(values: usize) -> usize {
    let bytes = LINE_BYTES.max(4 * values as u64);
    let fitting = memory::available().map_or(u64::MAX, |available| available / bytes);
    fitting.min(MOST_LINES as u64) as usize
}
