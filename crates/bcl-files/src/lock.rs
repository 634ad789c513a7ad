//! Locks a folder, so that only one process at a time writes to it.

use crate::FileError;
use std::{
    fs::{File, TryLockError},
    io::{self, Read, Write},
    path::Path,
    process,
};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

/// Name of the lock file. It says who holds the lock and is never deleted.
pub(crate) const LOCK: &str = ".lock";

/// An exclusive lock on a folder, released on drop. The operating system also releases it when the process ends, even in a crash.
#[derive(Debug)]
pub struct FolderLock {
    file: File,
}

impl FolderLock {
    /// Locks an existing folder.
    ///
    /// # Errors
    /// Returns an error that names the holder if the folder is locked, or if the folder is not writable.
    pub fn take(folder: &Path) -> Result<Self, FileError> {
        let path = folder.join(LOCK);
        let open = File::options()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&path);
        let mut file = open.map_err(FileError::io("write", &path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(FileError::InUse {
                    folder: folder.to_path_buf(),
                    holder: holder(&mut file),
                });
            }
            // Some network file systems do not support locks; go on without one.
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {}
            Err(TryLockError::Error(error)) => return Err(FileError::io("lock", &path)(error)),
        }
        // The content only informs users, so a write error does not matter here.
        let _ = file.set_len(0).and_then(|()| file.write_all(signature().as_bytes()));
        Ok(Self { file })
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        let _ = self.file.set_len(0);
        let _ = self.file.unlock();
    }
}

fn signature() -> String {
    let since = OffsetDateTime::now_utc()
        .replace_nanosecond(0)
        .unwrap_or(OffsetDateTime::UNIX_EPOCH);
    let since = since.format(&Rfc3339).unwrap_or_default();
    format!("process {} on {} since {since}", process::id(), host())
}

#[cfg(unix)]
fn host() -> String {
    let name = nix::unistd::gethostname().ok();
    name.and_then(|name| name.into_string().ok())
        .unwrap_or_else(|| "this host".to_owned())
}

#[cfg(not(unix))]
fn host() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_else(|_| "this host".to_owned())
}

/// The holder as the lock file names it, if it has been written yet.
fn holder(file: &mut File) -> String {
    let mut text = String::new();
    let _ = file.take(500).read_to_string(&mut text);
    let text: String = text.chars().filter(|letter| !letter.is_control()).collect();
    if text.is_empty() { "another process".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_process_is_refused_and_the_first_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let held = FolderLock::take(folder.path()).unwrap();
        let message = FolderLock::take(folder.path()).unwrap_err().to_string();
        let own = format!("in use by process {} on ", process::id());
        assert!(message.contains(&own) && message.contains(" since 20"), "{message}");
        drop(held);
        FolderLock::take(folder.path()).unwrap();
    }
}
