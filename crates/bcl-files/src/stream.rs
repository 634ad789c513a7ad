//! A file that is written piece by piece, and is there only once it is complete.

use crate::{FileError, critical_section, temporary::TemporaryFile};
use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

/// Writes a file of any size without holding it in memory. It replaces the file at its path when it is [finished](Self::finish); dropped
/// before that, it leaves nothing behind.
///
/// ```
/// use bcl_files::WholeFile;
/// use std::io::Write;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("list.csv");
/// let mut file = WholeFile::create(&path)?;
/// file.write_all(b"item,score\n")?;
/// assert!(!path.exists());
/// file.finish()?;
/// assert_eq!(std::fs::read(&path)?, b"item,score\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct WholeFile {
    path: PathBuf,
    /// Where it is written until it is complete; `None` if the path is no regular file, such as `/dev/stdout`.
    temporary: Option<TemporaryFile>,
    out: BufWriter<File>,
}

impl WholeFile {
    /// Starts to write the file at `path`.
    ///
    /// # Errors
    /// Returns an error that names the file if it cannot be written.
    pub fn create(path: &Path) -> Result<Self, FileError> {
        Self::open(path).map_err(FileError::io("write", path))
    }

    fn open(path: &Path) -> io::Result<Self> {
        let path = match fs::metadata(path) {
            Ok(about) if about.is_file() => fs::canonicalize(path)?,
            Ok(about) if about.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Ok(_) => {
                let out = BufWriter::new(File::options().write(true).open(path)?);
                return Ok(Self {
                    path: path.to_path_buf(),
                    temporary: None,
                    out,
                });
            }
            Err(_) => path.to_path_buf(),
        };
        let (temporary, file) = TemporaryFile::create(&path)?;
        Ok(Self {
            path,
            temporary: Some(temporary),
            out: BufWriter::new(file),
        })
    }

    /// Completes the file, which then replaces what was at its path.
    ///
    /// # Errors
    /// Returns an error that names the file if it cannot be written; the old content is then still there.
    pub fn finish(self) -> Result<(), FileError> {
        let _critical = critical_section();
        let Self {
            path,
            temporary,
            mut out,
        } = self;
        let written = out.flush().and_then(|()| match temporary {
            None => Ok(()),
            Some(temporary) => out.get_ref().sync_all().and_then(|()| temporary.replace(&path)),
        });
        written.map_err(FileError::io("write", &path))
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unfinished_file_leaves_the_old_content_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.csv");
        fs::write(&path, "old").expect("writable");
        let mut file = WholeFile::create(&path).expect("writable");
        file.write_all(&vec![b'x'; 100_000]).expect("writable");
        drop(file);
        assert_eq!(fs::read(&path).expect("readable"), b"old");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
    }

    #[test]
    fn a_folder_that_is_missing_is_named() {
        let error = WholeFile::create(Path::new("no-such-folder/a.csv")).expect_err("no folder");
        assert!(error.to_string().contains("no-such-folder/a.csv"), "{error}");
    }
}
