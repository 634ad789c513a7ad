//! Errors of downloads.

use crate::DataError;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a data set could not be fetched or verified. Each message ends with the remedy.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The name is unknown, the data set cannot be downloaded, or its files do not have the layout in the manifest.
    #[error(transparent)]
    Manifest(#[from] DataError),

    /// The server refused the request.
    #[error(
        "{url} returned status {status}; if the file has moved, fetch it from elsewhere with --url-base, or put it \
         into the folder by hand"
    )]
    Status {
        /// The requested address.
        url: String,
        /// The HTTP status.
        status: u16,
    },

    /// The network failed too often.
    #[error(
        "cannot download {url} (tried {tries} times): {reason}; check the network and run the same command again: it \
     continues where it stopped"
    )]
    Network {
        /// The requested address.
        url: String,
        /// How the last attempt ended.
        reason: String,
        /// Number of requests.
        tries: u32,
    },

    /// A file or folder could not be read or written.
    #[error(
        "cannot read or write {path}: {source}; check its permissions and the free space, or choose another folder \
     with --data, then run again"
    )]
    Disk {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },

    /// Another process is downloading or unpacking the same file.
    #[error("{path} is in use by another process; wait for it or stop it, then run again")]
    Busy {
        /// The file.
        path: PathBuf,
    },

    /// The downloaded file is not the one in the manifest.
    #[error(
        "{url} is not the file in the manifest: its {property} is {found}, but must be {expected}; the download is kept as \
     {kept}; run again, and if that does not help, the publisher has changed the file: see its homepage"
    )]
    WrongDownload {
        /// The address it came from.
        url: String,
        /// The property that differs.
        property: &'static str,
        /// Its value in the manifest.
        expected: String,
        /// Its value in the file.
        found: String,
        /// Where the download is kept.
        kept: PathBuf,
    },

    /// A file that already existed is not the one in the manifest.
    #[error(
        "{path} exists, but is not the file in the manifest: its {property} is {found}, but must be {expected}; move it \
     away or delete it, and run again; `bcl-train data fetch` downloads it"
    )]
    WrongFile {
        /// The file.
        path: PathBuf,
        /// The property that differs.
        property: &'static str,
        /// Its value in the manifest.
        expected: String,
        /// Its value in the file.
        found: String,
    },

    /// An archive is damaged, too large, or has entries outside its folder.
    #[error("{archive}: {reason}; nothing was unpacked; delete it and run again, or unpack it by hand if you trust it")]
    Archive {
        /// The archive.
        archive: PathBuf,
        /// What is wrong with it.
        reason: String,
    },

    /// An existing file differs from the one to unpack.
    #[error("{path} is in the way: it differs from the one in {archive}; move it away or delete it, and run again")]
    InTheWay {
        /// The existing file or folder.
        path: PathBuf,
        /// The archive.
        archive: PathBuf,
    },
}

impl FetchError {
    /// Converts an I/O error at `path`, for `map_err`.
    pub(super) fn disk(path: &Path) -> impl FnOnce(io::Error) -> Self {
        |source| Self::Disk {
            path: path.to_path_buf(),
            source,
        }
    }

    /// Exit code for programs: 2 if the request or the file is wrong, 1 if the network or the disk failed.
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
