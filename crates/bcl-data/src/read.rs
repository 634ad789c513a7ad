//! Reading interactions from files.

use serde::{Deserialize, Serialize};

/// How a file of interactions is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Found from the file's name and first lines.
    #[default]
    Auto,
    /// `user item item …`, one line a user (NGCF, `LightGCN`).
    Ngcf,
    /// `user,item[,rating[,timestamp]]`, with or without a header.
    Csv,
    /// `user\titem\trating\ttimestamp` (`u.data` of `MovieLens` 100K).
    #[serde(rename = "u_data")]
    Udata,
    /// `user::item::rating::timestamp` (`ratings.dat` of `MovieLens` 1M).
    RatingsDat,
    /// Tab-separated with a header `user_id:token\titem_id:token…` (`RecBole`).
    Inter,
    /// `user item rating`, separated by tabs or spaces (Yahoo!-R3).
    YahooR3,
}

/// What to take from a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReadOptions {
    /// How the file is written.
    pub format: Format,
    /// Interactions with a lower rating are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rating: Option<f64>,
}
