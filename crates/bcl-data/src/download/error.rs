//! Why a data set could not be fetched, and what to do about it.

use crate::DataError;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a data set could not be fetched or checked. Each text ends with the remedy.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FetchError {
    /// No manifest has the name, the data set cannot be downloaded, or its layout is not what the manifest says.
    #[error(transparent)]
    Manifest(#[from] DataError),

    /// The server refuses.
    #[error(
        "{url} answers with status {status}; if the file has moved, fetch it from elsewhere with --url-base, or put it \
         into the folder by hand"
    )]
    Status {
        /// What was asked for.
        url: String,
        /// The HTTP status.
        status: u16,
    },

    /// The network failed more often than a download has patience for.
    #[error(
        "cannot download {url} (tried {tries} times): {reason}; check the network and run the same command again: it goes \
         on where it stopped"
    )]
    Network {
        /// What was asked for.
        url: String,
        /// How the last try ended.
        reason: String,
        /// Number of requests.
        tries: u32,
    },

    /// A file or folder could not be read or written.
    #[error(
        "cannot read or write {path}: {source}; look at its rights and at the space that is left, or choose another folder \
         with --data, then run again"
    )]
    Disk {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },

    /// Another process downloads or unpacks the same file.
    #[error("{path} is in use by another process; wait for it, or end it, and run again")]
    Busy {
        /// The file.
        path: PathBuf,
    },

    /// What was downloaded is not the file that the manifest describes.
    #[error(
        "{url} is not the file of the manifest: its {property} is {found}, but must be {expected}; what came is kept as \
         {kept}; run again, and if that does not help, the publisher has changed the file: see its homepage"
    )]
    WrongDownload {
        /// Where it came from.
        url: String,
        /// What differs.
        property: &'static str,
        /// What the manifest says.
        expected: String,
        /// What the file has.
        found: String,
        /// Where the file is kept.
        kept: PathBuf,
    },

    /// A file that was there before is not the one that the manifest describes.
    #[error(
        "{path} is there, but is not the file of the manifest: its {property} is {found}, but must be {expected}; move it \
         away or delete it, and run again"
    )]
    WrongFile {
        /// The file.
        path: PathBuf,
        /// What differs.
        property: &'static str,
        /// What the manifest says.
        expected: String,
        /// What the file has.
        found: String,
    },

    /// An archive is damaged, too large, or reaches out of its folder.
    #[error("{archive}: {reason}; nothing was unpacked; delete it and run again, or unpack it by hand if you trust it")]
    Archive {
        /// The archive.
        archive: PathBuf,
        /// What is wrong with it.
        reason: String,
    },

    /// A file that is there differs from the one to unpack.
    #[error("{path} is in the way: it differs from what {archive} holds; move it away or delete it, and run again")]
    InTheWay {
        /// The file or folder that is there.
        path: PathBuf,
        /// The archive.
        archive: PathBuf,
    },
}

impl FetchError {
    /// For `map_err`: the disk failed at `path`.
    pub(super) fn disk(path: &Path) -> impl FnOnce(io::Error) -> Self {
        |source| Self::Disk {
            path: path.to_path_buf(),
            source,
        }
    }

    /// The exit code of a program: 2 when what was asked for or what came is wrong, 1 when the network or the disk failed.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Status { .. } | Self::Network { .. } | Self::Disk { .. } | Self::Busy { .. } => 1,
            Self::Manifest(_)
            | Self::WrongDownload { .. }
            | Self::WrongFile { .. }
            | Self::Archive { .. }
            | Self::InTheWay { .. } => 2,
        }
    }
}
