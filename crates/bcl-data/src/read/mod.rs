//! Reads interactions from files: plain or gzipped text, line by line, in several formats.

mod columns;
mod json;
mod lines;
mod ngcf;
mod picker;
mod quoted;
mod row_limit;
mod separator;
mod sniff;
mod titles;

use crate::format::{Format, ReadOptions};

use crate::DataError;
use columns::Columns;
use lines::{Line, Lines};
use row_limit::RowLimit;
use std::path::Path;

pub(crate) use titles::read_titles;

/// One interaction as written in the file.
struct Row<'a> {
    user: &'a str,
    item: &'a str,
    rating: Option<f64>,
}

/// Counts of a file that was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct FileReport {
    /// Interactions in the file.
    pub(crate) rows: usize,
    /// Interactions left out because of their rating.
    pub(crate) below_min_rating: usize,
}

/// Calls `each` with the line, user and item of every interaction of the file that reaches the rating threshold.
pub(crate) fn read(
    path: &Path,
    options: &ReadOptions,
    mut each: impl FnMut(&Line<'_>, &str, &str),
) -> Result<FileReport, DataError> {
    let mut lines = Lines::open(path)?;
    let format = match options.format {
        Format::Auto => sniff::sniff(path, lines.head())?,
        format => format,
    };

    let empty = |lines| DataError::Empty {
        path: path.to_path_buf(),
        format,
        lines,
    };

    let mut report = FileReport::default();
    let mut highest = f64::NEG_INFINITY;
    let limit = RowLimit::now();
    let mut keep = |line: &Line<'_>, row: Row<'_>| {
        report.rows += 1;
        if let Some(min_rating) = options.min_rating {
            let rating = row.rating.ok_or_else(|| DataError::NoRatings {
                path: path.to_path_buf(),
                line: line.number,
                format,
                min_rating,
            })?;
            highest = highest.max(rating);
            if rating < min_rating {
                report.below_min_rating += 1;
                return Ok(());
            }
        }
        limit.check(report.rows - report.below_min_rating, path)?;
        each(line, row.user, row.item);
        Ok(())
    };

    if format == Format::Ngcf {
        while let Some(line) = lines.next()? {
            ngcf::rows(&line, |row| keep(&line, row))?;
        }
    } else {
        let second = lines.second();
        if format == Format::Csv {
            lines.unquote(b',');
        }
        let Some(first) = lines.next()? else {
            return Err(empty(lines.number()));
        };
        let (columns, first_is_header) = Columns::detect(format, &first, second.as_deref())?;
        if !first_is_header {
            keep(&first, columns.row(&first)?)?;
        }
        while let Some(line) = lines.next()? {
            keep(&line, columns.row(&line)?)?;
        }
    }

    if report.rows == 0 {
        return Err(empty(lines.number()));
    }
    match options.min_rating {
        Some(min_rating) if report.below_min_rating == report.rows => Err(DataError::AllBelowMinRating {
            path: path.to_path_buf(),
            rows: report.rows,
            min_rating,
            highest,
        }),
        _ => Ok(report),
    }
}
