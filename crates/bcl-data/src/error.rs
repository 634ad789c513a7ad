//! Errors of data from outside.
//!
//! Each message says where (`file:line`), what (field and value), and what to do about it; `tests/bad_input.rs` checks that.

mod archive;
mod graphs;

pub use archive::ArchiveError;
pub use graphs::{GraphError, ValueProblem};

use crate::{Format, search_path::FileNotFound};
use bcl_files::input::NotRegular;
use std::fmt;
use std::path::{Path, PathBuf};

/// A line of a file, shown as `file:line`; a row in formats without lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineLocation {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1; 0 for the file as a whole. If the file is compressed, a line of the unpacked text.
    pub line: u64,
}

impl fmt::Display for LineLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match self.line {
            0 => write!(f, "{path}"),
            line => write!(f, "{path}:{line}"),
        }
    }
}

/// What is wrong with a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FieldProblem {
    /// An empty id or number.
    #[error("is empty. Fill it in or delete the line")]
    Empty,
    /// An id that is a negative number.
    #[error("is negative, which usually marks a missing id. Use ids from 0 on, or any text that is not a negative number")]
    Negative,
    /// Text in place of a number.
    #[error("is not a number. Correct it or delete the line; a header must name its columns `user,item,rating,timestamp`")]
    NotANumber,
    /// A number, but NaN or infinite.
    #[error("is not finite. Replace it by a finite number or delete the line")]
    NotFinite,
    /// A list, an object or a truth value in place of text or a number.
    #[error("is not text or a number. Correct it, or name another key in `data.columns`")]
    NotText,
    /// Text that is neither a number nor a date.
    #[error(
        "is no time. Write a number, such as seconds since 1970, or a date in UTC such as 2010-10-19 or 2010-10-19T23:55:27Z, or split \
         without times: `data.split.order = \"random\"`"
    )]
    NotATime,
    /// A number of JSON or Parquet that is too large to be exact.
    #[error("is too large for a float, so different values would look the same. Write it as text, in JSON in quotes")]
    Rounded,
}

