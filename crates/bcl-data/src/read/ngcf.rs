//! `user item item …`: the text format of NGCF and `LightGCN`.

use super::Row;
use super::lines::Line;
use crate::DataError;

/// Calls `each` with the interactions of a line.
pub(super) fn rows<'a>(line: &Line<'a>, mut each: impl FnMut(Row<'a>) -> Result<(), DataError>) -> Result<(), DataError> {
    let mut fields = line.text.split_ascii_whitespace();
    // A blank line has no user; a user without items is how the published test files write that nothing was held out.
    let user = line.id("user", fields.next().unwrap_or_default())?;
    for item in fields {
        let item = line.id("item", item)?;
        each(Row {
            user,
            item,
            rating: None,
        })?;
    }
    Ok(())
}
