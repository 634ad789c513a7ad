//! The text format of NGCF and `LightGCN`: `user item item …`.

use super::Row;
use super::lines::Line;
use crate::DataError;

/// Calls `each` for every interaction of a line.
pub(super) fn rows<'a>(line: &Line<'a>, mut each: impl FnMut(Row<'a>) -> Result<(), DataError>) -> Result<(), DataError> {
    let mut fields = line.text.split_ascii_whitespace();
    // A blank line has no user. The published test files contain users without items, for whom nothing was held out.
    let user = line.id("user", fields.next().unwrap_or_default())?;
    for item in fields {
        let item = line.id("item", item)?;
        each(Row {
            user,
            item,
            rating: None,
            time: None,
        })?;
    }
    Ok(())
}
