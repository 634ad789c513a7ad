//! The formats with one interaction per line: which column contains what.

use super::header::{FirstLine, ITEM_NAMES, RATING_NAMES, TIMESTAMP_NAMES, USER_NAMES, is_repeated, unread_label};
use super::lines::Line;
use super::picker::{Picker, Wanted};
use super::separator::Separator;
use super::{Format, Row, problem};
use crate::error::excerpt;
use crate::{ColumnRef, DataError, InteractionColumns};
use bcl_files::notice::note;

/// The positions of the fields in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Columns {
    format: Format,
    separator: Separator,
    picker: Picker<4>,
    /// The first line, if it is a header.
    header: Option<String>,
}

/// The place of the rating among the wanted fields.
const RATING: usize = 2;

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

impl Columns {
    /// The separator of a file in `format` with this first line.
    pub(super) fn separator(format: Format, first: &str) -> Separator {
        match format {
            Format::Csv => Separator::of_csv(first),
            Format::RatingsDat => Separator::DoubleColon,
            Format::YahooR3 | Format::Udata => Separator::TabOrBlanks,
            Format::Inter => Separator::of_inter(first),
            _ => Separator::Tab,
        }
    }

    /// Detects the columns of a file in `format` from its first line and some lines `after` it, and whether `first` is a header.
    pub(super) fn detect(
        format: Format,
        separator: Separator,
        columns: &InteractionColumns,
        first: &Line<'_>,
        after: &[String],
    ) -> Result<(Self, bool), DataError> {
        let names: Vec<&str> = separator.fields(first).collect();
        let is_header = match format {
            Format::Inter => true,
            Format::Csv | Format::Tsv => {
                let rows: Vec<Vec<&str>> = after.iter().map(|row| separator.split(row).collect()).collect();
                let found = FirstLine::of(&names, &rows);
                let numbered = columns.iter().any(|column| matches!(column, ColumnRef::Number(_)));
                if numbered && found == FirstLine::LikelyHeader {
                    let (at, text) = (first.location(), excerpt(first.text));
                    note(format_args!(
                        "{at}: `{text}` is read as an interaction, because data.columns has numbers. If it is a header, name its columns"
                    ));
                }
                found == FirstLine::Header || found == FirstLine::LikelyHeader && !numbered
            }
            _ => false,
        };
        let (mut picker, is_header) = Picker::detect(separator, &wanted(format, columns), first, is_header)?;
        if is_header && let Some(text) = unread_label(&names, picker.has(RATING)) {
            note(format_args!("{}: {text}", first.path.display()));
        }
        if !is_header && !columns.is_given() {
            picker.set_width(match format {
                Format::YahooR3 => 3,
                // `row` reports rows of another width; its message names the accepted range.
                Format::Csv | Format::Tsv => names.len().clamp(2, 4),
                _ => 4,
            });
        }
        let header = is_header.then(|| first.text.to_owned());
        Ok((
            Self {
                format,
                separator,
                picker,
                header,
            },
            is_header,
        ))
    }

    /// Reads the interaction of a line.
    pub(super) fn row<'a>(&self, line: &Line<'a>) -> Result<Row<'a>, DataError> {
        let [user, item, rating, time] = self.picker.pick(line).map_err(|found| self.wrong_width(line, found))?;
        let [user, item] = [user, item].map(Option::unwrap_or_default);
        if is_repeated(user, item) || self.header.as_deref() == Some(line.text) {
            return Err(line.error(format!("`{}` {}", excerpt(line.text), problem::HEADER)));
        }
        Ok(Row {
            user: line.id("user", user)?,
            item: line.id("item", item)?,
            rating: rating.map(|raw| line.float("rating", raw)).transpose()?,
            // Most runs do not use timestamps, which may then be a number, a date, or anything else.
            time,
        })
    }

    fn wrong_width(&self, line: &Line<'_>, found: usize) -> DataError {
        let (text, format, expected) = (excerpt(line.text), self.format, self.expected());
        let what = format!("{found} field(s) in `{text}`, but {format} rows have {expected}");
        let remedy = match self.separator.another(line.text).filter(|_| found == 1) {
            Some(remedy) => remedy,
            None if self.separator == Separator::Tab && line.text.contains('"') => {
                "Correct the line: quotes do not hold tabs or line breaks; write such data as CSV"
            }
            None if self.separator == Separator::Comma && found == self.picker.width() + 1 => {
                "Correct the line, or set `format`; a comma within a field needs double quotes around it, and a decimal comma a file separated \
                 by semicolons"
            }
            None => "Correct the line, or set `format`",
        };
        line.error(format!("{what}. {remedy}"))
    }

    fn expected(&self) -> String {
        let layout = match self.format {
            Format::Csv => "`user,item[,rating[,timestamp]]`",
            Format::Tsv => "user, item[, rating[, timestamp]], separated by tabs",
            Format::Udata => "user, item, rating, timestamp, separated by tabs or spaces",
            Format::RatingsDat => "`user::item::rating::timestamp`",
            Format::YahooR3 => "user, item, rating, separated by tabs or spaces",
            _ => "as many as the header, separated by tabs",
        };
        format!("{}: {layout}", self.picker.width())
    }
}
