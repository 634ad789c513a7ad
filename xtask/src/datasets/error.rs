//! What can go wrong on the way of a data set, and what to do about it.

use bcl_data::DataError;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a data set could not be fetched. Each text ends with the remedy.
#[derive(Debug, Error)]
pub(crate) enum FetchError {
    /// No manifest has the name, the data set cannot be downloaded, or its layout is not what the manifest says.
    #[error(transparent)]
    Manifest(#[from] DataError),

    #[error(
        "{url} answers with status {status}; if the file has moved, fetch it from elsewhere with --url-base, or put it \
         into the folder by hand"
    )]
    Status { url: String, status: u16 },

    #[error(
        "cannot download {url} (tried {tries} times): {reason}; check the network and run the same command again: it goes \
         on where it stopped"
    )]
    Network { url: String, reason: String, tries: u32 },

    #[error(
        "cannot read or write {path}: {source}; look at its rights and at the space that is left, or choose another folder \
         with --dir, then run again"
    )]
    Disk { path: PathBuf, source: io::Error },

    #[error("{path} is in use by another process; wait for it, or end it, and run again")]
    Busy { path: PathBuf },

    #[error(
        "{url} is not the file of the manifest: its {property} is {found}, but must be {expected}; what came is kept as \
         {kept}; run again, and if that does not help, the publisher has changed the file: see its homepage"
    )]
    WrongDownload {
        url: String,
        property: &'static str,
        expected: String,
        found: String,
        kept: PathBuf,
    },

    #[error(
        "{path} is there, but is not the file of the manifest: its {property} is {found}, but must be {expected}; move it \
         away or delete it, and run again"
    )]
    WrongFile {
        path: PathBuf,
        property: &'static str,
        expected: String,
        found: String,
    },

    #[error("{archive}: {reason}; nothing was unpacked; delete it and run again, or unpack it by hand if you trust it")]
    Archive { archive: PathBuf, reason: String },

    #[error("{path} is in the way: it differs from what {archive} holds; move it away or delete it, and run again")]
    InTheWay { path: PathBuf, archive: PathBuf },
}

impl FetchError {
    /// For `map_err`: the disk failed at `path`.
    pub(crate) fn disk(path: &Path) -> impl FnOnce(io::Error) -> Self {
        |source| Self::Disk {
            path: path.to_path_buf(),
            source,
        }
    }

    /// 2 when what was asked for or what came is wrong, 1 when the network or the disk failed.
    pub(crate) fn exit_code(&self) -> u8 {
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
