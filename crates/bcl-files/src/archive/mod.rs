//! Reads the files of a folder or an archive (zip, tar, tar.gz) in one pass, without unpacking to disk.
//!
//! ```
//! use bcl_files::archive::{ArchiveError, Store};
//!
//! let folder = tempfile::tempdir()?;
//! std::fs::write(folder.path().join("a.txt"), "a")?;
//! let mut names = Vec::new();
//! Store::open(folder.path())?.for_each(&mut |entry| {
//!     names.push(entry.name()?);
//!     Ok::<_, ArchiveError>(())
//! })?;
//! assert_eq!(names, ["a.txt"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod entry;
mod error;
mod location;
mod names;
mod sniff;
mod tarred;
mod walk;
mod zipped;

pub use entry::{Entry, EntryKind};
pub use error::ArchiveError;
pub use location::FileLocation;
pub use names::{is_hidden, shallow};

use crate::input;
use sniff::Packing;
use std::fs;
use std::io::{BufReader, Cursor, Read, Seek};
use std::path::{Path, PathBuf};

/// A folder or archive on disk, or an archive in memory.
#[derive(Debug)]
pub struct Store<'a> {
    path: PathBuf,
    memory: Option<&'a [u8]>,
    packing: Packing,
    /// Whether only those parts of files are read that a visitor reads.
    skims: bool,
}

trait ReadSeek: Read + Seek {}
impl<T: Read + Seek> ReadSeek for T {}

impl<'a> Store<'a> {
    /// Opens a folder or archive, whose format is detected from its content.
    ///
    /// # Errors
    /// Returns an error if it cannot be read or is neither.
    pub fn open(path: &Path) -> Result<Store<'static>, ArchiveError> {
        let failed = |source| ArchiveError::Io {
            at: FileLocation::file(path),
            source,
        };
        let packing = if fs::metadata(path).map_err(failed)?.is_dir() {
            Packing::Folder
        } else {
            Packing::of(path, &mut input::open(path).map_err(failed)?)?
        };
        Ok(Store {
            path: path.to_path_buf(),
            memory: None,
            packing,
            skims: false,
        })
    }

    /// Opens an archive in memory; errors call it `path`.
    ///
    /// # Errors
    /// Returns an error if it is not an archive.
    pub fn from_memory(path: &Path, bytes: &'a [u8]) -> Result<Self, ArchiveError> {
        Ok(Self {
            path: path.to_path_buf(),
            memory: Some(bytes),
            packing: Packing::of(path, &mut &*bytes)?,
            skims: false,
        })
    }

    /// Reads only those parts of files that a visitor reads, so that an archive that ends too early may go unnoticed.
    pub fn skimming(self) -> Self {
        Self { skims: true, ..self }
    }

    /// Whether it is a folder on disk.
    pub fn is_folder(&self) -> bool {
        self.packing == Packing::Folder
    }

    /// The path that was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens an archive within this folder, to be read in the same way.
    ///
    /// # Errors
    /// Returns the errors of [`open`](Self::open).
    pub fn shard(&self, name: &str) -> Result<Store<'static>, ArchiveError> {
        let shard = Store::open(&self.path.join(name))?;
        Ok(Store {
            skims: self.skims,
            ..shard
        })
    }

    /// The location of the file called `name`.
    pub fn location(&self, name: &str) -> FileLocation {
        match self.packing {
            Packing::Folder => FileLocation::file(&self.path.join(name)),
            _ => FileLocation::entry(&self.path, name.as_bytes()),
        }
    }

    /// Calls `visit` with each file and folder: in alphabetical order for a folder, in the archive's order for an archive.
    ///
    /// # Errors
    /// Returns the errors of reading and of `visit`.
    pub fn for_each<E: From<ArchiveError>>(&self, visit: &mut dyn FnMut(Entry<'_>) -> Result<(), E>) -> Result<(), E> {
        match self.packing {
            Packing::Folder => walk::for_each(&self.path, walk::DEEPEST, visit),
            Packing::Tar if self.skims => tarred::for_each_seeking(&self.path, self.reader()?, visit),
            Packing::Tar => tarred::for_each(&self.path, self.reader()?, visit),
            Packing::TarGz => tarred::for_each(&self.path, input::gunzip(self.reader()?), visit),
            Packing::Zip => zipped::for_each(&self.path, self.reader()?, visit),
        }
    }

    /// Like [`for_each`](Self::for_each), but does not descend into the folders of a folder.
    ///
    /// # Errors
    /// Returns the errors of [`for_each`](Self::for_each).
    pub fn for_each_at_top<E: From<ArchiveError>>(&self, visit: &mut dyn FnMut(Entry<'_>) -> Result<(), E>) -> Result<(), E> {
        match self.packing {
            Packing::Folder => walk::for_each(&self.path, 0, visit),
            _ => self.for_each(visit),
        }
    }

    fn reader(&self) -> Result<BufReader<Box<dyn ReadSeek + 'a>>, ArchiveError> {
        let reader: Box<dyn ReadSeek> = match self.memory {
            Some(bytes) => Box::new(Cursor::new(bytes)),
            None => Box::new(input::open(&self.path).map_err(|source| ArchiveError::Io {
                at: FileLocation::file(&self.path),
                source,
            })?),
        };
        Ok(BufReader::with_capacity(1 << 16, reader))
    }
}
