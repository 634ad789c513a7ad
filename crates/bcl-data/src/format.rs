//! The file formats and reading options.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The format of a file of interactions.
///
/// Every format is read plain or gzipped, which the first bytes tell. Blank lines are skipped. An id is any text without the separator
/// that is not a negative number. Ratings are numbers. Timestamps are ignored and may be any text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Format {
    /// Detected from the file's name and first lines.
    #[default]
    Auto,
    /// `user item item …` (NGCF, `LightGCN`); a user may have several lines, or no item.
    Ngcf,
    /// `user,item[,rating[,timestamp]]`, with or without a header. Quoted fields may contain commas, line breaks and doubled quotes, as
    /// pandas and spreadsheets write them.
    Csv,
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
    pub const ALL: [Format; 6] = [
        Format::Ngcf,
        Format::Csv,
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

/// How to read a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReadOptions {
    /// Format of the file.
    pub format: Format,
    /// Minimum rating: interactions with a lower one are left out. Without it, all are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rating: Option<f64>,
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
