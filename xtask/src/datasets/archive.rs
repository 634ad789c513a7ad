//! What a zip or tar archive holds, refused where it could reach outside of the folder it is unpacked into.

use super::error::FetchError;
use super::extract::Limits;
use bcl_data::manifest::Archive as ManifestArchive;
use flate2::read::GzDecoder;
use std::fs::{File, TryLockError};
use std::io::{BufReader, Read, Seek};
use std::path::{Component, Path, PathBuf};
use tar::EntryType;
use zip::ZipArchive;

/// How files are packed into one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(test), expect(dead_code, reason = "no manifest names a tar archive yet"))]
pub(crate) enum Packing {
    Zip,
    Tar,
    TarGz,
}

impl From<ManifestArchive> for Packing {
    fn from(archive: ManifestArchive) -> Self {
        match archive {
            ManifestArchive::Zip => Self::Zip,
        }
    }
}

/// One thing in an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Relative, and without any step upwards.
    pub(crate) path: PathBuf,
    /// Size in bytes that the archive tells of a file; `None` for a folder.
    pub(crate) size: Option<u64>,
}

/// An archive on the disk, locked against other processes that unpack it.
pub(crate) struct Archive<'a> {
    path: &'a Path,
    file: File,
    packing: Packing,
}

impl<'a> Archive<'a> {
    /// Opens the archive at `path`.
    pub(crate) fn open(path: &'a Path, packing: Packing) -> Result<Self, FetchError> {
        let file = File::open(path).map_err(FetchError::disk(path))?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => Err(FetchError::Busy {
                path: path.to_path_buf(),
            }),
            // Some network file systems know no locks.
            Err(TryLockError::Error(_)) | Ok(()) => Ok(Self { path, file, packing }),
        }
    }

    /// All entries, if they stay inside of the folder and within `limits`. Nothing is written.
    pub(crate) fn entries(&self, limits: Limits) -> Result<Vec<Entry>, FetchError> {
        let mut entries = Vec::new();
        let mut bytes = 0_u64;
        self.for_each(&mut |entry, _| {
            bytes = bytes.saturating_add(entry.size.unwrap_or(0));
            entries.push(entry);
            if entries.len() > limits.entries {
                return Err(self.refusal(format!("it holds more than {} entries", limits.entries)));
            }
            if bytes > limits.bytes {
                return Err(self.refusal(format!("it unpacks to more than {} bytes", limits.bytes)));
            }
            Ok(())
        })?;
        Ok(entries)
    }

    /// Hands each entry, and a reader of its content, to `visit`, in the order of the archive.
    pub(crate) fn for_each(
        &self,
        visit: &mut dyn FnMut(Entry, &mut dyn Read) -> Result<(), FetchError>,
    ) -> Result<(), FetchError> {
        let mut reader = BufReader::new(&self.file);
        reader.rewind().map_err(FetchError::disk(self.path))?;
        match self.packing {
            Packing::Zip => self.for_each_zipped(reader, visit),
            Packing::Tar => self.for_each_tarred(reader, visit),
            Packing::TarGz => self.for_each_tarred(GzDecoder::new(reader), visit),
        }
    }

    /// The error that says why this archive is not unpacked.
    pub(crate) fn refusal(&self, reason: impl ToString) -> FetchError {
        FetchError::Archive {
            archive: self.path.to_path_buf(),
            reason: reason.to_string(),
        }
    }

    fn for_each_zipped(
        &self,
        reader: impl Read + Seek,
        visit: &mut dyn FnMut(Entry, &mut dyn Read) -> Result<(), FetchError>,
    ) -> Result<(), FetchError> {
        let mut archive = ZipArchive::new(reader).map_err(|error| self.refusal(error))?;
        for index in 0..archive.len() {
            let mut zipped = archive.by_index(index).map_err(|error| self.refusal(error))?;
            let name = zipped.name().to_owned();
            if zipped.is_symlink() {
                return Err(self.refusal(format!("{name:?} is a link")));
            }
            let size = (!zipped.is_dir()).then(|| zipped.size());
            visit(
                Entry {
                    path: self.inner_path(&name)?,
                    size,
                },
                &mut zipped,
            )?;
        }
        Ok(())
    }

    fn for_each_tarred(
        &self,
        reader: impl Read,
        visit: &mut dyn FnMut(Entry, &mut dyn Read) -> Result<(), FetchError>,
    ) -> Result<(), FetchError> {
        let mut archive = tar::Archive::new(reader);
        for tarred in archive.entries().map_err(|error| self.refusal(error))? {
            let mut tarred = tarred.map_err(|error| self.refusal(error))?;
            let name = String::from_utf8_lossy(&tarred.path_bytes()).into_owned();
            let size = match tarred.header().entry_type() {
                EntryType::Regular | EntryType::Continuous => Some(tarred.size()),
                EntryType::Directory => None,
                EntryType::XGlobalHeader => continue,
                EntryType::Symlink | EntryType::Link => return Err(self.refusal(format!("{name:?} is a link"))),
                _ => return Err(self.refusal(format!("{name:?} is neither a file nor a folder"))),
            };
            let path = self.inner_path(&name)?;
            // Many tar archives begin with the folder `./` itself.
            if path.as_os_str().is_empty() && size.is_none() {
                continue;
            }
            visit(Entry { path, size }, &mut tarred)?;
        }
        Ok(())
    }

    /// The path that `name` means inside of the folder. Backslashes separate on Windows, so they may not hide anything.
    fn inner_path(&self, name: &str) -> Result<PathBuf, FetchError> {
        let components = Path::new(name)
            .components()
            .filter(|component| *component != Component::CurDir);
        let inner: Option<PathBuf> = components
            .map(|component| matches!(component, Component::Normal(_)).then_some(component))
            .collect();
        inner
            .filter(|_| !name.contains(['\\', '\0']))
            .ok_or_else(|| self.refusal(format!("{name:?} leads out of the folder")))
    }
}
