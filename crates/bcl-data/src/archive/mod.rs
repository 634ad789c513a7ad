//! Reads the files of a folder or an archive (zip, tar, tar.gz) in one pass, without unpacking to disk.

mod tarred;
mod zipped;

use crate::DataError;
use crate::error::ArchiveError;
use bcl_files::input::{self, DecompressionBomb, NotRegular};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

/// Maximum number of files. A data set of graphs has about ten.
const MOST_FILES: usize = 100_000;

/// A folder or an archive.
#[derive(Debug)]
pub(crate) struct Files {
    path: PathBuf,
    packing: Packing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Packing {
    Folder,
    Tar,
    TarGz,
    Zip,
}

/// A file of [`Files`]. Its content can be read once.
pub(crate) struct PackedFile<'a> {
    /// Its location, for errors.
    pub(crate) at: PathBuf,
    content: &'a mut dyn Read,
}

/// Chooses files by their name without folders.
type Wanted<'w> = dyn Fn(&str) -> bool + 'w;

/// A callback for each file, with its name without folders.
type Visit<'v> = dyn FnMut(&str, PackedFile<'_>) -> Result<(), DataError> + 'v;

impl Files {
    /// Opens a folder or archive, whose format is detected from its content.
    pub(crate) fn open(path: &Path) -> Result<Self, DataError> {
        let failed = |error| DataError::opening(path, error);
        let packing = if std::fs::metadata(path).map_err(failed)?.is_dir() {
            Packing::Folder
        } else {
            sniff(path, &mut input::open(path).map_err(failed)?)?
        };
        Ok(Self {
            path: path.to_path_buf(),
            packing,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Where the file called `name` is or would be, for errors.
    pub(crate) fn location(&self, name: &str) -> PathBuf {
        // `join` would drop the archive if the name were absolute.
        let mut location = self.path.clone().into_os_string();
        location.push("/");
        location.push(name);
        location.into()
    }

    /// The names of all files without their folders, sorted. A name occurs as often as there are files of this name.
    pub(crate) fn names(&self) -> Result<Vec<String>, DataError> {
        let mut names = Vec::new();
        self.for_each(&|_| true, &mut |name, _| {
            names.push(name.to_string());
            Ok(())
        })?;
        names.sort_unstable();
        Ok(names)
    }

    /// Calls `visit` with each wanted file: directly in the folder, or anywhere in the archive. Hidden files, and those that
    /// macOS adds to archives, are skipped.
    pub(crate) fn for_each(&self, wanted: &Wanted, visit: &mut Visit) -> Result<(), DataError> {
        match self.packing {
            Packing::Folder => self.for_each_of_folder(wanted, visit),
            Packing::Tar => tarred::for_each(self, self.reader()?, wanted, visit),
            Packing::TarGz => tarred::for_each(self, input::gunzip(self.reader()?), wanted, visit),
            Packing::Zip => zipped::for_each(self, self.reader()?, wanted, visit),
        }
    }

    fn for_each_of_folder(&self, wanted: &Wanted, visit: &mut Visit) -> Result<(), DataError> {
        let failed = |error| DataError::opening(&self.path, error);
        let mut names = Vec::new();
        for child in std::fs::read_dir(&self.path).map_err(failed)? {
            let child = child.map_err(failed)?;
            let is_folder = std::fs::metadata(child.path()).is_ok_and(|about| about.is_dir());
            let name = child.file_name().to_string_lossy().into_owned();
            if !is_folder && !is_hidden(&name) && wanted(&name) {
                names.push(name);
            }
            self.check_count(names.len())?;
        }
        names.sort_unstable();
        for name in names {
            let path = self.path.join(&name);
            let mut content = Lazy {
                path: path.clone(),
                file: None,
            };
            visit(
                &name,
                PackedFile {
                    at: path,
                    content: &mut content,
                },
            )?;
        }
        Ok(())
    }

    fn check_count(&self, count: usize) -> Result<(), DataError> {
        if count <= MOST_FILES {
            return Ok(());
        }
        let path = self.path.clone();
        Err(ArchiveError::TooManyFiles { path, limit: MOST_FILES }.into())
    }

    fn reader(&self) -> Result<BufReader<File>, DataError> {
        let file = input::open(&self.path).map_err(|error| DataError::opening(&self.path, error))?;
        Ok(BufReader::with_capacity(1 << 16, file))
    }
}

impl<'a> PackedFile<'a> {
    /// The location and the content.
    pub(crate) fn into_parts(self) -> (PathBuf, &'a mut dyn Read) {
        (self.at, self.content)
    }
}

/// Classifies a read error of the file at `at`: the disk's, or the archive's.
pub(crate) fn reading(at: &Path, source: io::Error) -> DataError {
    let at = at.to_path_buf();
    if DecompressionBomb::of(&source).is_some() {
        return DataError::DecompressionBomb { path: at };
    }
    if source.raw_os_error().is_some() || NotRegular::of(&source).is_some() {
        return DataError::opening(&at, source);
    }
    // The messages of the `tar` crate for a truncated header and a truncated file.
    let truncated = ["failed to read entire block", "unexpected EOF during skip"].contains(&&*source.to_string());
    if truncated || source.kind() == io::ErrorKind::UnexpectedEof {
        return ArchiveError::Truncated { at }.into();
    }
    ArchiveError::Damaged { at, source }.into()
}

/// The name without folders, unless the file belongs to the system.
fn file_name(name: &str) -> Option<&str> {
    let hidden = name
        .split('/')
        .any(|part| part == "__MACOSX" || part != "." && is_hidden(part));
    name.rsplit('/').next().filter(|name| !hidden && !name.is_empty())
}

fn is_hidden(name: &str) -> bool {
    name.starts_with('.')
}

/// Detects the archive format from the first bytes.
fn sniff(path: &Path, reader: &mut dyn Read) -> Result<Packing, DataError> {
    let mut head = Vec::new();
    let read = reader.take(512).read_to_end(&mut head);
    read.map_err(|error| DataError::opening(path, error))?;
    let found = match head.as_slice() {
        [] => "an empty file".to_string(),
        [0x1f, 0x8b, ..] => return Ok(Packing::TarGz),
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => return Ok(Packing::Zip),
        head if head.get(257..262) == Some(b"ustar") => return Ok(Packing::Tar),
        [b'<', ..] => "a web page, perhaps the error of a server".to_string(),
        head => format!(
            "not an archive (it begins with `{}`)",
            head[..head.len().min(12)].escape_ascii()
        ),
    };
    let path = path.to_path_buf();
    Err(ArchiveError::NotAnArchive { path, found }.into())
}

/// A file that is opened on its first read, when its name is known to be of use.
struct Lazy {
    path: PathBuf,
    file: Option<File>,
}

impl Read for Lazy {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(input::open(&self.path)?),
        };
        file.read(buffer)
    }
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

    #[test]
    fn an_absolute_name_stays_in_its_archive() {
        let files = Files {
            path: "a.zip".into(),
            packing: Packing::Zip,
        };
        assert_eq!(files.location("/etc/passwd"), PathBuf::from("a.zip//etc/passwd"));
    }
}
