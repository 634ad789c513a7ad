//! The names of event files, and appending to one.

use bcl_files::{FileError, critical_section};
use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

/// TensorBoard reads files with this word in their names, in the order of the names.
const PREFIX: &str = "events.out.tfevents.";
const SUFFIX: &str = ".bcl";

/// An open event file. Each write ends with a whole record, so that readers see the points at once.
#[derive(Debug)]
pub(super) struct EventsFile {
    path: PathBuf,
    file: File,
}

impl EventsFile {
    /// Creates the file with this number.
    pub(super) fn create(folder: &Path, number: u32) -> Result<Self, FileError> {
        let path = folder.join(format!("{PREFIX}{number:010}{SUFFIX}"));
        let file = OpenOptions::new().append(true).create(true).open(&path);
        let file = file.map_err(FileError::io("create", &path))?;
        Ok(Self { path, file })
    }

    /// Appends whole records.
    pub(super) fn append(&mut self, records: &[u8]) -> Result<(), FileError> {
        let _critical = critical_section();
        self.file.write_all(records).map_err(FileError::io("write", &self.path))
    }
}

/// The files in a folder that this program wrote, by number.
pub(super) fn own(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries: Vec<fs::DirEntry> = fs::read_dir(folder)?.collect::<io::Result<_>>()?;
    let mut files: Vec<PathBuf> = entries.iter().map(fs::DirEntry::path).collect();
    files.retain(|path| number(path).is_some());
    files.sort();
    Ok(files)
}

/// The number in the name of a file that this program wrote.
pub(super) fn number(path: &Path) -> Option<u32> {
    let name = path.file_name()?.to_str()?;
    name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?.parse().ok()
}