/// Why data cannot be used: what is wrong, where, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// A file does not exist.
    #[error("{}: no such file. Check the path.", path.display())]
    MissingFile {
        /// The file.
        path: PathBuf,
    },

    /// A file that a recipe names is in none of the folders searched.
    #[error(transparent)]
    NotFound(#[from] Box<FileNotFound>),

    /// The path of a file names a folder.
    #[error("{}: is a folder. Name the file in it that contains the interactions.", path.display())]
    IsFolder {
        /// The folder.
        path: PathBuf,
    },

    /// A file cannot be opened or read.
    #[error("{}: cannot be read: {source}. Check its permissions and the disk.", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },

    /// The path of a file names a pipe or a device.
    #[error("{}: is {found}, not a file. Save its content to a file and pass that file: data are read again when a run is resumed.", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// What it is.
        found: &'static str,
    },

    /// A compressed file is a decompression bomb.
    #[error("{}: {}.", path.display(), bcl_files::input::DecompressionBomb)]
    DecompressionBomb {
        /// The file.
        path: PathBuf,
    },

    /// A file has too many interactions.
    #[error("{}: has more than {limit} interactions, {reason}. Use a part of the data, or a machine with more memory.", path.display())]
    TooManyRows {
        /// The file.
        path: PathBuf,
        /// The maximum number of interactions.
        limit: usize,
        /// The reason for the limit.
        reason: String,
    },

    /// A file is compressed, but not with gzip.
    #[error("{}: is a {kind} archive. Unpack it and name the file inside; only .gz is read directly.", path.display())]
    Packed {
        /// The file.
        path: PathBuf,
        /// Its format.
        kind: &'static str,
    },

    /// A file is in the Parquet format, which the program was built without.
    #[error(
        "{}: is a Parquet file, and this program was built without Parquet. Run `cargo run -p bcl-train --features parquet -- …`, or convert \
         the file with pandas: `pd.read_parquet(\"…\").to_csv(\"…\", index=False)`.",
        path.display()
    )]
    WithoutParquet {
        /// The file.
        path: PathBuf,
    },

    /// A Parquet file is damaged, or packed in a way that is not supported.
    #[error("{}: cannot be read as Parquet: {source}. Fetch, copy or write it again.", path.display())]
    DamagedParquet {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: Box<dyn std::error::Error + Send + Sync>,
    },

    /// A gzip file is truncated.
    #[error("{at}: the gzip file is truncated here. Fetch or copy it again.")]
    TruncatedGzip {
        /// Where the text ends.
        at: LineLocation,
    },

    /// A gzip file is damaged.
    #[error("{at}: the gzip file is damaged here ({source}). Fetch or copy it again.")]
    DamagedGzip {
        /// Where the text ends.
        at: LineLocation,
        /// What is wrong with it.
        source: std::io::Error,
    },

    /// A line is not UTF-8.
    #[error("{at}: byte {column} of the line is not UTF-8. Convert the file, for example with `iconv -f LATIN1 -t UTF-8`.")]
    NotUtf8 {
        /// The line.
        at: LineLocation,
        /// The first invalid byte of the line, from 1.
        column: usize,
    },

    /// A line is too long.
    #[error("{at}: the line is longer than {} MiB. Check that this is a text file with one row or user per line.", limit >> 20)]
    LineTooLong {
        /// The line.
        at: LineLocation,
        /// The maximum length in bytes.
        limit: usize,
    },

    /// The format of a file is not clear from its name and first lines.
    #[error(
        "{}:1: cannot tell the format from the line `{line}`. Set `format` to one of {}.",
        path.display(),
        Format::names()
    )]
    UnknownFormat {
        /// The file.
        path: PathBuf,
        /// Its first line, shortened.
        line: String,
    },

    /// A quote in a CSV field is never closed.
    #[error("{at}: the quote (\") that opens here is never closed. Close it, or write a quote within a field in quotes as \"\".")]
    UnclosedQuote {
        /// The line with the opening quote.
        at: LineLocation,
    },

    /// A row has more or fewer fields than its format requires.
    #[error("{at}: {found} field(s) in `{line}`, but {format} rows have {expected}. Correct the line, or set `format`.")]
    FieldCount {
        /// The line.
        at: LineLocation,
        /// Its text, shortened.
        line: String,
        /// How the file is read.
        format: Format,
        /// The required fields.
        expected: String,
        /// Number of fields.
        found: usize,
    },

    /// A header or a JSON object lacks a column.
    #[error(
        "{at}: no column `{column}`. The columns are {columns}. Name the right one, `{key} = \"…\"`, or number \
         it from 1 if the file has no header."
    )]
    MissingColumn {
        /// The header's line.
        at: LineLocation,
        /// The column.
        column: String,
        /// The names of the columns, each in backquotes, shortened.
        columns: String,
        /// The key of the recipe that names the column.
        key: &'static str,
    },

    /// A recipe names a column by a number that is too large.
    #[error(
        "{at}: {key} is {number}, but the line `{line}` has {width} column(s). Use a number from 1 to {width}, or set `data.format`."
    )]
    NoSuchColumn {
        /// The first line of the file.
        at: LineLocation,
        /// The key of the recipe.
        key: &'static str,
        /// The number.
        number: usize,
        /// Number of columns.
        width: usize,
        /// The text of the line, shortened.
        line: String,
    },

    /// A recipe names a key of JSON lines by a number.
    #[error(
        "{at}: {key} is {number}, but JSON objects have names instead of numbered columns. Set it to the name: `{key} = \"…\"`."
    )]
    NumberedKey {
        /// The first line of the file.
        at: LineLocation,
        /// The key of the recipe.
        key: &'static str,
        /// The number.
        number: usize,
    },

    /// A line of a file of JSON lines is not an object.
    #[error(
        "{at}: column {column} of `{line}` is where the line stops being a JSON object. Write one object per line, as in {{\"user\": 1, \"item\": 2}}."
    )]
    NotAnObject {
        /// The line.
        at: LineLocation,
        /// Its text, shortened.
        line: String,
        /// The byte at which reading stopped, from 1.
        column: usize,
    },

    /// It is not clear how the columns of a file of items are separated.
    #[error(
        "{}: cannot tell the columns of the line `{line}`. Separate id and title by a comma, semicolon, tab, `|` or `::`, or write one \
         JSON object per line.",
        path.display()
    )]
    UnknownItems {
        /// The file.
        path: PathBuf,
        /// The line, shortened.
        line: String,
    },

    /// A row of a file of items has another width than the first.
    #[error(
        "{at}: {found} field(s) in `{line}`, but the first line has {expected}. Correct the line; in CSV, put a title that contains the \
         separator in double quotes."
    )]
    ItemFields {
        /// The line.
        at: LineLocation,
        /// Its text, shortened.
        line: String,
        /// Number of fields of the first line.
        expected: usize,
        /// Number of fields.
        found: usize,
    },

    /// A file of items contains an id twice.
    #[error("{at}: item `{id}` is already in line {first}. Delete one of the two lines.")]
    RepeatedItem {
        /// The second line with the id.
        at: LineLocation,
        /// The id.
        id: String,
        /// The first line with it.
        first: u64,
    },

    /// A file of items contains no item.
    #[error("{}: no item in the file. Check that it is the right one.", path.display())]
    NoItems {
        /// The file.
        path: PathBuf,
    },

    /// No item of the data set is in a file of items.
    #[error(
        "{}: none of its ids, such as `{id}`, is an item of the data; those look like `{item}`. Check that both use the same ids, and name \
         the column of the ids in `data.item_columns.id`.",
        path.display()
    )]
    UnrelatedItems {
        /// The file.
        path: PathBuf,
        /// An id of the file.
        id: String,
        /// An id of the data.
        item: String,
    },

    /// A field has an invalid value.
    #[error("{at}: {field} `{value}` {problem}.")]
    BadField {
        /// The line.
        at: LineLocation,
        /// Name of the field.
        field: &'static str,
        /// Its text, shortened.
        value: String,
        /// What is wrong.
        problem: FieldProblem,
    },

    /// A file contains no interaction.
    #[error(
        "{}: no interaction in the file, read as {format}{}. Check that it is the right file and set `format`.",
        path.display(),
        if *lines > 0 { format!(", up to line {lines}") } else { String::new() }
    )]
    Empty {
        /// The file.
        path: PathBuf,
        /// How the file is read.
        format: Format,
        /// Number of its lines.
        lines: u64,
    },

    /// A rating threshold is set, but the file has no ratings.
    #[error(
        "{}:{line}: min_rating is {min_rating}, but the file, read as {format}, has no ratings. Remove `min_rating` or use a file with ratings.",
        path.display()
    )]
    NoRatings {
        /// The file.
        path: PathBuf,
        /// The first line without a rating.
        line: u64,
        /// How the file is read.
        format: Format,
        /// The threshold.
        min_rating: f64,
    },

    /// No interaction reaches the rating threshold.
    #[error(
        "{}: none of its {rows} ratings reaches min_rating {min_rating}; the highest is {highest}. Lower `min_rating`.",
        path.display()
    )]
    AllBelowMinRating {
        /// The file.
        path: PathBuf,
        /// Interactions in the file.
        rows: usize,
        /// The threshold.
        min_rating: f64,
        /// The highest rating.
        highest: f64,
    },

    /// All interactions are of one user.
    #[error(
        "{}: all {interactions} interactions are of one user, `{user}`. At least two users are needed; check that the first column contains the users.",
        path.display()
    )]
    OneUser {
        /// The file.
        path: PathBuf,
        /// The user.
        user: String,
        /// Number of interactions.
        interactions: usize,
    },

    /// No user has enough interactions to hold one out.
    #[error(
        "{}: no test items: test_ratio {test_ratio} of at most {most} interactions per user rounds to 0. Raise `test_ratio` or use more data.",
        path.display()
    )]
    NoTestItems {
        /// The file.
        path: PathBuf,
        /// The fraction to hold out.
        test_ratio: f64,
        /// The largest number of interactions of one user.
        most: usize,
    },

    /// Train and test overlap.
    #[error(
        "{at}: user `{user}`, item `{item}` is also in {}, as are {} more. Remove them from test: a model has already seen them in training.",
        train.display(), count - 1
    )]
    Leakage {
        /// The first such line of test.
        at: LineLocation,
        /// The training file.
        train: PathBuf,
        /// The user.
        user: String,
        /// The item.
        item: String,
        /// Number of different pairs in both files.
        count: usize,
    },

    /// Train and test have no user in common.
    #[error(
        "{}: none of its {users} users, such as `{user}`, is in {}. Check that both files are of the same data set and use the same user ids.",
        test.display(), train.display()
    )]
    UnrelatedSplit {
        /// The training file.
        train: PathBuf,
        /// The test file.
        test: PathBuf,
        /// A user of test.
        user: String,
        /// Number of users in test.
        users: usize,
    },

    /// No data set has this name.
    #[error("unknown data set `{name}`{} Known data sets: {known}.", did_you_mean(suggestion.as_deref()))]
    UnknownDataset {
        /// The name asked for.
        name: String,
        /// The most similar known name.
        suggestion: Option<&'static str>,
        /// All known names.
        known: String,
    },

    /// The files of a data set are not in the folders searched.
    #[error(
        "data set `{name}` is not in {}: no {files} there, nor in {folders}. Pass its folder with `--data DIR`. {obtain}",
        dir.display()
    )]
    MissingDataset {
        /// The data set.
        name: String,
        /// The data folder.
        dir: PathBuf,
        /// The names of the files.
        files: String,
        /// The folders below `dir` that were searched, too.
        folders: String,
        /// How to get it.
        obtain: String,
    },

    /// A data set of images was named where interactions are needed.
    #[error(
        "data set `{name}` contains images, not interactions. Name a data set of interactions, or train an image encoder on it."
    )]
    HoldsImages {
        /// The data set.
        name: String,
    },

    /// A data set of interactions was named where images are needed.
    #[error("data set `{name}` contains interactions, not images. Name a data set of images, or train a recommender on it.")]
    HoldsInteractions {
        /// The data set.
        name: String,
    },

    /// A data set of graphs was named where other data are needed, or the reverse.
    #[error(
        "data set `{name}` contains {found}, not {needed}. Name a data set of {needed}, or use it in a recipe that trains on {found}."
    )]
    WrongKind {
        /// The data set.
        name: String,
        /// What it contains, in the plural.
        found: &'static str,
        /// What is needed, in the plural.
        needed: &'static str,
    },

    /// The counts of a data set differ from its manifest.
    #[error(
        "{}: data set `{name}` has {found} {what}, but must have {expected}. The file is incomplete or another version: fetch it again, \
         or name the files in the recipe to use them as they are.",
        path.display()
    )]
    Counts {
        /// The data set.
        name: String,
        /// The (training) file.
        path: PathBuf,
        /// The property that was counted.
        what: &'static str,
        /// The manifest's count.
        expected: usize,
        /// The file's count.
        found: usize,
    },

    /// A manifest is invalid.
    #[error("{file}: {source}. Correct the manifest; `Manifest` lists the keys.")]
    BadManifest {
        /// The manifest's file.
        file: String,
        /// The parser's error, with line and column.
        source: Box<toml::de::Error>,
    },

    /// A folder or an archive cannot be read.
    #[error(transparent)]
    Archive(#[from] ArchiveError),

    /// A data set of graphs cannot be used.
    #[error(transparent)]
    Graphs(#[from] GraphError),

    /// Columns are given for a format that has none.
    #[error("{}: is read as ngcf, `user item item …`, which has no columns. Remove `data.columns`, or set `data.format`.", path.display())]
    ColumnsOfNgcf {
        /// The file.
        path: PathBuf,
    },

    /// A split by time, but a row without a timestamp.
    #[error(
        "{}:{line}: the split is by time ({reason}), but the row has no timestamp. Name its column in `data.columns.timestamp`, or split \
         without times: {remedy}.",
        path.display()
    )]
    NoTimestamps {
        /// The file.
        path: PathBuf,
        /// The first line without a timestamp.
        line: u64,
        /// The setting that asks for times.
        reason: &'static str,
        /// A setting that does not.
        remedy: &'static str,
    },

    /// Nobody has two interactions.
    #[error("{}: no test items: data.split.kind is \"leave_one_out\", but no user has two interactions. Use more data.", path.display())]
    NothingToLeaveOut {
        /// The file.
        path: PathBuf,
    },

    /// All users of a temporal test part are new.
    #[error(
        "{}: the newest {interactions} interactions, which data.split.kind = \"temporal\" holds out, are all of users without an earlier \
         one, for whom nothing can be learned. Raise data.split.test_ratio, or split per user: data.split = {{ order = \"time\" }}.",
        path.display()
    )]
    OnlyNewUsers {
        /// The (first) file.
        path: PathBuf,
        /// Number of test interactions.
        interactions: usize,
    },

    /// Too little is left without users and items of few interactions.
    #[error(
        "{}: {settings} leave {left} of {users} users with {items} items: without the rare ones, others become rare, too. Lower {lower}, or \
         use more data.",
        path.display()
    )]
    EmptyCore {
        /// The (first) file.
        path: PathBuf,
        /// Users with an interaction.
        users: usize,
        /// Items with an interaction.
        items: usize,
        /// How many users are left: "none" or "a single user".
        left: &'static str,
        /// The thresholds.
        settings: String,
        /// Their names.
        lower: String,
    },

    /// No file of a folder fits a name with `*`.
    #[error("{}: no file `{pattern}` in this folder. Correct data.files, or name the folder that has it with --data DIR.", folder.display())]
    NoMatchingFile {
        /// The folder.
        folder: PathBuf,
        /// The name.
        pattern: String,
    },

    /// A list of files names one of them twice.
    #[error("{}: data.files names this file twice. Remove it once.", path.display())]
    RepeatedFile {
        /// The file.
        path: PathBuf,
    },

    /// A setting has no meaning beside others.
    #[error("{name} {problem}.")]
    Meaningless {
        /// The setting, as in recipes.
        name: String,
        /// Why, and what to do.
        problem: String,
    },

    /// A setting is out of range.
    #[error("{name} is {value}, but must be in {range}. Change it in the recipe or with `--set {name}=…`.")]
    OutOfRange {
        /// The setting, as in recipes.
        name: String,
        /// Its value.
        value: String,
        /// Its range.
        range: String,
    },
}

