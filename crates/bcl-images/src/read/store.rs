//! The files of a folder or an archive, within limits.

use super::limits::Limits;
use crate::error::ImageError;
use bcl_files::archive::{self, ArchiveError, EntryKind, FileLocation, is_hidden};
use bcl_files::input::NotRegular;
use std::io::{self, Read};
use std::path::Path;

/// A folder or archive on disk, or an archive in memory.
pub(crate) struct Store<'a> {
    files: archive::Store<'a>,
    limits: Limits,
}

/// A file or folder of a [`Store`]. Its content can be read once.
pub(crate) struct Entry<'a> {
    /// Relative path with forward slashes.
    pub(crate) name: String,
    /// Its location, for errors.
    pub(crate) at: FileLocation,
    /// Whether it is a folder, which has no content.
    pub(crate) is_folder: bool,
    /// Size according to the archive or the disk.
    pub(super) size: u64,
    /// Where the content begins in the file on disk; `None` if it is compressed there.
    pub(super) start: Option<u64>,
    /// What has been read of the content, to tell its kind.
    pub(super) peeked: Vec<u8>,
    /// The rest.
    pub(super) content: &'a mut dyn Read,
}

/// A callback for each entry.
pub(crate) type Visit<'v> = dyn FnMut(&mut Entry<'_>) -> Result<(), ImageError> + 'v;

impl<'a> Store<'a> {
    /// Opens a folder or archive, whose format is detected from its content.
    pub(crate) fn open(path: &Path, limits: Limits) -> Result<Store<'static>, ImageError> {
        let files = archive::Store::open(path).map_err(|error| match error {
            ArchiveError::Io { at, source } => match (source.kind(), NotRegular::of(&source)) {
                (io::ErrorKind::NotFound, _) => ImageError::MissingFile { path: at.path },
                (_, Some(NotRegular { found })) => ArchiveError::not_an_archive(at, &format!("is {found}")).into(),
                _ => ArchiveError::Io { at, source }.into(),
            },
            error => error.into(),
        })?;
        Ok(Store { files, limits })
    }

    /// Opens an archive in memory; errors call it `path`.
    pub(crate) fn from_memory(path: &Path, bytes: &'a [u8], limits: Limits) -> Result<Self, ImageError> {
        let files = archive::Store::from_memory(path, bytes)?;
        Ok(Self { files, limits })
    }

    /// Reads only those parts of files that a visitor reads, so that an archive that ends too early may go unnoticed.
    pub(crate) fn skimming(self) -> Self {
        let files = self.files.skimming();
        Self { files, ..self }
    }

    /// Whether it is a folder on disk.
    pub(super) fn is_folder(&self) -> bool {
        self.files.is_folder()
    }

    /// Opens an archive within this folder, with the same limits, to be read in the same way.
    pub(super) fn shard(&self, name: &str) -> Result<Store<'static>, ImageError> {
        Ok(Store {
            files: self.files.shard(name)?,
            limits: self.limits,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        self.files.path()
    }

    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }

    /// Calls `visit` with each file and folder: in alphabetical order for a folder, in the archive's order for an archive.
    pub(crate) fn for_each(&self, visit: &mut Visit) -> Result<(), ImageError> {
        let mut entries = 0;
        let mut unpacked = 0_u64;
        self.files.for_each(&mut |mut entry| {
            if leads_nowhere(&entry.kind) {
                // Reading it fails, as reading a broken image does. Empty files are not read at all.
                (entry.kind, entry.size) = (EntryKind::File, 1);
            }
            entry.check_kind()?;
            let name = match entry.kind {
                EntryKind::Header => String::new(),
                _ => entry.name()?,
            };
            entries += 1;
            unpacked = unpacked.saturating_add(entry.size);
            self.check("the number of entries", entries, self.limits.entries)?;
            self.check("the size of all files in bytes", unpacked, self.limits.unpacked)?;
            if name.is_empty() || is_hidden(&name) {
                return Ok(());
            }
            let (is_folder, size, start) = (matches!(entry.kind, EntryKind::Folder), entry.size, entry.start);
            let (at, content) = entry.into_parts();
            visit(&mut Entry {
                name,
                at,
                is_folder,
                size,
                start,
                peeked: Vec::new(),
                content,
            })
        })
    }

    fn check(&self, what: &str, found: u64, limit: u64) -> Result<(), ImageError> {
        if found <= limit {
            return Ok(());
        }
        Err(ArchiveError::too_much(FileLocation::file(self.path()), what, found, limit).into())
    }
}

/// Whether an entry of a folder is a link whose file does not exist.
fn leads_nowhere(kind: &EntryKind) -> bool {
    matches!(kind, EntryKind::Unknown(error) if error.kind() == io::ErrorKind::NotFound)
}

impl Entry<'_> {
    /// Reads the whole file, if it has at most `limit` bytes.
    pub(crate) fn bytes(&mut self, limit: u64) -> Result<Vec<u8>, ImageError> {
        self.check_size(limit)?;
        let mut bytes = std::mem::take(&mut self.peeked);
        bytes.reserve(self.size.min(1 << 20) as usize);
        // The declared size may be wrong, so the limit is checked again.
        let rest = (limit + 1).saturating_sub(bytes.len() as u64);
        let read = self.content.take(rest).read_to_end(&mut bytes);
        read.map_err(|error| ImageError::reading(self.at.clone(), error))?;
        match bytes.len() as u64 {
            found if found > limit => Err(self.too_much(found, limit)),
            found if found < self.size => Err(ArchiveError::truncated(self.at.clone()).into()),
            _ => Ok(bytes),
        }
    }

    /// Checks that the file has at most `limit` bytes, by the size that the archive or the disk gives.
    pub(crate) fn check_size(&self, limit: u64) -> Result<(), ImageError> {
        if self.size > limit {
            return Err(self.too_much(self.size, limit));
        }
        Ok(())
    }

    fn too_much(&self, found: u64, limit: u64) -> ImageError {
        ImageError::too_much(&self.at, "its size in bytes", found, limit)
    }

    /// Reads up to `length` bytes from the beginning of the file.
    pub(crate) fn head(&mut self, length: u64) -> Result<Vec<u8>, ImageError> {
        let mut bytes = vec![0; self.size.min(length) as usize];
        let filled = self.fill(&mut bytes)?;
        bytes.truncate(filled);
        Ok(bytes)
    }

    /// The first `length` bytes of a file, or all if it is shorter. They are read again with the rest. What is not a regular file, such as a pipe, has
    /// none.
    pub(super) fn peek(&mut self, length: usize) -> Result<&[u8], ImageError> {
        if self.peeked.is_empty() {
            let mut head = vec![0; length];
            let filled = match self.read_rest(&mut head) {
                Err(error) if NotRegular::of(&error).is_some() => 0,
                filled => filled.map_err(|error| ImageError::reading(self.at.clone(), error))?,
            };
            head.truncate(filled);
            self.peeked = head;
        }
        Ok(&self.peeked)
    }

    /// Fills `buffer` from the file; returns the number of bytes, which is less only at the end.
    pub(crate) fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, ImageError> {
        let peeked = self.peeked.len().min(buffer.len());
        buffer[..peeked].copy_from_slice(&self.peeked[..peeked]);
        self.peeked.drain(..peeked);
        let rest = self.read_rest(&mut buffer[peeked..]);
        Ok(peeked + rest.map_err(|error| ImageError::reading(self.at.clone(), error))?)
    }

    fn read_rest(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.content.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }
}
