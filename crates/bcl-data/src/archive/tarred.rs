//! Reads tar archives.

use super::{Files, PackedFile, Visit, Wanted, file_name, reading};
use crate::DataError;
use crate::error::ArchiveError;
use std::cell::Cell;
use std::io::{self, Read};
use std::path::PathBuf;
use std::rc::Rc;
use tar::EntryType;

/// Maximum size of the headers before a file, in bytes; the `tar` crate keeps long names in memory.
const HEADERS: u64 = 1 << 20;

/// Calls `visit` with each wanted file.
pub(super) fn for_each<R: Read>(files: &Files, reader: R, wanted: &Wanted, visit: &mut Visit) -> Result<(), DataError> {
    let left = Rc::new(Cell::new(HEADERS));
    let mut archive = tar::Archive::new(Metered {
        reader,
        left: Rc::clone(&left),
    });
    let mut last = files.path().to_path_buf();
    let entries = archive.entries().map_err(|error| reading(&last, error))?;
    for (index, entry) in entries.enumerate() {
        let mut entry = entry.map_err(|error| reading(&last, error))?;
        left.set(u64::MAX);
        files.check_count(index + 1)?;
        last = visit_one(files, &mut entry, wanted, visit)?;
        // Read the rest of the file here, so that only headers are read before the next one.
        io::copy(&mut entry, &mut io::sink()).map_err(|error| reading(&last, error))?;
        left.set(HEADERS);
    }
    // The rest of the archive, so that a truncated or damaged one is noticed.
    left.set(u64::MAX);
    io::copy(&mut archive.into_inner(), &mut io::sink()).map_err(|error| reading(&last, error))?;
    Ok(())
}

/// Visits an entry if it is a wanted file; returns its location.
fn visit_one<R: Read>(
    files: &Files,
    entry: &mut tar::Entry<R>,
    wanted: &Wanted,
    visit: &mut Visit,
) -> Result<PathBuf, DataError> {
    let raw = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
    let at = files.location(&raw);
    let kind = entry.header().entry_type();
    let skipped = matches!(kind, EntryType::Directory | EntryType::XGlobalHeader);
    let Some(name) = file_name(&raw).filter(|name| !skipped && wanted(name)) else {
        return Ok(at);
    };
    let what = match kind {
        EntryType::Regular | EntryType::Continuous => {
            visit(
                name,
                PackedFile {
                    at: at.clone(),
                    content: entry,
                },
            )?;
            return Ok(at);
        }
        EntryType::Symlink | EntryType::Link => "a link",
        EntryType::GNUSparse => "a sparse file",
        _ => "not a file",
    };
    Err(ArchiveError::NotAFile { at, what }.into())
}

/// A reader that fails after a number of bytes, which can be reset.
struct Metered<R> {
    reader: R,
    left: Rc<Cell<u64>>,
}

impl<R: Read> Read for Metered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.left.get();
        if left == 0 {
            return Err(io::Error::other("the headers before a file are longer than 1 MiB"));
        }
        let room = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let count = self.reader.read(&mut buffer[..room])?;
        self.left.set(left - count as u64);
        Ok(count)
    }
}
