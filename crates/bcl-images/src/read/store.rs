//! Iterates over the files of a folder or an archive.

use super::{Limits, names, tarred, walk, zipped};
use crate::error::{FileLocation, ImageError};
use bcl_files::input::{self, DecompressionBomb, NotRegular};
use std::io::{self, BufReader, Cursor, Read, Seek};
use std::path::{Path, PathBuf};

/// A folder or archive on disk, or an archive in memory.
pub(crate) struct Store<'a> {
    path: PathBuf,
    memory: Option<&'a [u8]>,
    packing: Packing,
    limits: Limits,
    /// Whether only those parts of files are read that a visitor reads.
    skims: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Packing {
    Folder,
    Tar,
    TarGz,
    Zip,
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
    pub(super) content: &'a mut dyn Read,
}

/// A callback for each entry.
pub(crate) type Visit<'v> = dyn FnMut(&mut Entry<'_>) -> Result<(), ImageError> + 'v;

pub(super) trait ReadSeek: Read + Seek {}
impl<T: Read + Seek> ReadSeek for T {}

impl<'a> Store<'a> {
    /// Opens a folder or archive, whose format is detected from its content.
    pub(crate) fn open(path: &Path, limits: Limits) -> Result<Store<'static>, ImageError> {
        let missing = |source: io::Error| match (source.kind(), NotRegular::of(&source)) {
            (io::ErrorKind::NotFound, _) => ImageError::MissingFile {
                path: path.to_path_buf(),
            },
            (_, Some(NotRegular { found })) => ImageError::NotAnArchive {
                path: path.to_path_buf(),
                found: found.to_owned(),
            },
            _ => ImageError::Io {
                at: FileLocation::file(path),
                source,
            },
        };
        let packing = if std::fs::metadata(path).map_err(missing)?.is_dir() {
            Packing::Folder
        } else {
            sniff(path, &mut input::open(path).map_err(missing)?)?
        };
        Ok(Store {
            path: path.to_path_buf(),
            memory: None,
            packing,
            limits,
            skims: false,
        })
    }

    /// Reads only those parts of files that a visitor reads, so that an archive that ends too early may go unnoticed.
    pub(crate) fn skimming(self) -> Self {
        Self { skims: true, ..self }
    }

    /// Whether files are read in any order: [`skimming`](Self::skimming) was chosen, and nothing is compressed.
    pub(super) fn skims(&self) -> bool {
        self.skims && self.packing == Packing::Tar
    }

    /// Whether it is a folder on disk.
    pub(super) fn is_folder(&self) -> bool {
        self.packing == Packing::Folder
    }

    /// Opens an archive within this folder, with the same limits, to be read in the same way.
    pub(super) fn shard(&self, name: &str) -> Result<Store<'static>, ImageError> {
        let shard = Store::open(&self.path.join(name), self.limits)?;
        Ok(Store {
            skims: self.skims,
            ..shard
        })
    }

    /// Opens an archive in memory; errors call it `path`.
    pub(crate) fn from_memory(path: &Path, bytes: &'a [u8], limits: Limits) -> Result<Self, ImageError> {
        let packing = sniff(path, &mut &*bytes)?;
        Ok(Self {
            path: path.to_path_buf(),
            memory: Some(bytes),
            packing,
            limits,
            skims: false,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }

    /// The location of the file called `name`.
    pub(crate) fn location(&self, name: &str) -> FileLocation {
        match self.packing {
            Packing::Folder => FileLocation::file(&self.path.join(name)),
            _ => FileLocation {
                path: self.path.clone(),
                entry: Some(name.to_string()),
            },
        }
    }

    /// Calls `visit` with each file and folder: in alphabetical order for a folder, in the archive's order for an archive.
    pub(crate) fn for_each(&self, visit: &mut Visit) -> Result<(), ImageError> {
        let mut entries = 0;
        let mut unpacked = 0_u64;
        let visit = &mut |entry: &mut Entry| {
            entries += 1;
            unpacked = unpacked.saturating_add(entry.size);
            self.check("the number of entries", entries, self.limits.entries)?;
            self.check("the size of all files in bytes", unpacked, self.limits.unpacked)?;
            if entry.name.is_empty() || names::is_hidden(&entry.name) {
                return Ok(());
            }
            visit(entry)
        };
        match self.packing {
            Packing::Folder => walk::for_each(&self.path, visit),
            Packing::Tar if self.skims() => tarred::for_each_seeking(self, self.reader()?, visit),
            Packing::Tar => tarred::for_each(self, self.reader()?, visit),
            Packing::TarGz => tarred::for_each(self, input::gunzip(self.reader()?), visit),
            Packing::Zip => zipped::for_each(self, self.reader()?, visit),
        }
    }

    fn check(&self, what: &'static str, found: u64, limit: u64) -> Result<(), ImageError> {
        if found <= limit {
            return Ok(());
        }
        Err(ImageError::TooMuch {
            at: FileLocation::file(&self.path),
            what,
            found,
            limit,
        })
    }

    fn reader(&self) -> Result<BufReader<Box<dyn ReadSeek + 'a>>, ImageError> {
        let reader: Box<dyn ReadSeek> = match self.memory {
            Some(bytes) => Box::new(Cursor::new(bytes)),
            None => Box::new(input::open(&self.path).map_err(|source| ImageError::Io {
                at: FileLocation::file(&self.path),
                source,
            })?),
        };
        Ok(BufReader::with_capacity(1 << 16, reader))
    }
}

