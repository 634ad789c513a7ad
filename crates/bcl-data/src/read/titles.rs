//! Reads files of items: an id and a title per row.

use super::lines::{Line, Lines};
use super::parquet::{Table, is_parquet};
use super::picker::{Picker, Wanted, column_name};
use super::separator::{Separator, count_unquoted};
use super::{json, value};
use crate::error::excerpt;
use crate::{DataError, ItemColumns};
use std::path::Path;

const ID_NAMES: &[&str] = &[
    "id",
    "item",
    "item_id",
    "itemid",
    "iid",
    "movie_id",
    "movieid",
    "book_id",
    "isbn",
    "asin",
    "parent_asin",
    "product_id",
    "song_id",
    "track_id",
    "artist_id",
    "artistid",
    "business_id",
    "venue_id",
];
const TITLE_NAMES: &[&str] = &[
    "title",
    "name",
    "item_title",
    "item_name",
    "movie_title",
    "movie_name",
    "book_title",
    "product_title",
    "product_name",
    "song_title",
    "track_name",
    "artist_name",
];

/// Calls `each` with the line, id and title of every item of the file. An item may lack a title.
pub(crate) fn read_titles(
    path: &Path,
    columns: &ItemColumns,
    mut each: impl FnMut(&Line<'_>, &str, &str) -> Result<(), DataError>,
) -> Result<(), DataError> {
    let wanted = wanted(columns);
    if is_parquet(path)? {
        return Table::open(path)?.read(&wanted, |line, [id, title]| {
            each(line, value::id(line, "id", id.as_deref())?, &title.unwrap_or_default())
        });
    }
    let mut lines = Lines::open(path)?;
    // Published files of items are often Latin-1. A title is only shown, so a wrong guess harms nothing.
    lines.accept_latin1();
    let Some(first) = lines.peek(1).pop() else { return Ok(()) };
    let layout = Layout::detect(path, &first)?;
    match layout {
        Layout::Objects => {
            while let Some(line) = lines.next()? {
                let [id, title] = json::pick(&line, &wanted)?;
                each(&line, value::id(&line, "id", id.as_deref())?, &title.unwrap_or_default())?;
            }
            Ok(())
        }
        Layout::Separated(separator) => separated(lines, separator, &wanted, each),
    }
}

fn wanted(columns: &ItemColumns) -> [Wanted<'_>; 2] {
    [
        Wanted {
            field: "id",
            column: "id",
            key: "data.item_columns.id",
            given: columns.id.as_ref(),
            known: ID_NAMES,
            place: Some(0),
            required: true,
        },
        Wanted {
            field: "title",
            column: "title",
            key: "data.item_columns.title",
            given: columns.title.as_ref(),
            known: TITLE_NAMES,
            place: Some(1),
            required: true,
        },
    ]
}

fn separated(
    mut lines: Lines,
    separator: Separator,
    wanted: &[Wanted<'_>; 2],
    mut each: impl FnMut(&Line<'_>, &str, &str) -> Result<(), DataError>,
) -> Result<(), DataError> {
    // The files of MovieLens have no quotes around fields, only within titles.
    if let Some(delimiter) = separator.delimiter() {
        lines.unquote(delimiter);
    }
    let Some(first) = lines.next()? else { return Ok(()) };
    let (picker, is_header) = Picker::detect(separator, wanted, &first, is_header(separator, &first))?;
    if picker.width() < 2 {
        return Err(unclear(first.path, first.text));
    }
    let mut row = |line: &Line<'_>| {
        let [id, title] = picker.pick(line).map_err(|found| {
            line.error(format!(
                "{found} field(s) in `{}`, but the first line has {}. Correct the line; in CSV, put a title that contains the separator \
                 in double quotes",
                excerpt(line.text),
                picker.width()
            ))
        })?;
        each(line, line.id("id", id.unwrap_or_default())?, title.unwrap_or_default())
    };
    if !is_header {
        row(&first)?;
    }
    while let Some(line) = lines.next()? {
        row(&line)?;
    }
    Ok(())
}

/// Whether the first line consists of column names: one of them is a usual name for ids.
fn is_header(separator: Separator, first: &Line<'_>) -> bool {
    separator
        .fields(first)
        .any(|field| ID_NAMES.contains(&column_name(field).as_str()))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    Separated(Separator),
    /// JSON lines.
    Objects,
}

impl Layout {
    /// Detects the layout from the name of the file and its first line.
    fn detect(path: &Path, first: &str) -> Result<Self, DataError> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let extension = name
            .strip_suffix(".gz")
            .unwrap_or(&name)
            .rsplit_once('.')
            .map(|(_, extension)| extension);
        let most = || {
            let counted = [(',', Separator::Comma), (';', Separator::Semicolon), ('|', Separator::Pipe)];
            let counted = counted.map(|(char, separator)| (count_unquoted(first, char), separator));
            counted
                .into_iter()
                .filter(|(count, _)| *count > 0)
                .max_by_key(|(count, _)| *count)
        };
        Ok(Self::Separated(match extension {
            Some("jsonl" | "ndjson") => return Ok(Self::Objects),
            Some("csv") => Separator::of_csv(first),
            Some("tsv") => Separator::Tab,
            _ if first.starts_with('{') => return Ok(Self::Objects),
            _ if first.contains('\t') => Separator::Tab,
            _ if first.contains("::") => Separator::DoubleColon,
            _ => most().ok_or_else(|| unclear(path, first))?.1,
        }))
    }
}

fn unclear(path: &Path, line: &str) -> DataError {
    let remedy = "Separate id and title by a comma, semicolon, tab, `|` or `::`, or write one JSON object per line";
    DataError::file(
        path,
        format!("cannot tell the columns of the line `{}`. {remedy}", excerpt(line)),
    )
}
