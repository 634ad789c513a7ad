//! A file or folder in a folder or an archive.

use super::{ArchiveError, FileLocation, names};
use std::io::{self, Read};

/// What an entry is.
#[derive(Debug)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// Something that is not read, such as "a link".
    Other(&'static str),
    /// A file on disk about which the system gives no information, such as a link to nothing.
    Unknown(io::Error),
    /// Settings of a tar archive for its next files.
    Header,
}

/// A file or folder of a [`Store`](super::Store). Its content can be read once.
pub struct Entry<'a> {
    /// Its location, for errors.
    pub at: FileLocation,
    /// What it is.
    pub kind: EntryKind,
    /// Size according to the archive or the disk.
    pub size: u64,
    /// Where the content begins in the file on disk; `None` if it is compressed there.
    pub start: Option<u64>,
    pub(super) raw_name: Vec<u8>,
    pub(super) content: &'a mut dyn Read,
}

/// A callback for each entry.
pub(super) type Visit<'v, E> = dyn FnMut(Entry<'_>) -> Result<(), E> + 'v;

impl<'a> Entry<'a> {
    /// The name as the archive or the disk has it.
    pub fn raw_name(&self) -> &[u8] {
        &self.raw_name
    }

    /// The name as a plain relative path with forward slashes.
    ///
    /// # Errors
    /// Returns an error if the name is absolute, leads out of the archive, or is not text.
    pub fn name(&self) -> Result<String, ArchiveError> {
        let name = match self.at.entry {
            Some(_) => names::plain(&self.raw_name),
            // Names on disk need not be trusted.
            None => names::utf8(&self.raw_name).map(str::to_owned),
        };
        name.map_err(|problem| {
            let remedy = match (problem, &self.at.entry) {
                (names::NOT_UTF8, None) => "Rename it: `convmv -f ENCODING -t utf8 -r --notest FOLDER`, with ENCODING such as latin1 or cp932",
                (names::NOT_UTF8, Some(_)) => {
                    "Unpack the archive, rename the files (`convmv -f ENCODING -t utf8 -r --notest FOLDER`, with ENCODING such as latin1 or \
                     cp932), and name the folder"
                }
                _ => "Do not trust this archive; repack it with plain relative names",
            };
            ArchiveError::unusable(self.at.clone(), format!("the name {problem}"), remedy)
        })
    }

    /// Checks that it is a file or a folder.
    ///
    /// # Errors
    /// Returns an error for links, devices and sparse files.
    pub fn check_kind(&mut self) -> Result<(), ArchiveError> {
        match std::mem::replace(&mut self.kind, EntryKind::File) {
            EntryKind::Other(what) => Err(ArchiveError::unusable(
                self.at.clone(),
                format!("is {what}"),
                "Repack the archive with the files themselves (`tar --dereference`)",
            )),
            EntryKind::Unknown(source) => Err(ArchiveError::Io {
                at: self.at.clone(),
                source,
            }),
            kind => {
                self.kind = kind;
                Ok(())
            }
        }
    }

    /// The location and the content.
    pub fn into_parts(self) -> (FileLocation, &'a mut dyn Read) {
        (self.at, self.content)
    }
}
