//! Reads zip archives.

use super::{Files, PackedFile, Visit, Wanted, file_name, reading};
use crate::DataError;
use crate::error::ArchiveError;
use bcl_files::input::{DecompressionBomb, is_bomb};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use zip::ZipArchive;
use zip::result::ZipError;

/// Calls `visit` with each wanted file, in the order of the archive's directory.
pub(super) fn for_each<R: Read + Seek>(
    files: &Files,
    mut reader: R,
    wanted: &Wanted,
    visit: &mut Visit,
) -> Result<(), DataError> {
    let packed = reader.seek(SeekFrom::End(0)).map_err(|error| reading(files.path(), error))?;
    let mut archive = ZipArchive::new(reader).map_err(|error| failed(files.path(), error))?;
    files.check_count(archive.len())?;
    let mut unpacked = 0;
    for index in 0..archive.len() {
        let raw = archive.by_index_raw(index).map(|zipped| zipped.name().to_string());
        let raw = raw.map_err(|error| failed(files.path(), error))?;
        let Some(name) = file_name(&raw).filter(|name| wanted(name)) else {
            continue;
        };
        let at = files.location(&raw);
        let mut zipped = archive.by_index(index).map_err(|error| failed(&at, error))?;
        if zipped.is_symlink() {
            return Err(ArchiveError::NotAFile { at, what: "a link" }.into());
        }
        let mut content = Counted {
            reader: &mut zipped,
            packed,
            unpacked: &mut unpacked,
        };
        visit(
            name,
            PackedFile {
                at,
                content: &mut content,
            },
        )?;
    }
    Ok(())
}

/// A reader that fails when all that was unpacked shows the archive to be a decompression bomb. Sizes in its headers may be
/// wrong.
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

fn failed(at: &Path, error: ZipError) -> DataError {
    match error {
        ZipError::Io(error) => reading(at, error),
        // The directory is at the end, so a truncated file lacks it.
        ZipError::InvalidArchive(reason) if reason.contains("EOCD") || reason.contains("end of central directory") => {
            ArchiveError::Truncated { at: at.to_path_buf() }.into()
        }
        error => reading(at, io::Error::other(error)),
    }
}