/// Ends a sentence about an unknown name with a suggestion, if there is one.
fn did_you_mean(suggestion: Option<&str>) -> String {
    suggestion.map_or(".".to_string(), |name| format!("; did you mean `{name}`?"))
}

/// Formats a number of a recipe; very large and very small ones get an exponent instead of hundreds of digits.
pub(crate) fn shown(value: f64) -> String {
    if value.is_finite() && value != 0.0 && !(1e-4..1e15).contains(&value.abs()) {
        format!("{value:e}")
    } else {
        value.to_string()
    }
}

/// Shortens text from a file, to keep errors readable.
pub(crate) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 60;
    let shown = text.escape_debug().to_string();
    match shown.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &shown[..end]),
        None => shown,
    }
}

impl DataError {
    /// The error for a file that cannot be opened.
    pub(crate) fn opening(path: &Path, source: std::io::Error) -> Self {
        let path = path.to_path_buf();
        match (source.kind(), NotRegular::of(&source)) {
            (std::io::ErrorKind::NotFound, _) => Self::MissingFile { path },
            (std::io::ErrorKind::IsADirectory, _) => Self::IsFolder { path },
            (_, Some(NotRegular { found })) => Self::NotAFile { path, found },
            _ => Self::Io { path, source },
        }
    }
}

impl LineLocation {
    pub(crate) fn new(path: &Path, line: u64) -> Self {
        Self {
            path: path.to_path_buf(),
            line,
        }
    }
}
