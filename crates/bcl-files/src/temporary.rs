//! Temporary files: they take the place of another file once they are complete, and go if they never are.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Suffix of the names of unfinished files.
pub(crate) const UNFINISHED: &str = ".tmp";

/// The temporary files that this process is writing. It is never locked during work on a file, so that the end of the process waits for none.
static LIVE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn live() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The path of a temporary file, which is removed on drop.
#[derive(Debug)]
pub(crate) struct TemporaryFile(PathBuf);

impl TemporaryFile {
    /// Creates an empty file, which is to take the place of the file at `path`.
    pub(crate) fn create(path: &Path) -> io::Result<(Self, File)> {
        let temporary = temporary_name(path);
        // A crashed process with the same id may have left one.
        let _ = fs::remove_file(&temporary);
        let file = File::create_new(&temporary)?;
        live().insert(temporary.clone());
        Ok((Self(temporary), file))
    }

    /// Replaces the file at `path`.
    pub(crate) fn replace(self, path: &Path) -> io::Result<()> {
        fs::rename(&self.0, path)?;
        live().remove(&self.0);
        Ok(())
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let is_left = live().remove(&self.0);
        if is_left {
            // Do not leave a partial file behind, least of all on a full disk.
            let _ = fs::remove_file(&self.0);
        }
    }
}

/// Removes the files that this process has not completed. The caller must end the process next, which drops no value.
pub fn remove_temporary_files() {
    let files = std::mem::take(&mut *live());
    for file in files {
        // A leftover file wastes space, but does no harm.
        let _ = fs::remove_file(file);
    }
}

/// A name that is unique per process, so that two processes writing the same file do not share a temporary file.
pub(crate) fn temporary_name(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}{UNFINISHED}", process::id()));
    path.with_file_name(name)
}
