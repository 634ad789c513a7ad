//! Files that are whole or absent: written under a temporary name, synced, renamed.

use crate::error::Error;
use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
};

/// Replaces `path` by `bytes` such that a reader (or a crash) sees the old content or the new, never a part.
///
/// # Errors
/// Names the file that could not be written.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let temporary = temporary_name(path);
    write_synced(&temporary, bytes).map_err(|source| {
        // A half-written temporary file helps nobody, least of all on a full disk.
        let _ = fs::remove_file(&temporary);
        Error::io("write", path)(source)
    })?;
    fs::rename(&temporary, path).map_err(Error::io("replace", path))?;
    if let Some(folder) = path.parent() {
        // The rename itself reaches the disk with the folder; not every system can sync one, and none needs to for consistency.
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
    Ok(())
}

fn write_synced(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn temporary_name(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".tmp");
    path.with_file_name(name)
}

/// Makes a folder and its parents.
///
/// # Errors
/// Names the folder.
pub fn create_folder(path: &Path) -> Result<(), Error> {
    fs::create_dir_all(path).map_err(Error::io("create", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_content() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state.json");
        write_whole(&path, b"old").expect("writes");
        // A folder in the place of the temporary file makes the next write fail on every system.
        fs::create_dir(temporary_name(&path)).expect("a folder");
        let message = write_whole(&path, b"new").expect_err("fails").to_string();
        assert!(message.contains("state.json"), "{message}");
        assert_eq!(fs::read(&path).expect("reads"), b"old");
    }
}
