//! Columns of a file, as recipes name them.

mod tables;

pub use tables::{InteractionColumns, ItemColumns};

use serde::{Deserialize, Deserializer, Serialize, de};
use std::fmt;

/// A column of a file: by its name in the header (or its key, in JSON lines), or by its number, from 1.
///
/// ```
/// use bcl_data::ColumnRef;
///
/// #[derive(serde::Deserialize)]
/// struct Columns {
///     user: ColumnRef,
///     item: ColumnRef,
/// }
/// let columns: Columns = toml::from_str("user = \"customer\"\nitem = 3")?;
/// assert_eq!(columns.user, ColumnRef::Name("customer".into()));
/// assert_eq!(columns.item, ColumnRef::Number(3));
/// assert!(toml::from_str::<Columns>("user = 0\nitem = 3").is_err());
/// # Ok::<(), toml::de::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum ColumnRef {
    /// The number of the column, from 1.
    Number(usize),
    /// The name of the column. In headers, case does not matter.
    Name(String),
}

impl fmt::Display for ColumnRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Name(name) => f.write_str(name),
        }
    }
}

impl<'de> Deserialize<'de> for ColumnRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ColumnVisitor)
    }
}

struct ColumnVisitor;

impl de::Visitor<'_> for ColumnVisitor {
    type Value = ColumnRef;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a column, or its number from 1")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<ColumnRef, E> {
        match name.trim() {
            "" => Err(E::invalid_value(de::Unexpected::Str(name), &self)),
            name => Ok(ColumnRef::Name(name.to_owned())),
        }
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<ColumnRef, E> {
        match usize::try_from(number) {
            Ok(number @ 1..) => Ok(ColumnRef::Number(number)),
            _ => Err(E::invalid_value(de::Unexpected::Unsigned(number), &self)),
        }
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<ColumnRef, E> {
        match u64::try_from(number) {
            Ok(number) => self.visit_u64(number),
            Err(_) => Err(E::invalid_value(de::Unexpected::Signed(number), &self)),
        }
    }
}