impl Entry<'_> {
    /// Reads the whole file, if it has at most `limit` bytes.
    pub(crate) fn bytes(&mut self, limit: u64) -> Result<Vec<u8>, ImageError> {
        self.check_size(limit)?;
        let mut bytes = Vec::with_capacity(self.size.min(1 << 20) as usize);
        // The declared size may be wrong, so the limit is checked again.
        let read = self.content.take(limit + 1).read_to_end(&mut bytes);
        read.map_err(|error| ImageError::reading(self.at.clone(), error))?;
        match bytes.len() as u64 {
            found if found > limit => Err(self.too_much(found, limit)),
            found if found < self.size => Err(ImageError::TruncatedArchive { at: self.at.clone() }),
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
        ImageError::TooMuch {
            at: self.at.clone(),
            what: "its size in bytes",
            found,
            limit,
        }
    }

    /// Reads up to `length` bytes from the beginning of the file.
    pub(crate) fn head(&mut self, length: u64) -> Result<Vec<u8>, ImageError> {
        let mut bytes = vec![0; self.size.min(length) as usize];
        let filled = self.fill(&mut bytes)?;
        bytes.truncate(filled);
        Ok(bytes)
    }

    /// Fills `buffer` from the file; returns the number of bytes, which is less only at the end.
    pub(crate) fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, ImageError> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.content.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(ImageError::reading(self.at.clone(), error)),
            }
        }
        Ok(filled)
    }
}

impl FileLocation {
    pub(crate) fn file(path: &Path) -> Self {
        Self {
            path: path.to_path_buf(),
            entry: None,
        }
    }

    /// The name of the file without its folders.
    pub(super) fn file_name(&self) -> String {
        let path = self.entry.as_deref().map_or(self.path.as_path(), Path::new);
        path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

impl ImageError {
    /// Classifies a read error: the disk's or the archive's.
    pub(super) fn reading(at: FileLocation, source: io::Error) -> Self {
        if source.raw_os_error().is_some() {
            return Self::Io { at, source };
        }
        if let Some(NotRegular { found }) = NotRegular::of(&source) {
            return Self::NotAnImage {
                at,
                found: found.to_owned(),
            };
        }
        if DecompressionBomb::of(&source).is_some() {
            return Self::DecompressionBomb { path: at.path };
        }
        match source.kind() {
            io::ErrorKind::UnexpectedEof => Self::TruncatedArchive { at },
            // The messages of the `tar` crate for a truncated header and a truncated file.
            _ if ["failed to read entire block", "unexpected EOF during skip"].contains(&&*source.to_string()) => {
                Self::TruncatedArchive { at }
            }
            _ => Self::BadArchive {
                at,
                reason: source.to_string(),
            },
        }
    }
}

/// Detects the archive format from the first bytes.
fn sniff(path: &Path, reader: &mut dyn Read) -> Result<Packing, ImageError> {
    let mut head = Vec::new();
    let read = reader.take(512).read_to_end(&mut head);
    read.map_err(|source| ImageError::Io {
        at: FileLocation::file(path),
        source,
    })?;
    let found = match head.as_slice() {
        [] => "an empty file".to_string(),
        [0x1f, 0x8b, ..] => return Ok(Packing::TarGz),
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => return Ok(Packing::Zip),
        head if head.get(257..262) == Some(b"ustar") => return Ok(Packing::Tar),
        // Archives from before 1988 have no signature, only checksums.
        _ if path
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("tar")) =>
        {
            return Ok(Packing::Tar);
        }
        [b'B', b'Z', b'h', ..] => "packed with bzip2".to_string(),
        [0xfd, b'7', b'z', b'X', b'Z', ..] => "packed with xz".to_string(),
        [b'7', b'z', 0xbc, 0xaf, ..] => "a 7z archive".to_string(),
        [b'R', b'a', b'r', b'!', ..] => "a rar archive".to_string(),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => "packed with zstd".to_string(),
        [0xff, 0xd8, ..] | [0x89, b'P', b'N', b'G', ..] => "a single image".to_string(),
        [b'<', ..] => "a web page, perhaps the error of a server".to_string(),
        head => format!(
            "not an archive (it begins with `{}`)",
            head[..head.len().min(12)].escape_ascii()
        ),
    };
    Err(ImageError::NotAnArchive {
        path: path.to_path_buf(),
        found,
    })
}
