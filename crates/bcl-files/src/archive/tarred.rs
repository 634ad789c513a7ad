//! Reads tar archives, in one pass.

use super::entry::{Entry, EntryKind, Visit};
use super::{ArchiveError, FileLocation};
use std::cell::Cell;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::rc::Rc;
use tar::EntryType;

/// Maximum size of the headers before a file, in bytes; long names are kept in memory.
const HEADERS: u64 = 1 << 20;
/// Maximum number of bytes read after the last file, to check that the archive is complete.
const TRAILER: u64 = 64 << 20;

/// Calls `visit` with each folder and file, and skips what it does not read.
pub(super) fn for_each_seeking<E: From<ArchiveError>>(
    path: &Path,
    reader: impl Read + Seek,
    visit: &mut Visit<E>,
) -> Result<(), E> {
    let (mut archive, left) = metered(reader);
    let entries = archive.entries_with_seek().map_err(failed(&FileLocation::file(path)))?;
    visit_all(path, entries, &left, true, visit).map(drop)
}

/// Calls `visit` with each folder and file.
pub(super) fn for_each<E: From<ArchiveError>>(path: &Path, reader: impl Read, visit: &mut Visit<E>) -> Result<(), E> {
    let (mut archive, left) = metered(reader);
    let entries = archive.entries().map_err(failed(&FileLocation::file(path)))?;
    let last = visit_all(path, entries, &left, false, visit)?;
    left.set(u64::MAX);
    let mut rest = archive.into_inner().take(TRAILER);
    io::copy(&mut rest, &mut io::sink()).map_err(failed(&last))?;
    Ok(())
}

/// An archive, and the number of bytes that may be read before it fails.
fn metered<R: Read>(reader: R) -> (tar::Archive<Metered<R>>, Rc<Cell<u64>>) {
    let left = Rc::new(Cell::new(HEADERS));
    let archive = tar::Archive::new(Metered {
        reader,
        left: Rc::clone(&left),
    });
    (archive, left)
}

/// Visits all entries; returns the location of the last one.
fn visit_all<E: From<ArchiveError>>(
    path: &Path,
    entries: tar::Entries<impl Read>,
    left: &Cell<u64>,
    seeks: bool,
    visit: &mut Visit<E>,
) -> Result<FileLocation, E> {
    let mut last = FileLocation::file(path);
    for tarred in entries {
        let mut tarred = tarred.map_err(failed(&last))?;
        left.set(u64::MAX);
        last = FileLocation::entry(path, &tarred.path_bytes());
        let start = seeks.then(|| tarred.raw_file_position());
        visit_one(&mut tarred, start, last.clone(), visit)?;
        if !seeks {
            // Skip the rest of the file, so that only headers are read before the next one.
            io::copy(&mut tarred, &mut io::sink()).map_err(failed(&last))?;
        }
        left.set(HEADERS);
    }
    Ok(last)
}

fn failed(last: &FileLocation) -> impl FnOnce(io::Error) -> ArchiveError {
    let last = last.clone();
    move |error| ArchiveError::reading(last, error)
}

fn visit_one<E: From<ArchiveError>>(
    tarred: &mut tar::Entry<impl Read>,
    start: Option<u64>,
    at: FileLocation,
    visit: &mut Visit<E>,
) -> Result<(), E> {
    let (raw_name, size) = (tarred.path_bytes().into_owned(), tarred.size());
    let kind = match tarred.header().entry_type() {
        // In old archives, only a trailing slash marks a folder.
        EntryType::Regular | EntryType::Continuous if !raw_name.ends_with(b"/") => EntryKind::File,
        EntryType::Regular | EntryType::Continuous | EntryType::Directory => EntryKind::Folder,
        EntryType::XGlobalHeader if size > HEADERS => {
            return Err(ArchiveError::too_much(at, "the size of a global header in bytes", size, HEADERS).into());
        }
        EntryType::XGlobalHeader => EntryKind::Header,
        EntryType::Symlink | EntryType::Link => EntryKind::Other("a link"),
        EntryType::GNUSparse => EntryKind::Other("a sparse file"),
        _ => EntryKind::Other("neither a file nor a folder"),
    };
    visit(Entry {
        at,
        kind,
        size,
        start,
        raw_name,
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
