//! Unpacks an archive into its own folder, either all of it or nothing.

use super::error::FetchError;
use bcl_files::archive::{self, ArchiveError, EntryKind, Store};
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

/// Limits on the unpacked size.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Total size of all files, in bytes.
    pub(super) bytes: u64,
    /// Number of files and folders.
    pub(super) entries: usize,
}

impl Default for Limits {
    /// Enough for the field's largest data set that comes as an archive.
    fn default() -> Self {
        Self {
            bytes: 8 << 30,
            entries: 400_000,
        }
    }
}

/// What the extraction had to do.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unpacked {
    /// Files were unpacked.
    Now { files: usize },
    /// All files existed already, with the right sizes.
    Before,
}

/// A file or folder in an archive.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    /// Relative path without `..`.
    path: PathBuf,
    /// Size in bytes according to the archive; `None` for a folder.
    size: Option<u64>,
}

/// An archive on disk, locked against other processes that unpack it.
struct Archive<'a> {
    path: &'a Path,
    /// Holds the lock.
    _file: File,
}

/// Unpacks the archive at `path` into the folder `into`, unless all of its files exist.
///
/// The files get their final names only when all of them are complete.
///
/// # Errors
/// Returns an error if an entry is outside the folder or is a link, if the limits are exceeded, if an existing file differs, if the
/// archive is damaged, or if the disk fails.
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

impl<'a> Archive<'a> {
    fn open(path: &'a Path) -> Result<Self, FetchError> {
        let file = File::open(path).map_err(FetchError::disk(path))?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => Err(FetchError::Busy {
                path: path.to_path_buf(),
            }),
            // Some network file systems do not support locks.
            Err(TryLockError::Error(_)) | Ok(()) => Ok(Self { path, _file: file }),
        }
    }

    /// Lists all entries without writing anything. Fails if one is outside the folder or `limits` are exceeded.
    fn entries(&self, limits: Limits) -> Result<Vec<Entry>, FetchError> {
        let mut entries = Vec::new();
        let mut bytes = 0_u64;
        self.for_each(&mut |entry, _| {
            bytes = bytes.saturating_add(entry.size.unwrap_or(0));
            entries.push(entry);
            if entries.len() > limits.entries {
                return Err(self.refusal(format!("it contains more than {} entries", limits.entries)));
            }
            if bytes > limits.bytes {
                return Err(self.refusal(format!("it unpacks to more than {} bytes", limits.bytes)));
            }
            Ok(())
        })?;
        Ok(entries)
    }

    /// Calls `visit` with each entry and a reader of its content, in the order of the archive.
    fn for_each(&self, visit: &mut dyn FnMut(Entry, &mut dyn Read) -> Result<(), FetchError>) -> Result<(), FetchError> {
        Store::open(self.path)?.for_each(&mut |entry: archive::Entry| {
            let name = String::from_utf8_lossy(entry.raw_name()).into_owned();
            let size = match entry.kind {
                EntryKind::Folder => None,
                EntryKind::Other(what) => return Err(self.refusal(format!("{name:?} is {what}"))),
                _ => Some(entry.size),
            };
            let Ok(path) = entry.name().map(PathBuf::from) else {
                return Err(self.refusal(format!("{name:?} points outside the folder")));
            };
            let (_, content) = entry.into_parts();
            visit(Entry { path, size }, content)
        })
    }

    /// The error for an archive that is not unpacked.
    fn refusal(&self, reason: impl ToString) -> FetchError {
        FetchError::Archive {
            archive: self.path.to_path_buf(),
            reason: reason.to_string(),
        }
    }
}

impl From<ArchiveError> for FetchError {
    fn from(error: ArchiveError) -> Self {
        Self::Archive {
            archive: error.path().to_path_buf(),
            reason: error.what(),
        }
    }
}

/// The first path components that are missing in `into`, or the path of an existing file that differs.
fn missing_roots(entries: &[Entry], into: &Path) -> Result<BTreeSet<PathBuf>, PathBuf> {
    let mut missing = BTreeSet::new();
    for entry in entries {
        // An entry `./` is the folder itself, which exists.
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
        target.parent().expect("it is inside `into`")
    } else {
        &target
    };
    fs::create_dir_all(folder).map_err(FetchError::disk(folder))?;
    let Some(size) = entry.size else { return Ok(()) };

    let open = OpenOptions::new().write(true).create_new(true).open(&target);
    let mut file = open.map_err(|error| archive.refusal(format!("it contains {} twice ({error})", entry.path.display())))?;
    // Reading one byte more than declared is enough to detect a wrong size.
    let written = copy(archive, &mut content.take(size + 1), &mut file, &target)?;
    if written != size {
        let path = entry.path.display();
        return Err(archive.refusal(format!(
            "{path} declares {size} bytes, but contains {}",
            more_or(written, size)
        )));
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

/// Copies `content` into `file`. Read errors are the archive's, write errors the disk's.
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

/// A folder for incomplete files, deleted on drop.
struct Staging(PathBuf);

impl Staging {
    fn new(into: &Path) -> Result<Self, FetchError> {
        let path = into.join(".unpacking");
        // Left by an earlier process that was killed; the lock on the archive shows that it no longer runs.
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).map_err(FetchError::disk(&path))?;
        Ok(Self(path))
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // A leftover only costs space, and the next run removes it.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests;
