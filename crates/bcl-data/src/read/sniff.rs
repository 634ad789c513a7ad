//! Detects the format of a file from its name and first lines.

use super::Format;
use super::header::{is_number, is_usual_name};
use crate::error::{LineLocation, excerpt};
use crate::{ColumnRef, DataError, InteractionColumns};
use std::collections::HashSet;
use std::path::Path;

/// Detects the format, or returns an error if it is not clear: a wrong guess would train on nonsense.
pub(super) fn sniff(path: &Path, head: &[u8], columns: &InteractionColumns) -> Result<Format, DataError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let head = String::from_utf8_lossy(head);
    let head = head.trim_start_matches('\u{feff}');
    let lines: Vec<&str> = head.lines().filter(|line| !line.trim().is_empty()).collect();

    by_name(path, name, &lines)
        .or_else(|| by_content(&lines, columns))
        .ok_or_else(|| match lines.first() {
            Some(line) => {
                let problem = format!("cannot tell the format from the line `{}`", excerpt(line));
                DataError::at(LineLocation::new(path, 1), format!("{problem}. {}", remedy(line)))
            }
            None => no_interaction(path, Format::Auto, head.lines().count() as u64),
        })
}

/// The formats that can read a line like this one, or all if it could be anything.
fn remedy(line: &str) -> String {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    match fields.len() {
        width @ (3 | 4) if fields.iter().all(|field| is_number(field)) => {
            let (format, columns) = if width == 3 {
                (Format::YahooR3, "user, item and rating")
            } else {
                (Format::Udata, "user, item, rating and timestamp")
            };
            format!(
                "Set `format` to `{format}` if its columns are {columns}, or to `{}` if a user and the user's items; otherwise separate its \
                 columns by commas, with a header",
                Format::Ngcf
            )
        }
        _ => format!("Set `format` to one of {}", Format::names()),
    }
}

/// The error for a file of `lines` lines without an interaction.
pub(super) fn no_interaction(path: &Path, format: Format, lines: u64) -> DataError {
    let until = if lines > 0 {
        format!(", up to line {lines}")
    } else {
        String::new()
    };
    let problem = format!("no interaction in the file, read as {format}{until}");
    DataError::file(path, format!("{problem}. Check that this is the right file and set `format`"))
}

fn by_name(path: &Path, name: &str, lines: &[&str]) -> Option<Format> {
    match Format::of_ending(path) {
        // Users with several items are written with tabs, too.
        Some(Format::Tsv) => Some(by_numbers(lines).unwrap_or(Format::Tsv)),
        // A compressed one is none.
        Some(Format::Parquet) => None,
        None if name == "u.data" => Some(Format::Udata),
        None if name == "ratings.dat" => Some(Format::RatingsDat),
        found => found,
    }
}

fn by_content(lines: &[&str], columns: &InteractionColumns) -> Option<Format> {
    let first = lines.first()?;
    // An array is refused there, with its remedy.
    if first.starts_with(['{', '[']) {
        return Some(Format::Jsonl);
    }
    if first.contains(":token") {
        return Some(Format::Inter);
    }
    if first.contains("::") {
        return Some(Format::RatingsDat);
    }
    let named = columns.iter().any(|column| matches!(column, ColumnRef::Name(_)));
    if first.contains('\t') && (named || first.split('\t').any(is_usual_name)) {
        return Some(Format::Tsv);
    }
    if first.contains([',', ';']) {
        return Some(Format::Csv);
    }
    by_numbers(lines)
}

fn by_numbers(lines: &[&str]) -> Option<Format> {
    let first = lines.first()?;
    // Only numbers separated by blanks remain; other text could be anything, such as a README or an error page.
    let mut rows: Vec<Vec<f64>> = Vec::with_capacity(lines.len());
    let mut users = HashSet::new();
    for line in lines {
        let row: Option<Vec<f64>> = line.split_ascii_whitespace().map(|field| field.parse().ok()).collect();
        users.insert(line.split_ascii_whitespace().next());
        rows.push(row?);
    }
    let width = rows[0].len();
    let same_width = rows.iter().all(|row| row.len() == width);
    let one_line_a_user = users.len() == lines.len();
    let tabs = first.contains('\t');
    match width {
        4 if same_width && (tabs && !one_line_a_user || rows.iter().all(|row| is_rated(row))) => Some(Format::Udata),
        3 if same_width && !one_line_a_user => Some(Format::YahooR3),
        // `user item rating` looks like a user with two items.
        3 if same_width => None,
        2 if same_width => Some(Format::Ngcf),
        // Ratings or times would become items.
        3.. if same_width && has_column(&rows, |value| value >= TIME) => None,
        3.. if same_width && has_column(&rows, |value| value <= MOST_RATING) && !rows.iter().all(|row| is_list(row)) => None,
        _ if one_line_a_user && rows.iter().flatten().all(|value| value.fract() == 0.0) => Some(Format::Ngcf),
        _ => None,
    }
}

/// Seconds since 1970 from 1973 on. Ids are hardly as large where all other columns are smaller.
const TIME: f64 = 1e8;
/// The highest rating that is usual.
const MOST_RATING: f64 = 10.0;

/// Whether a row of four looks like user, item, rating and timestamp.
fn is_rated(row: &[f64]) -> bool {
    matches!(*row, [_, _, rating, time] if (0.0..=MOST_RATING).contains(&rating) && time >= TIME)
}

/// Whether the items of a row ascend, as lists of items do and ratings behind an item hardly ever.
fn is_list(row: &[f64]) -> bool {
    row[1..].is_sorted_by(|one, next| one < next)
}

/// Whether a column behind the user's has only such values, as no column of items has.
fn has_column(rows: &[Vec<f64>], test: impl Fn(f64) -> bool) -> bool {
    rows.len() > 1 && (1..rows[0].len()).any(|column| rows.iter().all(|row| test(row[column])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_numbers_are_told_by_their_widths_and_sizes() {
        for (text, expected) in [
            ("0 1000 3 1700000000\n1 1007 4 1700000001\n", Some(Format::Udata)),
            ("0 13 3.5 1700000000\n0 6 4 1700000001\n", Some(Format::Udata)),
            ("0\t13\t77\t5\n0\t6\t4\t9\n", Some(Format::Udata)),
            ("0 13 1700000000 3\n1 6 1700000001 4\n", None),
            ("0 13 3 88\n1 6 4 99\n2 14 5 77\n", None),
            ("0 13 3 88 1700000000\n1 6 4 99 1700000001\n", None),
            ("0 13 35 88\n1 6 44 99\n2 14 15 77\n", Some(Format::Ngcf)),
            ("0 1 2 3 40\n1 1 2 3 40\n", Some(Format::Ngcf)),
            ("0 13 35\n1 6 44 99\n2\n", Some(Format::Ngcf)),
            ("0 13\n1 6\n", Some(Format::Ngcf)),
            ("0 1.5 7 9 8\n1 6 3\n", None),
            ("0 13 3\n1 6 4\n", None),
            ("0 13 3\n0 6 4\n", Some(Format::YahooR3)),
            ("0 thirteen\n", None),
        ] {
            assert_eq!(by_numbers(&text.lines().collect::<Vec<_>>()), expected, "{text}");
        }
    }

    #[test]
    fn the_remedy_lists_only_formats_that_can_read_the_line() {
        assert!(remedy("0 13 3 88").contains("`u_data`") && remedy("0 13 3").contains("`yahoo_r3`"));
        assert!(!remedy("0 13 3 88").contains("`csv`") && remedy("some words").contains("`csv`"));
    }
}
