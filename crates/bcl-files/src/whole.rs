//! Replaces files atomically.

use crate::{
    FileError, critical_section,
    temporary::{TemporaryFile, UNFINISHED},
};
use serde::Serialize;
use std::{
    fs::{self, File},
    io::{self, Write},
    path::Path,
};

/// Replaces the content of `path` atomically: after a crash, and to any reader, it has the old content or the new, never a part.
///
/// A symbolic link stays, and its target is replaced. Something that is no regular file, such as `/dev/stdout`, is written to as a
/// stream.
///
/// # Errors
/// Returns an error that names the file if it cannot be written.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    replace(path, bytes).map_err(FileError::io("write", path))
}

/// Writes data as indented JSON with [`write_whole`].
///
/// # Errors
/// Returns an error that names the file if it cannot be written.
///
/// # Panics
/// Panics on data that JSON cannot hold, such as a map whose keys are no texts or numbers.
pub fn write_json(path: &Path, data: &impl Serialize) -> Result<(), FileError> {
    let text = serde_json::to_vec_pretty(data).expect("it is plain data");
    write_whole(path, &text)
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = match fs::metadata(path) {
        Ok(about) if about.is_file() => fs::canonicalize(path)?,
        Ok(about) if about.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Ok(_) => return File::options().write(true).open(path)?.write_all(bytes),
        Err(_) => path.to_path_buf(),
    };
    let _critical = critical_section();
    let (temporary, mut file) = TemporaryFile::create(&path)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    // Some systems do not rename open files.
    drop(file);
    temporary.replace(&path)?;
    if let Some(folder) = path.parent() {
        // Syncing the folder makes the rename durable. Not every system can do it, and consistency does not depend on it.
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
    Ok(())
}

/// Creates a folder and its parents.
///
/// # Errors
/// Returns an error that names the folder if it cannot be created.
pub fn create_folder(path: &Path) -> Result<(), FileError> {
    fs::create_dir_all(path).map_err(FileError::io("create", path))
}

/// Removes unfinished files that a crash left in a folder. Call this only while holding the folder's lock.
pub fn remove_unfinished(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().as_encoded_bytes().ends_with(UNFINISHED.as_bytes()) {
            // A leftover file wastes space, but does no harm.
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::temporary::temporary_name;

    #[test]
    fn a_failed_write_leaves_the_old_content() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state.json");
        write_whole(&path, b"old").expect("writes");
        // A folder with the temporary file's name makes the next write fail on every system.
        fs::create_dir(temporary_name(&path)).expect("a folder");
        let message = write_whole(&path, b"new").expect_err("fails").to_string();
        assert!(message.contains("state.json"), "{message}");
        assert_eq!(fs::read(&path).expect("reads"), b"old");
    }

    #[test]
    fn unfinished_files_are_removed_and_others_are_not() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["a.json.tmp", "b.json.77.tmp", "c.json"] {
            fs::write(folder.path().join(name), "").expect("writable");
        }
        remove_unfinished(folder.path());
        let left: Vec<_> = fs::read_dir(folder.path())
            .expect("a folder")
            .map(|entry| entry.expect("readable").file_name())
            .collect();
        assert_eq!(left, ["c.json"]);
    }

    #[cfg(unix)]
    #[test]
    fn files_have_the_mode_that_any_program_gives_them() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let mode = |name: &str| {
            let about = fs::metadata(folder.path().join(name)).expect("a file");
            about.permissions().mode() & 0o777
        };
        write_whole(&folder.path().join("ours"), b"").expect("writes");
        fs::write(folder.path().join("theirs"), "").expect("writes");
        assert_eq!(mode("ours"), mode("theirs"));
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_and_streams_are_written_to() {
        let folder = tempfile::tempdir().expect("a folder");
        let [file, link] = ["file", "link"].map(|name| folder.path().join(name));
        fs::write(&file, "old").expect("writable");
        std::os::unix::fs::symlink(&file, &link).expect("a link");
        write_whole(&link, b"new").expect("writes");
        assert_eq!(fs::read(&file).expect("reads"), b"new");
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        write_whole(Path::new("/dev/null"), b"gone").expect("a stream takes it");
        assert!(!fs::metadata("/dev/null").expect("there").is_file());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_named_with_a_remedy() {
        let message = write_whole(Path::new("/dev/full"), b"x").expect_err("full").to_string();
        assert!(
            message.contains("/dev/full") && message.contains("free some space"),
            "{message}"
        );
    }
}
