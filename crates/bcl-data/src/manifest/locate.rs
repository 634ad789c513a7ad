//! Finds the files of a data set on disk.

use super::{Layout, Manifest};
use crate::{DataError, Source};
use std::path::{Path, PathBuf};

impl Manifest {
    /// Finds the files of this data set in `dir`, plain or gzipped.
    ///
    /// Searches the data set's own folder `dir/<name>` first, then `dir` itself, and below each the folders that the layout names. Loading
    /// checks the counts, in case such a folder contains something else.
    ///
    /// # Errors
    /// Returns an error that says where to pass the folder and how to get the files, if they are missing. Also fails if the data set contains
    /// images; use [`locate_images`](Self::locate_images) for those.
    pub fn locate(&self, dir: &Path) -> Result<Source, DataError> {
        if self.is_images() {
            return Err(self.holds_images());
        }
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
                Layout::Images { .. } => None,
            }
        });
        found.ok_or_else(|| self.missing(dir, &folders))
    }

    /// Finds the archive or folder with the images of this data set in `dir`, in the same folders as [`locate`](Self::locate).
    ///
    /// # Errors
    /// Returns an error that says where to pass the folder and how to get it, if it is missing. Also fails for interactions.
    pub fn locate_images(&self, dir: &Path) -> Result<PathBuf, DataError> {
        let Layout::Images { paths, .. } = &self.layout else {
            return Err(DataError::HoldsInteractions { name: self.name.clone() });
        };
        let folders = self.folders();
        let found = folders
            .iter()
            .flat_map(|folder| paths.iter().map(move |path| dir.join(folder).join(path)))
            .find(|path| path.exists());
        found.ok_or_else(|| self.missing(dir, &folders))
    }

    /// Finds all files of this data set in `dir`: train and test, the single file, or the archive or folder of images.
    ///
    /// # Errors
    /// Returns an error if they are missing, like [`locate`](Self::locate) and [`locate_images`](Self::locate_images).
    pub fn files_in(&self, dir: &Path) -> Result<Vec<PathBuf>, DataError> {
        if self.is_images() {
            return Ok(vec![self.locate_images(dir)?]);
        }
        Ok(match self.locate(dir)? {
            Source::Split { train, test } => vec![train, test],
            Source::Whole { file, .. } => vec![file],
        })
    }

    /// The folders to search, relative to the data folder.
    fn folders(&self) -> Vec<String> {
        let (Layout::Split { folders, .. } | Layout::Whole { folders, .. } | Layout::Images { folders, .. }) = &self.layout;
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
            Layout::Images { paths, .. } => format!("`{}`", paths.join("` or `")),
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
            None => format!("`bcl-train data fetch {}` downloads it.", self.name),
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
