//! Reads interactions from files: plain or gzipped text, line by line, in several formats, and Parquet.

mod columns;
mod header;
mod json;
mod lines;
mod moment;
mod ngcf;
mod parquet;
mod picker;
mod problem;
mod quoted;
mod ratings;
mod row_limit;
mod separator;
mod sniff;
mod titles;
mod value;

use crate::{DataError, Format, InteractionColumns, ReadOptions};
use columns::Columns;
use header::COMPARED;
use lines::Lines;
use parquet::{Table, is_parquet};
use ratings::Ratings;
use std::path::Path;

pub(crate) use lines::Line;
pub(crate) use moment::Moment;
pub(crate) use row_limit::RowLimit;
pub(crate) use titles::read_titles;

/// One interaction as written in the file.
pub(crate) struct Row<'a> {
    pub(crate) user: &'a str,
    pub(crate) item: &'a str,
    rating: Option<f64>,
    /// The timestamp, not parsed.
    pub(crate) time: Option<&'a str>,
}

/// Counts of a file that was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct FileReport {
    /// Interactions in the file.
    pub(crate) rows: usize,
    /// Interactions left out because of their rating.
    pub(crate) below_min_rating: usize,
}

/// Calls `each` with the line and the interaction of every row of the file that reaches the rating threshold.
pub(crate) fn read(
    path: &Path,
    options: &ReadOptions,
    limit: RowLimit,
    mut each: impl FnMut(&Line<'_>, &Row<'_>) -> Result<(), DataError>,
) -> Result<FileReport, DataError> {
    let mut source = Source::open(path, options)?;
    let format = source.format();

    let mut report = FileReport::default();
    let mut ratings = Ratings::default();
    let mut keep = |line: &Line<'_>, row: Row<'_>| {
        report.rows += 1;
        if let Some(rating) = row.rating {
            ratings.add(rating);
        }
        if let Some(min_rating) = options.min_rating {
            let rating = row.rating.ok_or_else(|| DataError::NoRatings {
                at: line.location(),
                format,
                min_rating,
            })?;
            if rating < min_rating {
                report.below_min_rating += 1;
                return Ok(());
            }
        }
        limit.check(report.rows - report.below_min_rating, path)?;
        each(line, &row)
    };

    let lines = source.rows(&options.columns, &mut keep)?;
    if report.rows == 0 {
        return Err(sniff::no_interaction(path, format, lines));
    }
    match options.min_rating {
        None if ratings.are_labels() => {
            ratings.refuse_or_tell(path, options.columns.rating.is_some())?;
            Ok(report)
        }
        Some(min_rating) if report.below_min_rating == report.rows => {
            let (rows, highest) = (report.rows, ratings.highest());
            let what = format!("none of its {rows} ratings reaches min_rating {min_rating}; the highest is {highest}");
            Err(DataError::file(path, format!("{what}. Lower `min_rating`")))
        }
        _ => Ok(report),
    }
}

/// An open file of interactions.
enum Source {
    Text { lines: Box<Lines>, format: Format },
    Parquet(Table),
}

impl Source {
    fn open(path: &Path, options: &ReadOptions) -> Result<Self, DataError> {
        let is_parquet = match options.format {
            Format::Auto => is_parquet(path)?,
            format => format == Format::Parquet,
        };
        if is_parquet {
            return Table::open(path).map(Source::Parquet);
        }
        let lines = Box::new(Lines::open(path)?);
        let format = match options.format {
            Format::Auto => sniff::sniff(path, lines.head(), &options.columns)?,
            format => format,
        };
        Ok(Source::Text { lines, format })
    }

    fn format(&self) -> Format {
        match self {
            Source::Text { format, .. } => *format,
            Source::Parquet(_) => Format::Parquet,
        }
    }

    /// Calls `keep` with every row, and returns the number of lines; 0 in formats without lines.
    fn rows(
        &mut self,
        columns: &InteractionColumns,
        keep: &mut impl FnMut(&Line<'_>, Row<'_>) -> Result<(), DataError>,
    ) -> Result<u64, DataError> {
        match self {
            Source::Parquet(table) => {
                table.read(&columns::wanted(Format::Parquet, columns), |line, values| {
                    keep(line, value::row(line, &values)?)
                })?;
                Ok(0)
            }
            Source::Text { lines, format } => rows_of_text(lines, *format, columns, keep),
        }
    }
}

fn rows_of_text(
    lines: &mut Lines,
    format: Format,
    columns: &InteractionColumns,
    keep: &mut impl FnMut(&Line<'_>, Row<'_>) -> Result<(), DataError>,
) -> Result<u64, DataError> {
    match format {
        Format::Ngcf => {
            if columns.is_given() {
                let problem = "is read as ngcf, `user item item …`, which has no columns";
                let remedy = "Remove `data.columns`, or set `data.format`";
                return Err(DataError::file(lines.path(), format!("{problem}. {remedy}")));
            }
            while let Some(line) = lines.next()? {
                ngcf::rows(&line, |row| keep(&line, row))?;
            }
        }
        Format::Jsonl => {
            let wanted = columns::wanted(format, columns);
            while let Some(line) = lines.next()? {
                let values = json::pick(&line, &wanted)?;
                keep(&line, value::row(&line, &values)?)?;
            }
        }
        _ => {
            let head = lines.peek(1 + COMPARED);
            let separator = Columns::separator(format, head.first().map_or("", String::as_str));
            if let (Format::Csv, Some(delimiter)) = (format, separator.delimiter()) {
                lines.unquote(delimiter);
            }
            let Some(first) = lines.next()? else {
                return Ok(lines.number());
            };
            let after = head.get(1..).unwrap_or_default();
            let (columns, first_is_header) = Columns::detect(format, separator, columns, &first, after)?;
            if !first_is_header {
                keep(&first, columns.row(&first)?)?;
            }
            while let Some(line) = lines.next()? {
                keep(&line, columns.row(&line)?)?;
            }
        }
    }
    Ok(lines.number())
}
