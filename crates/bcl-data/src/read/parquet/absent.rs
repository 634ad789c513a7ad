//! Without the feature `parquet`: an error that says how to turn it on.

use crate::DataError;
use crate::read::{lines::Line, picker::Wanted};
use std::path::Path;

/// No Parquet file can be opened.
pub(in crate::read) enum Table {}

impl Table {
    pub(in crate::read) fn open(path: &Path) -> Result<Self, DataError> {
        Err(DataError::file(
            path,
            "is a Parquet file, and this program was built without Parquet. Run `cargo run -p bcl-train --features parquet -- …`, or \
             convert the file with pandas: `pd.read_parquet(\"…\").to_csv(\"…\", index=False)`",
        ))
    }

    pub(in crate::read) fn read<const N: usize>(
        &self,
        _: &[Wanted<'_>; N],
        _: impl FnMut(&Line<'_>, [Option<String>; N]) -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        match *self {}
    }
}
