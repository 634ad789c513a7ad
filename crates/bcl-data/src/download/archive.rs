//! Lists and reads a zip archive, and refuses entries outside the folder it is unpacked into.

use super::error::FetchError;
use super::extract::Limits;
use std::fs::{File, TryLockError};
use std::io::{BufReader, Read, Seek};
use std::path::{Component, Path, PathBuf};
use zip::ZipArchive;

/// A file or folder in an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// Relative path without `..`.
    pub(super) path: PathBuf,
    /// Size in bytes according to the archive; `None` for a folder.
    pub(super) size: Option<u64>,
}

/// An archive on disk, locked against other processes that unpack it.
pub(super) struct Archive<'a> {
    path: &'a Path,
    file: File,
}

impl<'a> Archive<'a> {
    /// Opens the archive at `path`.
    pub(super) fn open(path: &'a Path) -> Result<Self, FetchError> {
        let file = File::open(path).map_err(FetchError::disk(path))?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => Err(FetchError::Busy {
                path: path.to_path_buf(),
            }),
            // Some network file systems do not support locks.
            Err(TryLockError::Error(_)) | Ok(()) => Ok(Self { path, file }),
        }
    }

    /// Lists all entries without writing anything. Fails if one is outside the folder or `limits` are exceeded.
    pub(super) fn entries(&self, limits: Limits) -> Result<Vec<Entry>, FetchError> {
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
    pub(super) fn for_each(
        &self,
        visit: &mut dyn FnMut(Entry, &mut dyn Read) -> Result<(), FetchError>,
    ) -> Result<(), FetchError> {
        let mut reader = BufReader::new(&self.file);
        reader.rewind().map_err(FetchError::disk(self.path))?;
        let mut archive = ZipArchive::new(reader).map_err(|error| self.refusal(error))?;
        for index in 0..archive.len() {
            let mut zipped = archive.by_index(index).map_err(|error| self.refusal(error))?;
            let name = zipped.name().to_owned();
            if zipped.is_symlink() {
                return Err(self.refusal(format!("{name:?} is a link")));
            }
            let path = self.inner_path(&name)?;
            let size = (!zipped.is_dir()).then(|| zipped.size());
            visit(Entry { path, size }, &mut zipped)?;
        }
        Ok(())
    }

    /// The error for an archive that is not unpacked.
    pub(super) fn refusal(&self, reason: impl ToString) -> FetchError {
        FetchError::Archive {
            archive: self.path.to_path_buf(),
            reason: reason.to_string(),
        }
    }

    /// The path inside the folder that `name` stands for. Names with backslashes are refused, because Windows takes them for separators.
    fn inner_path(&self, name: &str) -> Result<PathBuf, FetchError> {
        let components = Path::new(name)
            .components()
            .filter(|component| *component != Component::CurDir);
        let inner: Option<PathBuf> = components
            .map(|component| matches!(component, Component::Normal(_)).then_some(component))
            .collect();
        inner
            .filter(|_| !name.contains(['\\', '\0']))
            .ok_or_else(|| self.refusal(format!("{name:?} points outside the folder")))
    }
}
