//! Errors of archives.

use std::io;
use std::path::PathBuf;

/// Why the files of a folder or an archive cannot be read.
///
/// A file of an archive is shown as if the archive were a folder: `MUTAG.zip/MUTAG/MUTAG_A.txt`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// A file is not a supported archive.
    #[error("{}: is {found}. Name a folder, or a .tar, .tar.gz, .tgz or .zip archive.", path.display())]
    NotAnArchive {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        found: String,
    },

    /// An archive, or a file in it, is truncated.
    #[error("{}: the archive is truncated here. Fetch or copy it again.", at.display())]
    Truncated {
        /// The last file that was read.
        at: PathBuf,
    },

    /// An archive is damaged, or packed in an unsupported way.
    #[error("{}: the archive cannot be read here: {source}. Fetch it again, or repack it as .tar.gz or .zip.", at.display())]
    Damaged {
        /// The last file that was read.
        at: PathBuf,
        /// What is wrong with it.
        source: io::Error,
    },

    /// A file of an archive is a link or a device.
    #[error("{}: is {what}. Repack the archive with the files themselves (`tar --dereference`).", at.display())]
    NotAFile {
        /// The file.
        at: PathBuf,
        /// What it is.
        what: &'static str,
    },

    /// An archive or folder has too many files.
    #[error("{}: contains more than {limit} files. Keep one data set per folder or archive.", path.display())]
    TooManyFiles {
        /// The archive or folder.
        path: PathBuf,
        /// The maximum.
        limit: usize,
    },
}
