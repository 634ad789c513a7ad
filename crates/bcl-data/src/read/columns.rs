//! The formats with one interaction per line: which column contains what.

use super::lines::Line;
use super::picker::{Picker, Wanted, column_name};
use super::separator::Separator;
use super::{Format, Row};
use crate::error::excerpt;
use crate::{DataError, InteractionColumns};

/// The positions of the fields in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Columns {
    format: Format,
    picker: Picker<4>,
}

const USER_NAMES: &[&str] = &["user", "user_id", "userid", "uid", "u"];
const ITEM_NAMES: &[&str] = &[
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
const RATING_NAMES: &[&str] = &["rating", "ratings", "score", "stars"];
const TIMESTAMP_NAMES: &[&str] = &["timestamp", "time", "ts", "date", "datetime", "unixreviewtime", "review_time"];

/// User, item, rating and timestamp, as a file in `format` has them.
pub(super) fn wanted(format: Format, columns: &InteractionColumns) -> [Wanted<'_>; 4] {
    let typed = format == Format::Inter;
    let required = |field, column, key, given, known, place| Wanted {
        field,
        column,
        key,
        given,
        known,
        place: Some(place),
        required: true,
    };
    let optional = |field, key, given, known, place| Wanted {
        field,
        column: field,
        key,
        given,
        known,
        place: Some(place),
        required: false,
    };
    let (user, item) = if typed {
        ("user_id:token", "item_id:token")
    } else {
        ("user", "item")
    };
    [
        required("user", user, "data.columns.user", columns.user.as_ref(), USER_NAMES, 0),
        required("item", item, "data.columns.item", columns.item.as_ref(), ITEM_NAMES, 1),
        optional("rating", "data.columns.rating", columns.rating.as_ref(), RATING_NAMES, 2),
        optional(
            "timestamp",
            "data.columns.timestamp",
            columns.timestamp.as_ref(),
            TIMESTAMP_NAMES,
            3,
        ),
    ]
}

/// Whether this is a usual name for the column of users or items.
pub(super) fn is_usual_name(field: &str) -> bool {
    let name = column_name(field);
    [USER_NAMES, ITEM_NAMES].iter().any(|names| names.contains(&name.as_str()))
}

impl Columns {
    /// The separator of a file in `format` with this first line.
    pub(super) fn separator(format: Format, first: &str) -> Separator {
        match format {
            Format::Csv => Separator::of_csv(first),
            Format::RatingsDat => Separator::DoubleColon,
            Format::YahooR3 => Separator::TabOrBlanks,
            _ => Separator::Tab,
        }
    }

    /// Detects the columns of a file in `format` from its first two lines, and whether `first` is a header.
    pub(super) fn detect(
        format: Format,
        separator: Separator,
        columns: &InteractionColumns,
        first: &Line<'_>,
        second: Option<&str>,
    ) -> Result<(Self, bool), DataError> {
        let names: Vec<&str> = separator.fields(first).collect();
        let is_header = match format {
            Format::Inter => true,
            Format::Csv | Format::Tsv => {
                names.iter().any(|name| is_usual_name(name))
                    // Without this, a header with unknown names would pass for an interaction, unless it has a rating column.
                    || names.len() == 2
                        && !names.iter().any(|name| is_number(name))
                        && second.is_some_and(|second| separator.split(second).all(is_number))
            }
            _ => false,
        };
        let (mut picker, is_header) = Picker::detect(separator, &wanted(format, columns), first, is_header)?;
        if !is_header && !columns.is_given() {
            picker.set_width(match format {
                Format::YahooR3 => 3,
                // `row` reports rows of another width; its message names the accepted range.
                Format::Csv | Format::Tsv => names.len().clamp(2, 4),
                _ => 4,
            });
        }
        Ok((Self { format, picker }, is_header))
    }

    /// Reads the interaction of a line.
    pub(super) fn row<'a>(&self, line: &Line<'a>) -> Result<Row<'a>, DataError> {
        let [user, item, rating, time] = self.picker.pick(line).map_err(|found| {
            let (text, format, expected) = (excerpt(line.text), self.format, self.expected());
            let what = format!("{found} field(s) in `{text}`, but {format} rows have {expected}");
            line.error(format!("{what}. Correct the line, or set `format`"))
        })?;
        Ok(Row {
            user: line.id("user", user.unwrap_or_default())?,
            item: line.id("item", item.unwrap_or_default())?,
            rating: rating.map(|raw| line.float("rating", raw)).transpose()?,
            // Most runs do not use timestamps, which may then be a number, a date, or anything else.
            time,
        })
    }

    fn expected(&self) -> String {
        let layout = match self.format {
            Format::Csv => "`user,item[,rating[,timestamp]]`",
            Format::Tsv => "user, item[, rating[, timestamp]], separated by tabs",
            Format::Udata => "user, item, rating, timestamp, separated by tabs",
            Format::RatingsDat => "`user::item::rating::timestamp`",
            Format::YahooR3 => "user, item, rating, separated by tabs or spaces",
            _ => "as many as the header, separated by tabs",
        };
        format!("{}: {layout}", self.picker.width())
    }
}

fn is_number(field: &str) -> bool {
    field.parse::<f64>().is_ok()
}
