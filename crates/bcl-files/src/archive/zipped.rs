//! Reads zip archives, in the order of their directory.

use super::entry::{Entry, EntryKind, Visit};
use super::{ArchiveError, FileLocation};
use crate::input::{DecompressionBomb, is_bomb};
use std::collections::HashSet;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use zip::ZipArchive;
use zip::result::ZipError;

/// Calls `visit` with each folder and file.
pub(super) fn for_each<E: From<ArchiveError>>(path: &Path, mut reader: impl Read + Seek, visit: &mut Visit<E>) -> Result<(), E> {
    let of_archive = |error| failed(FileLocation::file(path), error);
    let archive = ZipArchive::new(&mut reader).map_err(of_archive)?;
    let (start, unpacked) = (archive.central_directory_start(), archive.decompressed_size());
    if let Some(name) = repeated_name(&mut reader, start).map_err(of_archive)? {
        return Err(ArchiveError::twice(FileLocation::entry(path, &name)).into());
    }
    let packed = reader.seek(SeekFrom::End(0)).map_err(|error| of_archive(error.into()))?;
    // Entries may share compressed bytes, so only the total size is meaningful.
    if unpacked.is_some_and(|unpacked| is_bomb(packed, u64::try_from(unpacked).unwrap_or(u64::MAX))) {
        let at = FileLocation::file(path);
        return Err(ArchiveError::Bomb { at }.into());
    }
    let mut archive = ZipArchive::new(reader).map_err(of_archive)?;
    let mut unpacked = 0;
    for index in 0..archive.len() {
        let raw = archive
            .by_index_raw(index)
            .map(|zipped| (name_of(zipped.name_raw()), zipped.encrypted()));
        let (raw_name, is_encrypted) = raw.map_err(of_archive)?;
        let at = FileLocation::entry(path, &raw_name);
        if is_encrypted {
            let remedy = "Unpack it with its password, and name the folder";
            return Err(ArchiveError::unusable(at, "is encrypted", remedy).into());
        }
        let mut zipped = archive.by_index(index).map_err(|error| failed(at.clone(), error))?;
        let kind = if zipped.is_symlink() {
            EntryKind::Other("a link")
        } else if raw_name.ends_with(b"/") {
            EntryKind::Folder
        } else {
            EntryKind::File
        };
        visit(Entry {
            at,
            kind,
            size: zipped.size(),
            start: None,
            raw_name,
            content: &mut Counted {
                reader: &mut zipped,
                packed,
                unpacked: &mut unpacked,
            },
        })?;
    }
    Ok(())
}

/// The name with forward slashes: some programs for Windows write backslashes, against the standard. Bytes stay as the archive has them, because what
/// is not UTF-8 has an encoding that nobody knows.
fn name_of(raw: &[u8]) -> Vec<u8> {
    raw.iter().map(|&byte| if byte == b'\\' { b'/' } else { byte }).collect()
}

/// A name that occurs twice, if there is one. The `zip` crate silently keeps the last entry of a name, so this reads the directory itself.
fn repeated_name(reader: &mut (impl Read + Seek), start: u64) -> Result<Option<Vec<u8>>, ZipError> {
    const SIGNATURE: [u8; 4] = *b"PK\x01\x02";
    const HEADER: usize = 46;
    reader.seek(SeekFrom::Start(start))?;
    let mut directory = BufReader::new(reader);
    let mut names = HashSet::new();
    loop {
        let mut header = [0; HEADER];
        let read = directory.read_exact(&mut header);
        if read.is_err() || header[..4] != SIGNATURE {
            return Ok(None);
        }
        let number = |at: usize| u64::from(u16::from_le_bytes([header[at], header[at + 1]]));
        let mut name = vec![0; number(28) as usize];
        directory.read_exact(&mut name)?;
        let rest = number(30) + number(32);
        io::copy(&mut directory.by_ref().take(rest), &mut io::sink())?;
        let name = name_of(&name);
        if !name.ends_with(b"/") && !names.insert(name.clone()) {
            return Ok(Some(name));
        }
    }
}

/// A reader that fails when all that was unpacked shows the archive to be a decompression bomb. Sizes in its headers may be wrong.
struct Counted<'a, R> {
    reader: R,
    packed: u64,
    unpacked: &'a mut u64,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        *self.unpacked += count as u64;
        if is_bomb(self.packed, *self.unpacked) {
            return Err(io::Error::other(DecompressionBomb));
        }
        Ok(count)
    }
}

fn failed(at: FileLocation, error: ZipError) -> ArchiveError {
    match error {
        ZipError::Io(error) => ArchiveError::reading(at, error),
        // The directory is at the end, so a truncated file lacks it.
        ZipError::InvalidArchive(reason) if reason.contains("EOCD") || reason.contains("end of central directory") => {
            ArchiveError::truncated(at)
        }
        ZipError::UnsupportedArchive(reason) => ArchiveError::unusable(
            at,
            format!("is packed in a way that is not read: {reason}"),
            "Unpack it and name the folder, or pack it again as a plain .zip or .tar.gz",
        ),
        error => ArchiveError::reading(at, io::Error::other(error)),
    }
}
