//! Unpacks an archive beside itself: all of it, or nothing.

use super::archive::{Archive, Entry};
use super::error::FetchError;
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// What an archive may unpack to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Bytes of all files together.
    pub(super) bytes: u64,
    /// Files and folders together.
    pub(super) entries: usize,
}

impl Default for Limits {
    /// Room for the largest data set of the field that comes as an archive.
    fn default() -> Self {
        Self {
            bytes: 8 << 30,
            entries: 400_000,
        }
    }
}

/// What was left to do.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unpacked {
    /// So many files were unpacked.
    Now { files: usize },
    /// All files lay there already, with the right sizes.
    Before,
}

/// Unpacks the archive at `path` into the folder `into`, unless its files lie there already.
///
/// The files appear under their names only when all of them are complete.
///
/// # Errors
/// If an entry leads out of the folder or is a link, if the limits do not suffice, if a file that lies there differs,
/// if the archive is damaged or the disk fails.
pub(super) fn extract(path: &Path, into: &Path, limits: Limits) -> Result<Unpacked, FetchError> {
    let archive = Archive::open(path)?;
    let entries = archive.entries(limits)?;
    let missing = missing_roots(&entries, into).map_err(|in_the_way| FetchError::InTheWay {
        path: in_the_way,
        archive: path.to_path_buf(),
    })?;
    if missing.is_empty() {
        return Ok(Unpacked::Before);
    }

    let staging = Staging::new(into)?;
    archive.for_each(&mut |entry, content| unpack(&archive, &entry, content, &staging.0))?;
    for root in missing {
        let target = into.join(&root);
        fs::rename(staging.0.join(&root), &target).map_err(FetchError::disk(&target))?;
    }
    Ok(Unpacked::Now {
        files: entries.iter().filter(|entry| entry.size.is_some()).count(),
    })
}

/// The first parts of the paths that are not in `into` yet, or what lies in the way of one.
fn missing_roots(entries: &[Entry], into: &Path) -> Result<BTreeSet<PathBuf>, PathBuf> {
    let mut missing = BTreeSet::new();
    for entry in entries {
        // An entry `./` means the folder itself, which is there.
        let Some(root) = entry.path.iter().next() else { continue };
        if fs::symlink_metadata(into.join(root)).is_err() {
            missing.insert(PathBuf::from(root));
        } else if !is_complete(entry, into) {
            return Err(into.join(root));
        }
    }
    Ok(missing)
}

fn is_complete(entry: &Entry, into: &Path) -> bool {
    let found = fs::symlink_metadata(into.join(&entry.path));
    found.is_ok_and(|found| match entry.size {
        Some(size) => found.is_file() && found.len() == size,
        None => found.is_dir(),
    })
}

fn unpack(archive: &Archive, entry: &Entry, content: &mut dyn Read, into: &Path) -> Result<(), FetchError> {
    let target = into.join(&entry.path);
    let folder = if entry.size.is_some() {
        target.parent().expect("it lies in `into`")
    } else {
        &target
    };
    fs::create_dir_all(folder).map_err(FetchError::disk(folder))?;
    let Some(size) = entry.size else { return Ok(()) };

    let open = OpenOptions::new().write(true).create_new(true).open(&target);
    let mut file = open.map_err(|error| archive.refusal(format!("it holds {} twice ({error})", entry.path.display())))?;
    // One byte more than announced is enough to know that the announcement was wrong.
    let written = copy(archive, &mut content.take(size + 1), &mut file, &target)?;
    if written != size {
        let path = entry.path.display();
        return Err(archive.refusal(format!("{path} announces {size} bytes, but holds {}", more_or(written, size))));
    }
    Ok(())
}

fn more_or(written: u64, announced: u64) -> String {
    if written > announced {
        "more".to_owned()
    } else {
        written.to_string()
    }
}

/// Copies `content` into `file`. A failure to read is the archive's, a failure to write is the disk's.
fn copy(archive: &Archive, content: &mut dyn Read, file: &mut File, target: &Path) -> Result<u64, FetchError> {
    let mut buffer = vec![0; 1 << 16];
    let mut written = 0;
    loop {
        let count = content.read(&mut buffer).map_err(|error| archive.refusal(error))?;
        if count == 0 {
            return Ok(written);
        }
        file.write_all(&buffer[..count]).map_err(FetchError::disk(target))?;
        written += count as u64;
    }
}

/// A folder for files that are not all there yet; it vanishes with this value.
struct Staging(PathBuf);

impl Staging {
    fn new(into: &Path) -> Result<Self, FetchError> {
        let path = into.join(".unpacking");
        // Left there when an earlier process was killed; the lock on the archive says that it is gone.
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).map_err(FetchError::disk(&path))?;
        Ok(Self(path))
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // What stays costs space only, and the next run removes it.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests;
