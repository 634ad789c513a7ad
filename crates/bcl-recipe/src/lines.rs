//! Finds the lines of the keys in a TOML text.

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

/// The positions of all line ends in a text. Counting the lines for each of many keys would take minutes.
pub(crate) struct Lines(Vec<usize>);

impl Lines {
    pub(crate) fn of(text: &str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self(ends.map(|(end, _)| end).collect())
    }

    /// The line of a byte, from 1.
    pub(crate) fn line_of(&self, offset: usize) -> usize {
        1 + self.0.partition_point(|&end| end < offset)
    }
}

/// Calls `found` with each key, in full, the byte at which it begins, and its value.
pub(crate) fn locate(table: &DeTable<'_>, prefix: &str, found: &mut impl FnMut(String, usize, &Spanned<DeValue<'_>>)) {
    for (key, value) in table {
        let path = format!("{prefix}{}", key.get_ref());
        found(path.clone(), Spanned::span(key).start, value);
        if let DeValue::Table(inner) = value.get_ref() {
            locate(inner, &format!("{path}."), found);
        }
    }
}
