//! Errors of graph data sets in the text format of the TU collection.

use super::LineLocation;
use std::path::PathBuf;

/// What is wrong with a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ValueProblem {
    /// No value between two commas, or at the end of a line.
    #[error("is empty. Fill it in")]
    Empty,
    /// Something else where an integer is needed.
    #[error("is not an integer. Correct it; ids and labels are integers, and real numbers belong in `_node_attributes.txt`")]
    NotAnInteger,
    /// A graph label that is a real number.
    #[error("is not an integer. Classes are integers; a data set with real numbers here is for regression and has no classes")]
    NotAClass,
    /// Text where a number is needed.
    #[error("is not a number. Correct it")]
    NotANumber,
    /// NaN, infinite, or too large for 32 bits.
    #[error("is not a finite 32-bit number. Replace it by a finite one")]
    NotFinite,
}

/// Why a data set of graphs cannot be used: what is wrong, where, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// A folder or archive without a data set of graphs.
    #[error(
        "{}: contains no file that ends in `_A.txt`. Name the folder or archive that contains NAME_A.txt, \
         NAME_graph_indicator.txt and NAME_graph_labels.txt.",
        path.display()
    )]
    NoGraphs {
        /// The folder or archive.
        path: PathBuf,
    },

    /// A folder or archive with more than one data set of graphs.
    #[error("{}: contains several data sets: {names}. Keep each in a folder or archive of its own.", path.display())]
    SeveralDataSets {
        /// The folder or archive.
        path: PathBuf,
        /// Their names.
        names: String,
    },

    /// A file is missing.
    #[error("{}: no such file, but it must contain {content}. Add it, or fetch the data set again.", at.display())]
    MissingFile {
        /// Where it should be.
        at: PathBuf,
        /// What it contains.
        content: &'static str,
    },

    /// A file exists twice.
    #[error("{}: exists twice, perhaps plain and gzipped or in two folders of an archive. Remove one of the two.", at.display())]
    Twice {
        /// The file.
        at: PathBuf,
    },

    /// A file without lines.
    #[error("{}: is empty, but must contain {content}. Fetch the data set again.", at.display())]
    EmptyFile {
        /// The file.
        at: PathBuf,
        /// What it contains.
        content: &'static str,
    },

    /// A blank line before the end of a file.
    #[error("{at}: the line is blank, so values after it would belong to other {rows}. Fill it in or delete it.")]
    BlankLine {
        /// The line.
        at: LineLocation,
        /// What the lines of the file stand for, in the plural.
        rows: &'static str,
    },

    /// A line has more or fewer values than it should.
    #[error("{at}: {found} value(s) in `{line}`, but each line must have {expected}, separated by commas. Correct the line.")]
    ValueCount {
        /// The line.
        at: LineLocation,
        /// Its text, shortened.
        line: String,
        /// The required number of values, and what they are.
        expected: String,
        /// Number of values.
        found: usize,
    },

    /// A value is not what its file contains.
    #[error("{at}: {field} `{value}` {problem}.")]
    BadValue {
        /// The line.
        at: LineLocation,
        /// Name of the value.
        field: &'static str,
        /// Its text, shortened.
        value: String,
        /// What is wrong.
        problem: ValueProblem,
    },

    /// A node id of an edge is out of range.
    #[error(
        "{at}: {field} is node {id}, but nodes are numbered from 1 to {nodes}, the number of lines in {}. Correct the id, or \
         fetch both files again.",
        indicator.display()
    )]
    NodeOutOfRange {
        /// The line of the edge.
        at: LineLocation,
        /// `row` or `column`.
        field: &'static str,
        /// The id.
        id: i64,
        /// Number of nodes.
        nodes: usize,
        /// The file that has a line per node.
        indicator: PathBuf,
    },

    /// The graph id of a node is out of range.
    #[error(
        "{at}: graph id {id} is out of range: graphs are numbered from 1 to {graphs}, the number of lines in {}. Correct the \
         id, or fetch both files again.",
        labels.display()
    )]
    GraphOutOfRange {
        /// The line of the node.
        at: LineLocation,
        /// The id.
        id: i64,
        /// Number of graphs.
        graphs: usize,
        /// The file that has a line per graph.
        labels: PathBuf,
    },

    /// The nodes of a graph are not on consecutive lines.
    #[error("{at}: graph id {id} comes after {before}. Sort the nodes by graph, and number them in that order in all files.")]
    UnsortedGraphs {
        /// The line.
        at: LineLocation,
        /// Its graph id.
        id: i64,
        /// The graph id of the line before.
        before: i64,
    },

    /// A graph has no nodes.
    #[error(
        "{at}: graph {graph} has no nodes: no line contains its id. Remove the graph and its label, and number the others \
         from 1 without a gap."
    )]
    GraphWithoutNodes {
        /// The line after which its nodes should be.
        at: LineLocation,
        /// Id of the graph.
        graph: i64,
    },

    /// An edge joins two graphs.
    #[error(
        "{at}: the edge joins node {row} of graph {row_graph} with node {column} of graph {column_graph}. Remove the edge, \
         or correct the graph ids of the nodes."
    )]
    EdgeBetweenGraphs {
        /// The line of the edge.
        at: LineLocation,
        /// Its first node.
        row: i64,
        /// The graph of the first node.
        row_graph: i64,
        /// Its second node.
        column: i64,
        /// The graph of the second node.
        column_graph: i64,
    },

    /// An edge is given in one direction only.
    #[error(
        "{at}: the edge `{row}, {column}` has no line `{column}, {row}`; {count} edge(s) of the file lack their reverse. Add \
         the missing lines, or set `symmetrise = true` to have them added."
    )]
    MissingReverse {
        /// The first such line.
        at: LineLocation,
        /// Its first node.
        row: u32,
        /// Its second node.
        column: u32,
        /// Number of different edges without their reverse.
        count: usize,
    },

    /// Two files that go together differ in their number of lines.
    #[error(
        "{}: has {found} lines, but must have {expected}, one per {row} as in {}. Fetch both files again.",
        at.display(),
        other.display()
    )]
    LineCount {
        /// The file.
        at: PathBuf,
        /// Its number of lines.
        found: usize,
        /// The required number.
        expected: usize,
        /// What a line stands for.
        row: &'static str,
        /// The file that has the required number.
        other: PathBuf,
    },

    /// Node labels are so far apart that one column for each value between them is not reasonable.
    #[error(
        "{}: node labels go from {least} to {largest}, which makes {width} columns; at most {limit} are supported. Renumber \
         the labels without large gaps, or move real numbers to `_node_attributes.txt`.",
        at.display()
    )]
    LabelRange {
        /// The file.
        at: PathBuf,
        /// The smallest label.
        least: i64,
        /// The largest label.
        largest: i64,
        /// Number of columns.
        width: u64,
        /// Maximum number of columns.
        limit: usize,
    },

    /// All graphs have the same label.
    #[error(
        "{}: all {graphs} graphs have the label {label}. At least two classes are needed; check that it is the right file.",
        at.display()
    )]
    OneClass {
        /// The file.
        at: PathBuf,
        /// The label.
        label: i64,
        /// Number of graphs.
        graphs: usize,
    },

    /// A file is larger than supported.
    #[error("{}: has more than {limit} {what}. Use a part of the data, or a machine with more memory.", at.display())]
    TooLarge {
        /// The file.
        at: PathBuf,
        /// What there is too much of, in the plural.
        what: &'static str,
        /// The maximum.
        limit: usize,
    },

    /// Features that need node labels, of graphs without them.
    #[error(
        "data set `{name}` has no node labels. Use the degree or a constant as features: `features = \"degree\"` or \
         `\"constant\"`."
    )]
    NoNodeLabels {
        /// The data set.
        name: String,
    },

    /// Features that need node attributes, of graphs without them.
    #[error("data set `{name}` has no node attributes. Set `node_attributes = false`, or fetch a version that has them.")]
    NoNodeAttributes {
        /// The data set.
        name: String,
    },

    /// The number of graphs of a class differs from the manifest.
    #[error(
        "{}: data set `{name}` has {found} graphs with the label {label}, but must have {expected}. The file is incomplete \
         or another version: fetch it again, or name the files in the recipe to use them as they are.",
        path.display()
    )]
    ClassCount {
        /// The data set.
        name: String,
        /// Its folder or archive.
        path: PathBuf,
        /// The label.
        label: String,
        /// The manifest's count.
        expected: usize,
        /// The file's count.
        found: usize,
    },
}
