//! A limit on the number of interactions, so that they fit into memory.

use crate::{DataError, memory};
use std::path::Path;

/// The supported maximum: twice as many as the largest public data sets have.
const MOST_ROWS: usize = 500_000_000;

/// Minimum memory per interaction, in bytes: a pair while the file is read, then an item in its user's row.
const ROW_BYTES: u64 = 12;
/// Memory per timestamp, in bytes: a moment while the file is read, then a place in time.
const TIME_BYTES: u64 = 20;

/// The maximum number of interactions to keep.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowLimit {
    rows: usize,
    available: Option<u64>,
}

impl RowLimit {
    /// The limit for the memory that is free now.
    pub(crate) fn now(with_times: bool) -> Self {
        let row = if with_times { ROW_BYTES + TIME_BYTES } else { ROW_BYTES };
        Self::of(memory::available(), row)
    }

    fn of(available: Option<u64>, row: u64) -> Self {
        let fitting = available.map_or(MOST_ROWS as u64, |bytes| bytes / row);
        Self {
            rows: fitting.min(MOST_ROWS as u64) as usize,
            available,
        }
    }

    /// Returns an error if more rows than the limit are kept.
    pub(super) fn check(self, kept: usize, path: &Path) -> Result<(), DataError> {
        if kept <= self.rows {
            return Ok(());
        }
        let reason = match self.available {
            Some(bytes) if self.rows < MOST_ROWS => {
                format!("which do not fit into the {} MiB of free memory", bytes >> 20)
            }
            _ => "the supported maximum".to_owned(),
        };
        let what = format!("has more than {} interactions, {reason}", self.rows);
        Err(DataError::file(
            path,
            format!("{what}. Use a part of the data, or a machine with more memory"),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_bounded_by_memory_and_in_any_case() {
        let path = Path::new("likes.csv");
        let little = RowLimit::of(Some(12 << 20), 12);
        little.check(1 << 20, path).unwrap();
        let message = little.check((1 << 20) + 1, path).unwrap_err().to_string();
        assert!(
            message.contains("likes.csv: has more than 1048576 interactions") && message.contains("12 MiB"),
            "{message}"
        );
        for much in [RowLimit::of(None, 12), RowLimit::of(Some(u64::MAX), 12)] {
            much.check(MOST_ROWS, path).unwrap();
            let message = much.check(MOST_ROWS + 1, path).unwrap_err().to_string();
            assert!(message.contains("500000000 interactions, the supported maximum"), "{message}");
        }
    }
}
