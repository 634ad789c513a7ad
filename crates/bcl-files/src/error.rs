//! Errors of reading and writing files.

use std::{
    io,
    path::{Path, PathBuf},
};

/// An error while reading, writing or verifying a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The operating system reported an error.
    #[error("cannot {action} {path}: {source}{remedy}", path = path.display(), remedy = remedy(source))]
    Io {
        /// The failed operation, such as `write`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// A file does not match its checksum.
    #[error(
        "{} was damaged or changed since it was written: its SHA-256 differs from the one in {}; restore the file, or start a new run \
         (a run can only continue with its original files)",
        path.display(),
        checksums.display()
    )]
    Changed {
        /// The file.
        path: PathBuf,
        /// The file with its checksum.
        checksums: PathBuf,
    },
    /// The checksums themselves are damaged.
    #[error("{} was damaged or changed since it was written; restore it, or delete it to read the run without verification", .0.display())]
    Checksums(PathBuf),
    /// Another process has locked the folder.
    #[error("{} is in use by {holder}; wait until it has ended, or stop it", folder.display())]
    InUse {
        /// The folder.
        folder: PathBuf,
        /// Process, host and time, from the lock file.
        holder: String,
    },
    /// A file that must not be overwritten.
    #[error("{flag} {} would overwrite {what}; choose another name", path.display())]
    Overwrites {
        /// The flag that named the file.
        flag: &'static str,
        /// The file.
        path: PathBuf,
        /// What would be overwritten.
        what: String,
    },
}

impl FileError {
    /// Wraps an I/O error on a file or folder, for `map_err`.
    pub fn io(action: &'static str, path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        let path = path.as_ref().to_path_buf();
        move |source| Self::Io { action, path, source }
    }
}

fn remedy(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            "; free some space, or write to another folder; a run can then continue from its last checkpoint, with --resume"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; check the permissions of the file and its folder, or choose another folder"
        }
        io::ErrorKind::NotFound => "; check the path",
        _ => "",
    }
}
