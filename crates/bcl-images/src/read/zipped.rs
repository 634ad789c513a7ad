//! Reads zip archives, in the order of their directory.

use super::names;
use super::store::{Entry, Store, Visit};
use crate::error::{FileLocation, ImageError};
use bcl_files::input;
use std::collections::HashSet;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use zip::ZipArchive;
use zip::result::ZipError;

/// Calls `visit` with each folder and file.
pub(super) fn for_each<R: Read + Seek>(store: &Store, mut reader: R, visit: &mut Visit) -> Result<(), ImageError> {
    let of_archive = |error| failed(FileLocation::file(store.path()), error);
    let archive = ZipArchive::new(&mut reader).map_err(of_archive)?;
    let (start, unpacked) = (archive.central_directory_start(), archive.decompressed_size());
    refuse_repeats(store, &mut reader, start).map_err(of_archive)??;
    let packed = reader.seek(SeekFrom::End(0)).map_err(|error| of_archive(error.into()))?;
    // Entries may share compressed bytes, so only the total size is meaningful.
    if unpacked.is_some_and(|unpacked| input::is_bomb(packed, u64::try_from(unpacked).unwrap_or(u64::MAX))) {
        return Err(ImageError::DecompressionBomb {
            path: store.path().to_path_buf(),
        });
    }
    let mut archive = ZipArchive::new(reader).map_err(of_archive)?;
    for index in 0..archive.len() {
        let raw = archive.by_index_raw(index).map(|zipped| zipped.name().as_bytes().to_vec());
        let raw = raw.map_err(|error| failed(FileLocation::file(store.path()), error))?;
        let at = store.location(&String::from_utf8_lossy(&raw));
        let mut zipped = archive.by_index(index).map_err(|error| failed(at.clone(), error))?;
        if zipped.is_symlink() {
            return Err(ImageError::NotAFile { at, what: "a link" });
        }
        let name = names::plain(&raw).map_err(|problem| ImageError::BadName { at: at.clone(), problem })?;
        let (is_folder, size) = (zipped.is_dir(), zipped.size());
        visit(&mut Entry {
            name,
            at,
            is_folder,
            size,
            start: None,
            content: &mut zipped,
        })?;
    }
    Ok(())
}

/// Refuses duplicate names. The `zip` crate silently keeps the last entry of a name, so this reads the directory itself.
fn refuse_repeats(store: &Store, reader: &mut (impl Read + Seek), start: u64) -> Result<Result<(), ImageError>, ZipError> {
    const SIGNATURE: [u8; 4] = *b"PK\x01\x02";
    const HEADER: usize = 46;
    reader.seek(SeekFrom::Start(start))?;
    let mut directory = BufReader::new(reader);
    let mut names = HashSet::new();
    loop {
        let mut header = [0; HEADER];
        let read = directory.read_exact(&mut header);
        if read.is_err() || header[..4] != SIGNATURE {
            return Ok(Ok(()));
        }
        let number = |at: usize| u64::from(u16::from_le_bytes([header[at], header[at + 1]]));
        let mut name = vec![0; number(28) as usize];
        directory.read_exact(&mut name)?;
        let rest = number(30) + number(32);
        io::copy(&mut directory.by_ref().take(rest), &mut io::sink())?;
        let at = store.location(&String::from_utf8_lossy(&name));
        if !name.ends_with(b"/") && !names.insert(name) {
            return Ok(Err(ImageError::Twice { at }));
        }
    }
}

fn failed(at: FileLocation, error: ZipError) -> ImageError {
    match error {
        ZipError::Io(error) => ImageError::reading(at, error),
        // The directory is at the end, so a truncated file lacks it.
        ZipError::InvalidArchive(reason) if reason.contains("EOCD") || reason.contains("end of central directory") => {
            ImageError::TruncatedArchive { at }
        }
        error => ImageError::reading(at, io::Error::other(error)),
    }
}
