//! The formats with one interaction per line: which column contains what.

use super::lines::Line;
use super::quoted::QuotedRecord;
use super::{Format, Row};
use crate::DataError;
use crate::error::excerpt;

/// The positions of the fields in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Columns {
    format: Format,
    /// Number of fields per row.
    width: usize,
    user: usize,
    item: usize,
    rating: Option<usize>,
}

const USER_NAMES: [&str; 5] = ["user", "user_id", "userid", "uid", "u"];
const ITEM_NAMES: [&str; 9] = [
    "item",
    "item_id",
    "itemid",
    "iid",
    "i",
    "movie_id",
    "movieid",
    "song_id",
    "business_id",
];
const RATING_NAMES: [&str; 4] = ["rating", "ratings", "score", "stars"];

impl Columns {
    /// Detects the columns of a file in `format` from its first two lines, and whether `first` is a header.
    pub(super) fn detect(format: Format, first: &Line<'_>, second: Option<&str>) -> Result<(Self, bool), DataError> {
        let names: Vec<String> = fields_of(format, first).map(column_name).collect();
        let find = |known: &[&str]| names.iter().position(|name| known.contains(&name.as_str()));
        let is_header = match format {
            Format::Inter => true,
            Format::Csv => {
                find(&USER_NAMES).is_some()
                    || find(&ITEM_NAMES).is_some()
                    // Without this, a header with unknown names would pass for an interaction, unless it has a rating column.
                    || names.len() == 2
                        && !fields_of(format, first).any(is_number)
                        && second.is_some_and(|second| fields(format, second).all(is_number))
            }
            _ => false,
        };
        if is_header {
            let columns: Vec<String> = fields_of(format, first).map(|name| format!("`{name}`")).collect();
            let missing = |column: &str| DataError::MissingColumn {
                at: first.location(),
                column: column.to_owned(),
                columns: columns.join(", "),
                key: if column.starts_with("user") {
                    "data.columns.user"
                } else {
                    "data.columns.item"
                },
            };
            let token = format == Format::Inter;
            let columns = Self {
                format,
                width: names.len(),
                user: find(&USER_NAMES).ok_or_else(|| missing(if token { "user_id:token" } else { "user" }))?,
                item: find(&ITEM_NAMES).ok_or_else(|| missing(if token { "item_id:token" } else { "item" }))?,
                rating: find(&RATING_NAMES),
            };
            return Ok((columns, true));
        }

        let width = match format {
            Format::YahooR3 => 3,
            // `row` reports rows of another width; its message names the accepted range.
            Format::Csv => names.len().clamp(2, 4),
            _ => 4,
        };
        let columns = Self {
            format,
            width,
            user: 0,
            item: 1,
            rating: (width > 2).then_some(2),
        };
        Ok((columns, false))
    }

    /// Reads the interaction of a line.
    pub(super) fn row<'a>(&self, line: &Line<'a>) -> Result<Row<'a>, DataError> {
        // Two loops for speed: files have millions of lines, nearly all without quotes.
        match line.quoted {
            None => self.row_of(line, fields(self.format, line.text)),
            Some(record) => self.row_of(line, record.fields()),
        }
    }

    fn row_of<'a>(&self, line: &Line<'a>, fields: impl Iterator<Item = &'a str>) -> Result<Row<'a>, DataError> {
        let (mut user, mut item, mut rating) = ("", "", None);
        let mut found = 0;
        for field in fields {
            match Some(found) {
                index if index == Some(self.user) => user = field,
                index if index == Some(self.item) => item = field,
                index if index == self.rating => rating = Some(field),
                _ => {}
            }
            found += 1;
        }
        if found != self.width {
            return Err(DataError::FieldCount {
                at: line.location(),
                line: excerpt(line.text),
                format: self.format,
                expected: self.expected(),
                found,
            });
        }
        let user = line.id("user", user)?;
        let item = line.id("item", item)?;
        let rating = rating.map(|raw| line.float("rating", raw)).transpose()?;
        // Timestamps are not used, so they may be a number, a date, or anything else.
        Ok(Row { user, item, rating })
    }

    fn expected(&self) -> String {
        let layout = match self.format {
            Format::Csv => "`user,item[,rating[,timestamp]]`",
            Format::Udata => "user, item, rating, timestamp, separated by tabs",
            Format::RatingsDat => "`user::item::rating::timestamp`",
            Format::YahooR3 => "user, item, rating, separated by tabs or spaces",
            _ => "as many as the header, separated by tabs",
        };
        format!("{}: {layout}", self.width)
    }
}

/// The fields of a line, without surrounding quotes and spaces.
fn fields_of<'a>(format: Format, line: &Line<'a>) -> impl Iterator<Item = &'a str> {
    let plain = line.quoted.is_none().then(|| fields(format, line.text));
    let quoted = line.quoted.map(QuotedRecord::fields);
    plain.into_iter().flatten().chain(quoted.into_iter().flatten())
}

/// The fields of a row without quoted separators, without surrounding quotes and spaces.
fn fields(format: Format, text: &str) -> impl Iterator<Item = &str> {
    let separator = match format {
        Format::Csv => ",",
        Format::RatingsDat => "::",
        Format::YahooR3 if !text.contains('\t') => " ",
        _ => "\t",
    };
    text.split(separator)
        .map(|field| {
            let field = field.trim();
            field
                .strip_prefix('"')
                .and_then(|field| field.strip_suffix('"'))
                .unwrap_or(field)
        })
        // Columns may be aligned with several spaces.
        .filter(move |field| separator != " " || !field.is_empty())
}

fn is_number(field: &str) -> bool {
    field.parse::<f64>().is_ok()
}

/// The name of a column, without the type suffix of `RecBole`'s headers.
fn column_name(field: &str) -> String {
    field.split(':').next().unwrap_or_default().to_ascii_lowercase()
}
