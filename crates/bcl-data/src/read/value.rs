//! Values of files whose columns have types: as text, or why not.

use super::Row;
use super::lines::Line;
use super::picker::{Wanted, missing};
use super::problem;
use crate::DataError;

/// A value of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// The row has no such column.
    Missing,
    Null,
    Text(String),
    /// A whole number that a float cannot represent.
    Rounded(String),
    /// A list, an object, a truth value or anything else that is no text and no number.
    Other,
}

impl Value {
    /// A number. Whole numbers are written without a point, so that ids which a program stored as floats keep their text. NaN stands for
    /// no value, as pandas has it.
    pub(super) fn of_float(number: f64) -> Self {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        Self::of_number(
            number.to_string(),
            number.is_nan(),
            number.is_finite() && number.abs() >= EXACT,
        )
    }

    /// As [`of_float`](Self::of_float), with half the digits.
    #[cfg(feature = "parquet")]
    pub(super) fn of_single(number: f32) -> Self {
        const EXACT: f32 = 16_777_216.0;
        Self::of_number(
            number.to_string(),
            number.is_nan(),
            number.is_finite() && number.abs() >= EXACT,
        )
    }

    /// A number is rounded if different whole numbers of its size become the same float.
    fn of_number(text: String, is_nan: bool, is_rounded: bool) -> Self {
        match (is_nan, is_rounded) {
            (true, _) => Value::Null,
            (_, true) => Value::Rounded(text),
            _ => Value::Text(text),
        }
    }

    /// Text, without blanks around it.
    pub(super) fn of_text(text: &str) -> Self {
        Value::Text(text.trim().to_owned())
    }
}

/// The values of a row as text; null and a missing column are `None`, unless every file has the column. Errors list `names`, the file's columns.
pub(super) fn texts<'k, const N: usize>(
    line: &Line<'_>,
    wanted: &[Wanted<'_>; N],
    values: [Value; N],
    names: impl Iterator<Item = &'k str> + Clone,
) -> Result<[Option<String>; N], DataError> {
    let mut picked = [const { None }; N];
    for ((picked, value), wanted) in picked.iter_mut().zip(values).zip(wanted) {
        *picked = match value {
            Value::Text(text) => Some(text),
            Value::Other => return Err(line.bad_field(wanted.field, "", problem::NOT_TEXT)),
            Value::Rounded(text) => return Err(line.bad_field(wanted.field, &text, problem::ROUNDED)),
            Value::Missing if wanted.required => return Err(missing(wanted, names.clone(), line)),
            Value::Null | Value::Missing => None,
        };
    }
    Ok(picked)
}

/// The interaction with these values of user, item, rating and timestamp.
pub(super) fn row<'v>(line: &Line<'_>, values: &'v [Option<String>; 4]) -> Result<Row<'v>, DataError> {
    let [user, item, rating, time] = values.each_ref().map(Option::as_deref);
    Ok(Row {
        user: id(line, "user", user)?,
        item: id(line, "item", item)?,
        rating: rating.map(|raw| line.float("rating", raw)).transpose()?,
        time,
    })
}

/// The id in a field, which must not be null.
pub(super) fn id<'v>(line: &Line<'_>, field: &'static str, value: Option<&'v str>) -> Result<&'v str, DataError> {
    match value {
        Some(raw) => line.id(field, raw),
        None => Err(line.bad_field(field, "null", problem::EMPTY)),
    }
}
