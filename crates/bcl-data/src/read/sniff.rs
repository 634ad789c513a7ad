//! Detects the format of a file from its name and first lines.

use super::Format;
use super::columns::is_usual_name;
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

    by_name(name, &lines)
        .or_else(|| by_content(&lines, columns))
        .ok_or_else(|| match lines.first() {
            Some(line) => {
                let problem = format!("cannot tell the format from the line `{}`", excerpt(line));
                let remedy = format!("Set `format` to one of {}", Format::names());
                DataError::at(LineLocation::new(path, 1), format!("{problem}. {remedy}"))
            }
            None => no_interaction(path, Format::Auto, head.lines().count() as u64),
        })
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

fn by_name(name: &str, lines: &[&str]) -> Option<Format> {
    match name.rsplit_once('.') {
        Some((_, "jsonl" | "ndjson")) => Some(Format::Jsonl),
        // Users with several items are written with tabs, too.
        Some((_, "tsv")) => Some(by_numbers(lines).unwrap_or(Format::Tsv)),
        Some((_, "csv")) => Some(Format::Csv),
        Some((_, "inter")) => Some(Format::Inter),
        _ if name == "u.data" => Some(Format::Udata),
        _ if name == "ratings.dat" => Some(Format::RatingsDat),
        _ => None,
    }
}

fn by_content(lines: &[&str], columns: &InteractionColumns) -> Option<Format> {
    let first = lines.first()?;
    if first.starts_with('{') {
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
    let mut widths = HashSet::new();
    let mut users = HashSet::new();
    for line in lines {
        let mut width = 0;
        for field in line.split_ascii_whitespace() {
            field.parse::<f64>().ok()?;
            width += 1;
            if width == 1 {
                users.insert(field);
            }
        }
        widths.insert(width);
    }
    let one_line_a_user = users.len() == lines.len();
    let tabs = first.contains('\t');
    match (widths.len(), first.split_ascii_whitespace().count()) {
        (1, 4) if tabs => Some(Format::Udata),
        (1, 3) if tabs || !one_line_a_user => Some(Format::YahooR3),
        // `user item rating` looks like a user with two items.
        (1, 3) => None,
        (1, 2) => Some(Format::Ngcf),
        _ if one_line_a_user => Some(Format::Ngcf),
        _ => None,
    }
}
