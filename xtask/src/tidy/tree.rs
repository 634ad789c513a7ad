//! The files of the project.

use crate::root;
use anyhow::Context;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The files that git tracks, or would add on the next `git add`.
pub(crate) struct Tree {
    root: PathBuf,
    files: Vec<PathBuf>,
}

impl Tree {
    /// Lists the tracked and the untracked, non-ignored files in `root`.
    pub(crate) fn of_git(root: &Path) -> anyhow::Result<Self> {
        let arguments = [
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
            "--deduplicate",
        ];
        let listing = root::stdout_of(root::git(root).args(arguments))?;
        let listing = String::from_utf8(listing).context("git lists a path that is not UTF-8")?;
        let files = listing.split_terminator('\0').map(PathBuf::from);
        // Git lists a deleted file until the deletion is committed; the target of a symbolic link is listed itself.
        let files = files.filter(|file| root.join(file).symlink_metadata().is_ok_and(|data| data.is_file()));
        Ok(Self {
            root: root.to_path_buf(),
            files: files.collect(),
        })
    }

    /// All files, relative to the root.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(PathBuf::as_path)
    }

    /// The files with this extension.
    pub(crate) fn with_extension(&self, extension: &str) -> impl Iterator<Item = &Path> {
        self.files()
            .filter(move |file| file.extension().is_some_and(|found| found == extension))
    }

    /// Size of `file` in bytes.
    pub(crate) fn size(&self, file: &Path) -> anyhow::Result<u64> {
        let data = fs::metadata(self.root.join(file));
        Ok(data.with_context(|| format!("cannot read {}", file.display()))?.len())
    }

    /// The text of `file`, or `None` if it is not text.
    pub(crate) fn text(&self, file: &Path) -> anyhow::Result<Option<String>> {
        match fs::read_to_string(self.root.join(file)) {
            Ok(text) => Ok(Some(text).filter(|text| !text.contains('\0'))),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => Ok(None),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", file.display())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::fixture::Fixture;

    #[test]
    fn the_tree_contains_the_files_that_git_would_add() {
        let fixture = Fixture::new(&[
            ("committed.rs", ""),
            ("new.rs", ""),
            ("ignored.log", ""),
            ("deleted.rs", ""),
            (".gitignore", "*.log\n"),
        ]);
        fixture.git_add(&["committed.rs", "deleted.rs", ".gitignore"]);
        fs::remove_file(fixture.path("deleted.rs")).unwrap();

        let tree = fixture.tree();
        let mut files: Vec<_> = tree.files().collect();
        files.sort();
        assert_eq!(files, [".gitignore", "committed.rs", "new.rs"].map(Path::new));
    }

    #[test]
    fn a_binary_file_has_no_text() {
        let fixture = Fixture::new(&[("text", "x"), ("nul", "a\0b")]);
        fs::write(fixture.path("latin"), [0xe9]).unwrap();
        let tree = fixture.tree();
        assert_eq!(tree.text(Path::new("text")).unwrap().as_deref(), Some("x"));
        assert_eq!(tree.text(Path::new("nul")).unwrap(), None);
        assert_eq!(tree.text(Path::new("latin")).unwrap(), None);
    }
}
