//! Reads interactions of users and items that are known already.

use crate::read::{RowLimit, read};
use crate::{DataError, IdMap, Interactions, ReadOptions};
use std::collections::HashSet;
use std::path::Path;

/// Interactions of known users with known items, and counts of what else was in their file.
///
/// ```
/// use bcl_data::{IdMap, KnownInteractions, ReadOptions};
///
/// let dir = tempfile::tempdir()?;
/// let file = dir.path().join("later.csv");
/// std::fs::write(&file, "user,item\nann,jam\nann,rice\nbob,tea\nbob,tea\n")?;
///
/// let users: IdMap = ["ann", "bob"].into_iter().collect();
/// let items: IdMap = ["tea", "jam"].into_iter().collect();
/// let read = KnownInteractions::read(&file, &ReadOptions::default(), &users, &items)?;
/// assert_eq!(read.interactions.pairs().collect::<Vec<_>>(), [(0, 1), (1, 0)]);
/// assert_eq!((read.unknown_users, read.unknown_items, read.unknown_rows), (0, 1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct KnownInteractions {
    /// The interactions, numbered by the known ids.
    pub interactions: Interactions,
    /// Different users that are not known.
    pub unknown_users: usize,
    /// Different items that are not known.
    pub unknown_items: usize,
    /// Interactions left out because their user or item is not known.
    pub unknown_rows: usize,
}

impl KnownInteractions {
    /// Reads a file in any [format](crate::Format), with the options of [`load`](crate::load()).
    ///
    /// # Errors
    /// Returns an error that names file, line and remedy if the file cannot be read.
    pub fn read(path: &Path, options: &ReadOptions, users: &IdMap, items: &IdMap) -> Result<Self, DataError> {
        let mut pairs = Vec::new();
        let (mut unknown_users, mut unknown_items): (HashSet<String>, HashSet<String>) = Default::default();
        let mut unknown_rows = 0;
        read(path, options, RowLimit::now(false), |_, row| {
            match (users.get(row.user), items.get(row.item)) {
                (Some(user), Some(item)) => pairs.push((user, item)),
                (known_user, known_item) => {
                    unknown_rows += 1;
                    if known_user.is_none() {
                        unknown_users.insert(row.user.to_owned());
                    }
                    if known_item.is_none() {
                        unknown_items.insert(row.item.to_owned());
                    }
                }
            }
            Ok(())
        })?;
        Ok(Self {
            interactions: Interactions::from_pairs(users.len(), items.len(), pairs),
            unknown_users: unknown_users.len(),
            unknown_items: unknown_items.len(),
            unknown_rows,
        })
    }
}
