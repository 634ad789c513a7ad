//! The text format of NGCF and `LightGCN`: `user item item …`.

use super::header::is_repeated;
use super::lines::Line;
use super::{Row, problem};
use crate::DataError;
use crate::error::excerpt;

/// Calls `each` for every interaction of a line.
pub(super) fn rows<'a>(line: &Line<'a>, mut each: impl FnMut(Row<'a>) -> Result<(), DataError>) -> Result<(), DataError> {
    let mut fields = line.text.split_ascii_whitespace();
    // A blank line has no user. The published test files contain users without items, for whom nothing was held out.
    let user = line.id("user", fields.next().unwrap_or_default())?;
    if fields.clone().next().is_some_and(|item| is_repeated(user, item)) {
        return Err(line.error(format!("`{}` {}", excerpt(line.text), problem::HEADER)));
    }
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
