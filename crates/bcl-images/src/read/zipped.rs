//! The files of a zip archive, in the order of its directory.

use super::names;
use super::store::{Entry, Store, Visit};
use crate::error::{ImageError, Place};
use std::io::{self, Read, Seek};
use zip::ZipArchive;
use zip::result::ZipError;

/// Hands each folder and file to `visit`.
pub(super) fn for_each(store: &Store, reader: impl Read + Seek, visit: &mut Visit) -> Result<(), ImageError> {
    let mut archive = ZipArchive::new(reader).map_err(|error| failed(Place::file(store.path()), error))?;
    for index in 0..archive.len() {
        let raw = archive.by_index_raw(index).map(|zipped| zipped.name().as_bytes().to_vec());
        let raw = raw.map_err(|error| failed(Place::file(store.path()), error))?;
        let at = store.place(&String::from_utf8_lossy(&raw));
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
            content: &mut zipped,
        })?;
    }
    Ok(())
}

fn failed(at: Place, error: ZipError) -> ImageError {
    match error {
        ZipError::Io(error) => ImageError::reading(at, error),
        // The directory is at the end of the file, so it is what a cut file lacks.
        ZipError::InvalidArchive(reason) if reason.contains("EOCD") || reason.contains("end of central directory") => {
            ImageError::TruncatedArchive { at }
        }
        error => ImageError::reading(at, io::Error::other(error)),
    }
}
