//! Errors of folders and archives.

use super::FileLocation;
use crate::input::{DecompressionBomb, NotRegular};
use std::io;
use std::path::Path;

/// Why a folder or an archive cannot be read: where, what is wrong, and what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The system cannot open or read a file.
    #[error("{at}: cannot be read: {source}. Check its permissions and the disk.")]
    Io {
        /// The file.
        at: FileLocation,
        /// The system's error.
        source: io::Error,
    },

    /// The archive is a decompression bomb.
    #[error("{}: {DecompressionBomb}.", at.path.display())]
    Bomb {
        /// The archive, and the last file that was read.
        at: FileLocation,
    },

    /// Anything else.
    #[error("{at}: {what}. {remedy}.")]
    Unusable {
        /// The file or entry.
        at: FileLocation,
        /// What is wrong with it.
        what: String,
        /// What to do about it.
        remedy: &'static str,
    },
}

impl ArchiveError {
    pub(crate) fn unusable(at: FileLocation, what: impl Into<String>, remedy: &'static str) -> Self {
        let what = what.into();
        Self::Unusable { at, what, remedy }
    }

    /// An archive, or a file in it, that ends too early.
    pub fn truncated(at: FileLocation) -> Self {
        Self::unusable(at, "the archive is truncated here", "Fetch or copy it again")
    }

    /// A file whose name occurs twice.
    pub fn twice(at: FileLocation) -> Self {
        Self::unusable(at, "exists twice, so it is unclear which one to use", "Remove one of the two")
    }

    /// A file that is not a folder or an archive; `found` says what it is, such as "is a single image".
    pub fn not_an_archive(at: FileLocation, found: &str) -> Self {
        Self::unusable(at, found, "Name a folder, or a .tar, .tar.gz, .tgz or .zip archive")
    }

    /// A size above its limit.
    pub fn too_much(at: FileLocation, what: &str, found: u64, limit: u64) -> Self {
        Self::unusable(
            at,
            format!("{what} is {found}, more than the limit of {limit}"),
            "Remove it, or split or shrink the data",
        )
    }

    /// Classifies an error while reading: the disk's or the archive's.
    pub fn reading(at: FileLocation, source: io::Error) -> Self {
        if source.raw_os_error().is_some() || NotRegular::of(&source).is_some() {
            return Self::Io { at, source };
        }
        if DecompressionBomb::of(&source).is_some() {
            return Self::Bomb { at };
        }
        // The messages of the `tar` crate for a truncated header and a truncated file.
        let cut = ["failed to read entire block", "unexpected EOF during skip"].contains(&&*source.to_string());
        if cut || source.kind() == io::ErrorKind::UnexpectedEof {
            return Self::truncated(at);
        }
        Self::unusable(
            at,
            format!("the archive cannot be read here: {source}"),
            "Fetch it again, or repack it as .tar.gz or .zip",
        )
    }

    /// The file or archive.
    pub fn path(&self) -> &Path {
        let (Self::Io { at, .. } | Self::Bomb { at } | Self::Unusable { at, .. }) = self;
        &at.path
    }

    /// What is wrong, without place and remedy.
    pub fn what(&self) -> String {
        match self {
            Self::Io { source, .. } => format!("cannot be read: {source}"),
            Self::Bomb { .. } => DecompressionBomb.to_string(),
            Self::Unusable { what, .. } => what.clone(),
        }
    }
}
