//! What can go wrong with files.

use std::{
    io,
    path::{Path, PathBuf},
};

/// Why a file could not be read, written or trusted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The system refused.
    #[error("cannot {action} {path}: {source}{remedy}", path = path.display(), remedy = remedy(source))]
    Io {
        /// What was being done, such as `write`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file is not the one that was written.
    #[error(
        "{} was damaged or changed since it was written: its SHA-256 is not the one in {}; restore the file, or start a new run (a \
         run and its checkpoints belong to the files it was made with)",
        path.display(),
        checksums.display()
    )]
    Changed {
        /// The file.
        path: PathBuf,
        /// Where its checksum is.
        checksums: PathBuf,
    },
    /// The checksums themselves are broken.
    #[error("{} was damaged or changed since it was written; restore it, or delete it to read the run unchecked", .0.display())]
    Checksums(PathBuf),
    /// Another process writes into the folder.
    #[error("{} is in use by {holder}; wait until it has ended, or stop it", folder.display())]
    InUse {
        /// The folder.
        folder: PathBuf,
        /// Process, host and time, as the lock file tells them.
        holder: String,
    },
    /// A file that must not be overwritten.
    #[error("{flag} {} would overwrite {what}; choose another name", path.display())]
    Overwrites {
        /// The flag that named it.
        flag: &'static str,
        /// The file.
        path: PathBuf,
        /// What it is.
        what: String,
    },
}

impl FileError {
    /// An error of the system about a file, for `map_err`.
    pub fn io(action: &'static str, path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        let path = path.as_ref().to_path_buf();
        move |source| Self::Io { action, path, source }
    }
}

fn remedy(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            "; free some space or choose another folder with --out, then go on with --resume (the last checkpoint is kept)"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => "; choose a folder you may write to with --out",
        io::ErrorKind::NotFound => "; check the path",
        _ => "",
    }
}
