//! The file formats and reading options.

use serde::{Deserialize, Serialize};
use std::{fmt, path::Path};

/// The format of a file of interactions.
///
/// Every format of text is read plain or gzipped, which the first bytes tell. Blank lines are skipped. An id is any text without the separator
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
    /// Parquet files, whose columns are found by name, with the feature `parquet`. Dates and times of Parquet are read as UTC.
    Parquet,
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
    pub const ALL: [Format; 9] = [
        Format::Ngcf,
        Format::Csv,
        Format::Tsv,
        Format::Jsonl,
        Format::Parquet,
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
            Format::Parquet => "parquet",
            Format::Udata => "u_data",
            Format::RatingsDat => "ratings_dat",
            Format::Inter => "inter",
            Format::YahooR3 => "yahoo_r3",
        }
    }

    /// The format that the ending of a file's name stands for; `None` for other endings, such as `.txt`.
    ///
    /// ```
    /// use bcl_data::Format;
    ///
    /// assert_eq!(Format::of_ending("later.csv.gz".as_ref()), Some(Format::Csv));
    /// assert_eq!(Format::of_ending("later.txt".as_ref()), None);
    /// ```
    pub fn of_ending(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        match name.rsplit_once('.')?.1 {
            "jsonl" | "ndjson" => Some(Self::Jsonl),
            "tsv" => Some(Self::Tsv),
            "csv" => Some(Self::Csv),
            "inter" => Some(Self::Inter),
            "parquet" => Some(Self::Parquet),
            _ => None,
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
