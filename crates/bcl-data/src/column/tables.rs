//! The columns of files of interactions and of items.

use super::ColumnRef;
use crate::DataError;
use serde::{Deserialize, Serialize};

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
                return Err(DataError::setting(
                    format!("data.columns.{name}"),
                    format!("is `{column}`, as is data.columns.{other}; each needs a column of its own"),
                ));
            }
        }
        Ok(())
    }
}

/// The columns of a file of items. Those that are not given are found by their usual names, such as `item_id` and `title`; in a file
/// without a header, they are the first two.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ItemColumns {
    /// The column with the id of an item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<ColumnRef>,
    /// The column with its title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<ColumnRef>,
}
