//! An incomplete download: `FILE.part`, with a file beside it that names the server's version.

use super::error::FetchError;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// An incomplete download, locked against other processes while this value lives.
pub(super) struct Part {
    path: PathBuf,
    file: File,
    len: u64,
}

impl Part {
    /// Opens the incomplete download of `target`, or begins one.
    pub(super) fn open(target: &Path) -> Result<Self, FetchError> {
        let path = with_suffix(target, ".part");
        let open = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let mut file = open.map_err(FetchError::disk(&path))?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => return Err(FetchError::Busy { path }),
            // Some network file systems do not support locks; the checksum still detects damage.
            Err(TryLockError::Error(_)) | Ok(()) => {}
        }
        let len = file.seek(SeekFrom::End(0)).map_err(FetchError::disk(&path))?;
        Ok(Self { path, file, len })
    }

    /// Bytes received so far.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// The server's name for the version of these bytes, an entity tag or a date, needed to resume.
    pub(super) fn validator(&self) -> Option<String> {
        let text = fs::read_to_string(self.validator_path()).ok()?;
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    }

    /// Discards all bytes and begins the version that the server calls `validator`.
    pub(super) fn restart(&mut self, validator: Option<&str>) -> Result<(), FetchError> {
        // The name goes first, so that bytes of an old version never appear under the name of a new one.
        self.forget_validator();
        self.len = 0;
        self.file
            .set_len(0)
            .and_then(|()| self.file.rewind())
            .map_err(FetchError::disk(&self.path))?;
        if let Some(validator) = validator {
            let path = self.validator_path();
            fs::write(&path, validator).map_err(FetchError::disk(&path))?;
        }
        Ok(())
    }

    /// Appends `bytes`.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<(), FetchError> {
        self.file.write_all(bytes).map_err(FetchError::disk(&self.path))?;
        self.len += bytes.len() as u64;
        Ok(())
    }

    /// Flushes all bytes to disk and returns the path.
    pub(super) fn sync(&self) -> Result<&Path, FetchError> {
        self.file.sync_all().map_err(FetchError::disk(&self.path))?;
        Ok(&self.path)
    }

    /// Renames the file to `target`, because it is complete or useless.
    pub(super) fn rename(self, target: &Path) -> Result<(), FetchError> {
        self.forget_validator();
        let Self { path, file, .. } = self;
        drop(file); // Windows cannot rename an open file.
        fs::rename(&path, target).map_err(FetchError::disk(target))
    }

    /// Leaves the bytes for a later process; deletes the file if it is empty.
    pub(super) fn leave(self) {
        if self.len == 0 {
            self.forget_validator();
            let Self { path, file, .. } = self;
            drop(file);
            // An empty file does no harm.
            let _ = fs::remove_file(path);
        }
    }

    fn validator_path(&self) -> PathBuf {
        with_suffix(&self.path, ".version")
    }

    fn forget_validator(&self) {
        // Usually there is none, and a leftover only costs a download from the start.
        let _ = fs::remove_file(self.validator_path());
    }
}

/// `path` with `suffix` appended to its file name.
pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_found_again_with_its_version() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a.zip");
        let mut part = Part::open(&target).unwrap();
        part.restart(Some("\"v1\"")).unwrap();
        part.append(b"half").unwrap();
        drop(part);

        let part = Part::open(&target).unwrap();
        assert_eq!((part.len(), part.validator().as_deref()), (4, Some("\"v1\"")));
    }

    #[test]
    fn a_restart_forgets_bytes_and_version() {
        let folder = tempfile::tempdir().unwrap();
        let mut part = Part::open(&folder.path().join("a.zip")).unwrap();
        part.restart(Some("\"v1\"")).unwrap();
        part.append(b"half").unwrap();
        part.restart(None).unwrap();
        part.append(b"new").unwrap();
        assert_eq!((part.len(), part.validator()), (3, None));
        assert_eq!(fs::read(part.sync().unwrap()).unwrap(), b"new");
    }

    #[test]
    fn a_part_belongs_to_one_process_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a.zip");
        let _first = Part::open(&target).unwrap();
        assert!(matches!(Part::open(&target), Err(FetchError::Busy { .. })));
    }

    #[test]
    fn only_the_file_remains_at_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a.zip");
        let mut part = Part::open(&target).unwrap();
        part.restart(Some("\"v1\"")).unwrap();
        part.append(b"all").unwrap();
        part.rename(&target).unwrap();
        let names: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(names, ["a.zip"]);
    }
}
