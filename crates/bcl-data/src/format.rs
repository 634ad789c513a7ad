//! The file formats and reading options.

use crate::{ColumnRef, CoreOptions, DataError};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The format of a file of interactions.
///
/// Every format is read plain or gzipped, which the first bytes tell. Blank lines are skipped. An id is any text without the separator
/// that is not a negative number. Ratings are numbers. Timestamps are numbers or dates in UTC where a split needs them; otherwise they are
/// ignored and may be any text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Format {
    /// Detected from the file's name and first lines.
    #[default]
    Auto,
    /// `user item item …` (NGCF, `LightGCN`); a user may have several lines, or no item.
    Ngcf,
    /// `user,item[,rating[,timestamp]]`, with or without a header; separated by semicolons if the first line has more of them than commas.
    /// Quoted fields may contain separators, line breaks and doubled quotes, as pandas and spreadsheets write them.
    Csv,
    /// As CSV, separated by tabs.
    Tsv,
    /// JSON lines: an object per line, such as `{"user": 1, "item": 2, "rating": 5, "timestamp": 881250949}`.
    Jsonl,
    /// `user\titem\trating\ttimestamp` (`u.data` of `MovieLens` 100K).
    #[serde(rename = "u_data")]
    Udata,
    /// `user::item::rating::timestamp` (`ratings.dat` of `MovieLens` 1M).
    RatingsDat,
    /// Tab-separated with a header `user_id:token\titem_id:token…` (`RecBole`); columns are found by name.
    Inter,
    /// `user item rating`, separated by tabs or spaces (Yahoo!-R3).
    YahooR3,
}

impl Format {
    /// All formats but [`Auto`](Self::Auto).
    pub const ALL: [Format; 8] = [
        Format::Ngcf,
        Format::Csv,
        Format::Tsv,
        Format::Jsonl,
        Format::Udata,
        Format::RatingsDat,
        Format::Inter,
        Format::YahooR3,
    ];

    /// The name in recipes.
    pub fn name(self) -> &'static str {
        match self {
            Format::Auto => "auto",
            Format::Ngcf => "ngcf",
            Format::Csv => "csv",
            Format::Tsv => "tsv",
            Format::Jsonl => "jsonl",
            Format::Udata => "u_data",
            Format::RatingsDat => "ratings_dat",
            Format::Inter => "inter",
            Format::YahooR3 => "yahoo_r3",
        }
    }

    pub(crate) fn names() -> String {
        Self::ALL.map(|format| format!("`{format}`")).join(", ")
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The columns of a file of interactions. Those that are not given are found by their usual names, such as `user_id` and `rating`; in a file
/// without a header, they are in the order of this list.
///
/// If some are given by number for a file without a header, the file has no others; a user or item that is not given is in the first column
/// that is left.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InteractionColumns {
    /// The column with the user's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<ColumnRef>,
    /// The column with the item's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<ColumnRef>,
    /// The column with the rating.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rating: Option<ColumnRef>,
    /// The column with the timestamp.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<ColumnRef>,
}

impl InteractionColumns {
    /// The given columns.
    pub fn iter(&self) -> impl Iterator<Item = &ColumnRef> {
        [&self.user, &self.item, &self.rating, &self.timestamp].into_iter().flatten()
    }

    /// Whether any column is given.
    pub fn is_given(&self) -> bool {
        self.iter().next().is_some()
    }

    /// Checks that no column is given twice.
    ///
    /// # Errors
    /// Returns an error that names two fields with the same column.
    pub fn check(&self) -> Result<(), DataError> {
        let fields = [
            ("user", &self.user),
            ("item", &self.item),
            ("rating", &self.rating),
            ("timestamp", &self.timestamp),
        ];
        for (index, (name, column)) in fields.iter().enumerate() {
            let before = fields[..index].iter().find(|(_, other)| column.is_some() && other == column);
            if let (Some((other, _)), Some(column)) = (before, column) {
                return Err(DataError::Meaningless {
                    name: format!("data.columns.{name}"),
                    problem: format!("is `{column}`, as is data.columns.{other}; each needs a column of its own"),
                });
            }
        }
        Ok(())
    }
}

/// How to read files, and which of their interactions to keep.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReadOptions {
    /// Format of the files.
    pub format: Format,
    /// Their columns.
    #[serde(skip_serializing_if = "is_default")]
    pub columns: InteractionColumns,
    /// Minimum rating: interactions with a lower one are left out. Without it, all are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rating: Option<f64>,
    /// Which users and items have too few interactions to be kept.
    #[serde(skip_serializing_if = "is_default")]
    pub core: CoreOptions,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_recipes_are_names_in_errors() {
        for format in Format::ALL.into_iter().chain([Format::Auto]) {
            let options: ReadOptions = toml::from_str(&format!("format = \"{format}\"")).unwrap();
            assert_eq!(options.format, format);
        }
    }
}
