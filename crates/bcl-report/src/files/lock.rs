//! A folder into which one process at a time writes.

use super::FileError;
use std::{
    fs::{File, TryLockError},
    io::{self, Read, Write},
    path::Path,
    process,
};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

/// The name of the file that is locked; it says who locked it, and stays.
pub(super) const LOCK: &str = ".lock";

/// The right to write into a folder, for as long as this lives. The system takes it back when the process ends, however it ends.
#[derive(Debug)]
pub struct FolderLock {
    file: File,
}

impl FolderLock {
    /// Takes the right to write into a folder that is there.
    ///
    /// # Errors
    /// Says who has it, or that the folder cannot be written to.
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
            // Some network file systems know no locks; there, nothing is worse than it was without them.
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {}
            Err(TryLockError::Error(error)) => return Err(FileError::io("lock", &path)(error)),
        }
        // What the file says is for people: a disk without space for it is found out by what matters more.
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

/// What the file says, if the holder has come to write it.
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
    fn one_at_a_time_and_the_other_is_told_who() {
        let folder = tempfile::tempdir().unwrap();
        let held = FolderLock::take(folder.path()).unwrap();
        let message = FolderLock::take(folder.path()).unwrap_err().to_string();
        let own = format!("in use by process {} on ", process::id());
        assert!(message.contains(&own) && message.contains(" since 20"), "{message}");
        drop(held);
        FolderLock::take(folder.path()).unwrap();
    }
}
