//! Finding the files of a data set on disk.

use super::{Layout, Manifest};
use crate::{DataError, Source};
use std::path::{Path, PathBuf};

impl Manifest {
    /// Finds the files of this data set in `dir`, plain or gzipped.
    ///
    /// Looks in the data set's own folder `dir/<name>` first, then in `dir` itself, and in both cases in the folders that the layout
    /// names. What a folder called otherwise holds is settled when it is loaded: the counts must be right.
    ///
    /// # Errors
    /// If they are not there: the error tells where to pass the folder, and how to get them.
    pub fn locate(&self, dir: &Path) -> Result<Source, DataError> {
        let folders = self.folders();
        let found = folders.iter().find_map(|folder| {
            let folder = dir.join(folder);
            match &self.layout {
                Layout::Split { train, test, .. } => Some(Source::Split {
                    train: plain_or_gzipped(&folder, train)?,
                    test: plain_or_gzipped(&folder, test)?,
                }),
                Layout::Whole { files, split, .. } => Some(Source::Whole {
                    file: files.iter().find_map(|file| plain_or_gzipped(&folder, file))?,
                    split: *split,
                }),
            }
        });
        found.ok_or_else(|| self.missing(dir, &folders))
    }

    /// The folders to look in, below that of all data.
    fn folders(&self) -> Vec<String> {
        let (Layout::Split { folders, .. } | Layout::Whole { folders, .. }) = &self.layout;
        let below = |base: &str| {
            let own = [base.to_string()];
            own.into_iter()
                .chain(folders.iter().map(move |folder| format!("{base}/{folder}")))
                .map(|folder| folder.trim_matches('/').to_string())
                .collect::<Vec<_>>()
        };
        [below(&self.name), below("")].concat()
    }

    fn missing(&self, dir: &Path, folders: &[String]) -> DataError {
        let files = match &self.layout {
            Layout::Split { train, test, .. } => format!("`{train}` with `{test}` (or .gz)"),
            Layout::Whole { files, .. } => format!("`{}` (or .gz)", files.join("` or `")),
        };
        let mut folders: Vec<String> = folders
            .iter()
            .filter(|folder| !folder.is_empty())
            .map(|folder| format!("`{folder}`"))
            .collect();
        folders.sort_unstable();
        folders.dedup();
        let obtain = match &self.access {
            Some(access) => access.trim().to_string(),
            None => format!("`cargo xtask datasets fetch {}` downloads it.", self.name),
        };
        DataError::MissingDataset {
            name: self.name.clone(),
            dir: dir.to_path_buf(),
            files,
            folders: folders.join(", "),
            obtain,
        }
    }
}

fn plain_or_gzipped(folder: &Path, file: &str) -> Option<PathBuf> {
    [folder.join(file), folder.join(format!("{file}.gz"))]
        .into_iter()
        .find(|path| path.is_file())
}
