//! The SHA-256 of the files of a run, as `checksums.json` in its folder.
//!
//! A checksum is written before its file, beside that of the file which is there already: whenever a crash comes, the file on disk is one
//! that `checksums.json` knows.

use super::{FileError, Seal, seal, unseal, write_whole};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::{
    collections::BTreeMap,
    fmt::Write,
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

/// The name of the file.
pub const CHECKSUMS: &str = "checksums.json";

/// What `checksums.json` holds.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Checksums {
    /// The checksums that each file may have: of its last content and of the one before.
    files: BTreeMap<String, Vec<String>>,
}

/// SHA-256 as 64 hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    hexadecimal(Sha256::new_with_prefix(bytes))
}

/// SHA-256 of a file.
///
/// # Errors
/// When it cannot be read.
pub fn sha256_of_file(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    if !file.metadata()?.is_file() {
        // A device may never end.
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut hasher = Sha256::new();
    let mut part = vec![0; 1 << 16];
    loop {
        match file.read(&mut part)? {
            0 => return Ok(hexadecimal(hasher)),
            length => hasher.update(&part[..length]),
        }
    }
}

/// The sum of all that was hashed, as 64 hexadecimal digits.
pub fn hexadecimal(hasher: Sha256) -> String {
    hasher.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Writes a file of a run whole, with its checksum. Only for the process that holds the folder's lock.
///
/// # Errors
/// When the disk refuses, or the checksums there are broken.
pub fn write(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), FileError> {
    let mut checksums = Checksums::read(folder)?.unwrap_or_default();
    checksums.expect(folder, name, sha256(bytes));
    write_whole(&folder.join(CHECKSUMS), &seal(&checksums))?;
    write_whole(&folder.join(name), bytes)
}

/// Reads a file of a run and compares it with its checksum, if it has one.
///
/// # Errors
/// When it cannot be read, or is not the file that was written.
pub fn read(folder: &Path, name: &str) -> Result<Vec<u8>, FileError> {
    let path = folder.join(name);
    let bytes = fs::read(&path).map_err(FileError::io("read", &path))?;
    check(folder, name, &bytes)?;
    Ok(bytes)
}

/// Compares the content of a file of a run with its checksum, if it has one.
///
/// # Errors
/// When it is not the file that was written.
pub fn check(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), FileError> {
    match Checksums::read(folder)? {
        Some(checksums) if !checksums.allow(name, &sha256(bytes)) => Err(changed(folder, name)),
        _ => Ok(()),
    }
}

/// Compares all files of a run that are there with their checksums.
///
/// # Errors
/// At the first that is not the file that was written.
pub fn check_all(folder: &Path) -> Result<(), FileError> {
    let Some(checksums) = Checksums::read(folder)? else {
        return Ok(());
    };
    for name in checksums.files.keys() {
        let path = folder.join(name);
        match sha256_of_file(&path) {
            Ok(found) if checksums.allow(name, &found) => {}
            Ok(_) => return Err(changed(folder, name)),
            // Weights are deleted to save space; whoever needs the file says that it is missing.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(FileError::io("read", path)(error)),
        }
    }
    Ok(())
}

/// Whether a run has checksums; earlier versions wrote none.
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

    /// A file without a checksum may be anything: it was written before there were any.
    fn allow(&self, name: &str, found: &str) -> bool {
        let known = self.files.get(name);
        known.is_none_or(|known| known.iter().any(|known| known == found))
    }

    /// Lets a file become one of this checksum, and stay as it is until then.
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
        // Written again, it is right again.
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
        // The checksums of two new contents are written, their files are not.
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
