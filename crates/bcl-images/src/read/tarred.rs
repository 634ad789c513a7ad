//! Reads tar archives, in one pass.

use super::names;
use super::store::{Entry, Store, Visit};
use crate::error::{FileLocation, ImageError};
use std::cell::Cell;
use std::io::{self, Read, Seek, SeekFrom};
use std::rc::Rc;
use tar::EntryType;

/// Maximum size of the headers before a file, in bytes; long names are kept in memory.
const HEADERS: u64 = 1 << 20;
/// Maximum number of bytes read after the last file, to check that the archive is complete.
const TRAILER: u64 = 64 << 20;

/// Calls `visit` with each folder and file, and skips what it does not read.
pub(super) fn for_each_seeking<R: Read + Seek>(store: &Store, reader: R, visit: &mut Visit) -> Result<(), ImageError> {
    let left = Rc::new(Cell::new(HEADERS));
    let mut archive = tar::Archive::new(Metered {
        reader,
        left: Rc::clone(&left),
    });
    let mut last = FileLocation::file(store.path());
    let failed = |last: &FileLocation| {
        let last = last.clone();
        move |error| ImageError::reading(last, error)
    };
    for tarred in archive.entries_with_seek().map_err(failed(&last))? {
        let mut tarred = tarred.map_err(failed(&last))?;
        left.set(u64::MAX);
        visit_one(store, &mut tarred, visit, &mut last)?;
        left.set(HEADERS);
    }
    Ok(())
}

/// Calls `visit` with each folder and file.
pub(super) fn for_each<R: Read>(store: &Store, reader: R, visit: &mut Visit) -> Result<(), ImageError> {
    let left = Rc::new(Cell::new(HEADERS));
    let mut archive = tar::Archive::new(Metered {
        reader,
        left: Rc::clone(&left),
    });
    let mut last = FileLocation::file(store.path());
    let failed = |last: &FileLocation| {
        let last = last.clone();
        move |error| ImageError::reading(last, error)
    };
    for tarred in archive.entries().map_err(failed(&last))? {
        let mut tarred = tarred.map_err(failed(&last))?;
        left.set(u64::MAX);
        visit_one(store, &mut tarred, visit, &mut last)?;
        // Skip the rest of the file, so that only headers are read before the next one.
        io::copy(&mut tarred, &mut io::sink()).map_err(failed(&last))?;
        left.set(HEADERS);
    }
    left.set(u64::MAX);
    let mut rest = archive.into_inner().take(TRAILER);
    io::copy(&mut rest, &mut io::sink()).map_err(failed(&last))?;
    Ok(())
}

fn visit_one<R: Read>(
    store: &Store,
    tarred: &mut tar::Entry<R>,
    visit: &mut Visit,
    last: &mut FileLocation,
) -> Result<(), ImageError> {
    let raw = tarred.path_bytes().into_owned();
    let at = store.location(&String::from_utf8_lossy(&raw));
    *last = at.clone();
    let is_folder = match tarred.header().entry_type() {
        // In old archives, only a trailing slash marks a folder.
        EntryType::Regular | EntryType::Continuous => raw.ends_with(b"/"),
        EntryType::Directory => true,
        EntryType::XGlobalHeader => return visit_global_header(tarred, at, visit),
        EntryType::Symlink | EntryType::Link => return Err(ImageError::NotAFile { at, what: "a link" }),
        EntryType::GNUSparse => {
            return Err(ImageError::NotAFile {
                at,
                what: "a sparse file",
            });
        }
        _ => {
            return Err(ImageError::NotAFile {
                at,
                what: "neither a file nor a folder",
            });
        }
    };
    let name = names::plain(&raw).map_err(|problem| ImageError::BadName { at: at.clone(), problem })?;
    let size = tarred.size();
    let start = store.skims().then(|| tarred.raw_file_position());
    visit(&mut Entry {
        name,
        at,
        is_folder,
        size,
        start,
        content: tarred,
    })
}

/// Counts a header for all following files, whose content is not used, and checks its size.
fn visit_global_header<R: Read>(tarred: &mut tar::Entry<R>, at: FileLocation, visit: &mut Visit) -> Result<(), ImageError> {
    let size = tarred.size();
    if size > HEADERS {
        return Err(ImageError::TooMuch {
            at,
            what: "the size of a global header in bytes",
            found: size,
            limit: HEADERS,
        });
    }
    // An entry without a name is counted and skipped.
    visit(&mut Entry {
        name: String::new(),
        at,
        is_folder: false,
        size,
        start: None,
        content: tarred,
    })
}

/// A reader that fails after a number of bytes, which can be reset.
struct Metered<R> {
    reader: R,
    left: Rc<Cell<u64>>,
}

impl<R: Seek> Seek for Metered<R> {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.reader.seek(position)
    }
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
