//! Parquet files.

#[cfg_attr(not(feature = "parquet"), path = "parquet/absent.rs")]
mod table;

pub(super) use table::Table;

use crate::DataError;
use bcl_files::input;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

const MAGIC: [u8; 4] = *b"PAR1";

/// Whether a file is called `.parquet`, or begins and ends as Parquet files do. Text may begin so, too: `PAR1` is a possible id.
pub(super) fn is_parquet(path: &Path) -> Result<bool, DataError> {
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("parquet")) {
        return Ok(true);
    }
    let ends = || -> io::Result<bool> {
        let mut file = input::open(path)?;
        let (mut first, mut last) = ([0; 4], [0; 4]);
        file.read_exact(&mut first)?;
        // Most files are text, and need no jump to their end.
        if first != MAGIC {
            return Ok(false);
        }
        file.seek(SeekFrom::End(-4))?;
        file.read_exact(&mut last)?;
        Ok(last == MAGIC)
    };
    match ends() {
        Err(short) if short.kind() == ErrorKind::UnexpectedEof => Ok(false),
        result => result.map_err(|source| DataError::opening(path, &source)),
    }
}
