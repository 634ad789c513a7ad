//! Where a file is.

use std::fmt;
use std::path::{Path, PathBuf};

/// A file, or an entry of an archive, shown as `archive.tar.gz: entry train/cat/1.jpg`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileLocation {
    /// The file or archive.
    pub path: PathBuf,
    /// The entry, if the file is an archive.
    pub entry: Option<String>,
}

impl FileLocation {
    /// A file on disk.
    pub fn file(path: &Path) -> Self {
        Self {
            path: path.to_path_buf(),
            entry: None,
        }
    }

    /// An entry of an archive.
    pub fn entry(archive: &Path, name: &[u8]) -> Self {
        Self {
            path: archive.to_path_buf(),
            entry: Some(String::from_utf8_lossy(name).into_owned()),
        }
    }

    /// The name of the file without its folders.
    pub fn file_name(&self) -> String {
        let path = self.entry.as_deref().map_or(self.path.as_path(), Path::new);
        path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The location as if the archive were a folder: `MUTAG.zip/MUTAG/MUTAG_A.txt`.
    pub fn as_path(&self) -> PathBuf {
        match &self.entry {
            None => self.path.clone(),
            // `join` would drop the archive if the name were absolute.
            Some(entry) => [self.path.as_os_str(), "/".as_ref(), entry.as_ref()]
                .into_iter()
                .collect::<std::ffi::OsString>()
                .into(),
        }
    }
}

impl fmt::Display for FileLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        match &self.entry {
            Some(entry) => write!(f, ": entry {}", crate::excerpt(entry, 120)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absolute_name_stays_in_its_archive() {
        let location = FileLocation::entry(Path::new("a.zip"), b"/etc/passwd");
        assert_eq!(location.as_path(), PathBuf::from("a.zip//etc/passwd"));
    }
}
