//! SHA-256 checksums of a run's files, stored as `checksums.json` in its folder.
//!
//! The new checksum is written before the file, next to the checksum of the existing file. Therefore, after a crash at any moment,
//! `checksums.json` matches the file on disk.

use crate::{FileError, Seal, seal, sha256, sha256_of_file, unseal, write_whole};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

/// File name of the checksums.
pub const CHECKSUMS: &str = "checksums.json";

/// The content of `checksums.json`.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Checksums {
    /// The valid checksums of each file: for its current and for its previous content.
    files: BTreeMap<String, Vec<String>>,
}

/// Writes a run's file atomically, with its checksum. Call this only while holding the folder's lock.
///
/// # Errors
/// Returns an error if a file cannot be written or the existing checksums are damaged.
pub fn write(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), FileError> {
    let mut checksums = Checksums::read(folder)?.unwrap_or_default();
    checksums.expect(folder, name, sha256(bytes));
    write_whole(&folder.join(CHECKSUMS), &seal(&checksums))?;
    write_whole(&folder.join(name), bytes)
}

/// Reads a run's file and verifies its checksum, if it has one.
///
/// # Errors
/// Returns an error if the file cannot be read or does not match its checksum.
pub fn read(folder: &Path, name: &str) -> Result<Vec<u8>, FileError> {
    let path = folder.join(name);
    let bytes = fs::read(&path).map_err(FileError::io("read", &path))?;
    check(folder, name, &bytes)?;
    Ok(bytes)
}

/// Verifies the content of a run's file against its checksum, if it has one.
///
/// # Errors
/// Returns an error if the content does not match its checksum.
pub fn check(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), FileError> {
    match Checksums::read(folder)? {
        Some(checksums) if !checksums.allow(name, &sha256(bytes)) => Err(changed(folder, name)),
        _ => Ok(()),
    }
}

/// Verifies the checksums of all existing files of a run.
///
/// # Errors
/// Returns an error for the first file that cannot be read or does not match its checksum.
pub fn check_all(folder: &Path) -> Result<(), FileError> {
    let Some(checksums) = Checksums::read(folder)? else {
        return Ok(());
    };
    for name in checksums.files.keys() {
        let path = folder.join(name);
        match sha256_of_file(&path) {
            Ok(found) if checksums.allow(name, &found) => {}
            Ok(_) => return Err(changed(folder, name)),
            // Users may delete weights to save space; code that needs them reports them missing.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(FileError::io("read", path)(error)),
        }
    }
    Ok(())
}

/// Returns whether a run has checksums; earlier versions wrote none.
pub fn exist(folder: &Path) -> bool {
    folder.join(CHECKSUMS).exists()
}

fn changed(folder: &Path, name: &str) -> FileError {
    FileError::Changed {
        path: folder.join(name),
        checksums: folder.join(CHECKSUMS),
    }
}

impl Checksums {
    fn read(folder: &Path) -> Result<Option<Self>, FileError> {
        let path: PathBuf = folder.join(CHECKSUMS);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(FileError::io("read", path)(error)),
        };
        if unseal(&text) != Seal::Intact {
            return Err(FileError::Checksums(path));
        }
        serde_json::from_slice(&text)
            .map(Some)
            .map_err(|_| FileError::Checksums(path))
    }

    /// Returns whether the checksum is valid. A file without one, from an earlier version, is always valid.
    fn allow(&self, name: &str, found: &str) -> bool {
        let known = self.files.get(name);
        known.is_none_or(|known| known.iter().any(|known| known == found))
    }

    /// Adds the checksum of the file's next content; the current content's checksum stays valid.
    fn expect(&mut self, folder: &Path, name: &str, coming: String) {
        let known = self.files.entry(name.to_owned()).or_default();
        if !known.is_empty() {
            let present = sha256_of_file(&folder.join(name)).ok();
            known.retain(|known| Some(known) == present.as_ref() && *known != coming);
        }
        known.push(coming);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_as_it_was_written_and_refused_when_it_changed() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        write(folder, "a", b"1").unwrap();
        write(folder, "b", b"2").unwrap();
        assert_eq!(read(folder, "a").unwrap(), b"1");
        fs::write(folder.join("a"), "3").unwrap();
        for message in [read(folder, "a").unwrap_err(), check_all(folder).unwrap_err()].map(|error| error.to_string()) {
            assert!(message.contains("/a was damaged") && message.contains(CHECKSUMS), "{message}");
        }
        // Writing it again restores a valid checksum.
        write(folder, "a", b"4").unwrap();
        check_all(folder).unwrap();
        fs::remove_file(folder.join("b")).unwrap();
        check_all(folder).unwrap();
    }

    #[test]
    fn a_crash_between_a_checksum_and_its_file_leaves_the_old_file_readable() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        write(folder, "a", b"old").unwrap();
        // The checksums of two new contents are written, but not the files.
        for coming in [b"new", b"two"] {
            let mut checksums = Checksums::read(folder).unwrap().unwrap();
            checksums.expect(folder, "a", sha256(coming));
            write_whole(&folder.join(CHECKSUMS), &seal(&checksums)).unwrap();
        }
        assert_eq!(read(folder, "a").unwrap(), b"old");
        fs::write(folder.join("a"), "two").unwrap();
        assert_eq!(read(folder, "a").unwrap(), b"two");
        fs::write(folder.join("a"), "new").unwrap();
        read(folder, "a").unwrap_err();
    }

    #[test]
    fn broken_checksums_are_named_and_missing_ones_check_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        fs::write(folder.join("a"), "1").unwrap();
        assert_eq!(read(folder, "a").unwrap(), b"1");
        write(folder, "b", b"2").unwrap();
        assert_eq!(read(folder, "a").unwrap(), b"1");
        let mut text = fs::read(folder.join(CHECKSUMS)).unwrap();
        let last = text.len() / 2;
        text[last] ^= 1;
        fs::write(folder.join(CHECKSUMS), text).unwrap();
        let message = read(folder, "b").unwrap_err().to_string();
        assert!(message.contains("checksums.json was damaged"), "{message}");
    }
}
