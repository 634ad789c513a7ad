//! Without the feature `parquet`: an error that says how to turn it on.

use crate::DataError;
use crate::read::{lines::Line, picker::Wanted};
use std::path::Path;

/// No Parquet file can be opened.
pub(in crate::read) enum Table {}

impl Table {
    pub(in crate::read) fn open(path: &Path) -> Result<Self, DataError> {
        Err(DataError::WithoutParquet {
            path: path.to_path_buf(),
        })
    }

    pub(in crate::read) fn read<const N: usize>(
        &self,
        _: &[Wanted<'_>; N],
        _: impl FnMut(&Line<'_>, [Option<String>; N]) -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        match *self {}
    }
}
