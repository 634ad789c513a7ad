//! What can be wrong with a field, and what to do about it.

/// An empty id or number.
pub(super) const EMPTY: &str = "is empty. Fill it in or delete the line";
/// An id that is a negative number.
pub(super) const NEGATIVE: &str =
    "is negative, which usually marks a missing id. Use ids from 0 on, or any text that is not a negative number";
/// Text in place of a number.
pub(super) const NOT_A_NUMBER: &str =
    "is not a number. Correct it or delete the line; a header must name its columns `user,item,rating,timestamp`";
/// A number, but NaN or infinite.
pub(super) const NOT_FINITE: &str = "is not finite. Replace it by a finite number or delete the line";
/// A list, an object or a truth value in place of text or a number.
pub(super) const NOT_TEXT: &str = "is not text or a number. Correct it, or name another key in `data.columns`";
/// Text that is neither a number nor a date.
pub(super) const NOT_A_TIME: &str = "is not a time. Write a number, such as seconds since 1970, or a date in UTC such as 2010-10-19 or \
                                     2010-10-19T23:55:27Z, or split without times: `data.split.order = \"random\"`";
/// A number of JSON or Parquet that is too large to be exact.
pub(super) const ROUNDED: &str =
    "is too large for a float, so different values would look the same. Write it as text, in JSON in quotes";
/// A header where an interaction should be.
pub(super) const HEADER: &str =
    "is a header. Delete the line; if files were joined here, name them one by one in `data.files` instead";
/// A number with a comma as decimal mark that could also separate thousands.
pub(super) const DECIMAL_COMMA: &str = "has a comma, as decimal mark or between thousands. Write a point as decimal mark and nothing between \
                                        thousands";
