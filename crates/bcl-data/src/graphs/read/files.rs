//! The files of a data set, directly in a folder or anywhere in an archive.

use crate::DataError;
use bcl_files::archive::{ArchiveError, EntryKind, FileLocation, Store};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Maximum number of files. A data set of graphs has about ten.
const MOST_FILES: usize = 100_000;

/// A folder or an archive.
pub(super) struct Files(Store<'static>);

/// A file of [`Files`]. Its content can be read once.
pub(super) struct PackedFile<'a> {
    /// Its location, for errors.
    pub(super) at: PathBuf,
    pub(super) content: &'a mut dyn Read,
}

impl Files {
    pub(super) fn open(path: &Path) -> Result<Self, DataError> {
        Ok(Self(Store::open(path)?))
    }

    pub(super) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Where the file called `name` is or would be, for errors.
    pub(super) fn location(&self, name: &str) -> PathBuf {
        self.0.location(name).as_path()
    }

    /// The names of all files without their folders, sorted. A name occurs as often as there are files of this name.
    pub(super) fn names(&self) -> Result<Vec<String>, DataError> {
        let mut names = Vec::new();
        let mut name_it = |name: &str| {
            names.push(name.to_owned());
            false
        };
        self.for_each(&mut name_it, &mut |_, _| Ok(()))?;
        names.sort_unstable();
        Ok(names)
    }

    /// Calls `visit` with the name without folders of each wanted file. Hidden files, and those that macOS adds to archives, are skipped.
    pub(super) fn for_each(
        &self,
        wanted: &mut dyn FnMut(&str) -> bool,
        visit: &mut dyn FnMut(&str, PackedFile<'_>) -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        let mut count = 0;
        self.0.for_each_at_top(&mut |mut entry| {
            count += 1;
            if count > MOST_FILES {
                let problem = format!("contains more than {MOST_FILES} files. Keep one data set per folder or archive");
                return Err(DataError::file(self.path(), problem));
            }
            let raw = String::from_utf8_lossy(entry.raw_name()).into_owned();
            let is_file = !matches!(entry.kind, EntryKind::Folder | EntryKind::Header);
            let Some(name) = file_name(&raw).filter(|name| is_file && wanted(name)) else {
                return Ok(());
            };
            entry.check_kind()?;
            let (at, content) = entry.into_parts();
            let at = at.as_path();
            visit(name, PackedFile { at, content })
        })
    }
}

/// Classifies a read error of the file at `at`: the disk's, or the archive's.
pub(super) fn reading(at: &Path, source: io::Error) -> DataError {
    ArchiveError::reading(FileLocation::file(at), source).into()
}

/// The name without folders, unless the file belongs to the system.
fn file_name(name: &str) -> Option<&str> {
    let hidden = name
        .split('/')
        .any(|part| part == "__MACOSX" || part != "." && part.starts_with('.'));
    name.rsplit('/').next().filter(|name| !hidden && !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_without_folders_and_those_of_the_system_are_skipped() {
        assert_eq!(file_name("MUTAG/MUTAG_A.txt"), Some("MUTAG_A.txt"));
        assert_eq!(file_name("./MUTAG_A.txt"), Some("MUTAG_A.txt"));
        for hidden in [
            "__MACOSX/MUTAG/._MUTAG_A.txt",
            ".git/MUTAG_A.txt",
            "MUTAG/.DS_Store",
            "MUTAG/",
        ] {
            assert_eq!(file_name(hidden), None, "{hidden}");
        }
    }
}
