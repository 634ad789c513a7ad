//! Finds the files of a data set on disk.

use super::{Layout, Manifest};
use crate::{DataError, Source};
use std::path::{Path, PathBuf};

impl Manifest {
    /// Finds the files of this data set in `dir`, plain or gzipped.
    ///
    /// Searches the data set's own folder `dir/<name>` first, then `dir` itself, and below each the folders that the layout
    /// names. Loading checks the counts, in case such a folder contains something else.
    ///
    /// # Errors
    /// Returns an error that says where to pass the folder and how to get the files, if they are missing. Also fails for images
    /// and graphs; use [`locate_images`](Self::locate_images) and [`locate_graphs`](Self::locate_graphs) for those.
    pub fn locate(&self, dir: &Path) -> Result<Source, DataError> {
        if self.is_images() || self.is_graphs() {
            return Err(self.holds_no_interactions());
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
                    files: vec![files.iter().find_map(|file| plain_or_gzipped(&folder, file))?],
                    split: *split,
                }),
                Layout::Images { .. } | Layout::Graphs { .. } => None,
            }
        });
        found.ok_or_else(|| self.missing(dir, &folders))
    }

    /// Finds the archive or folder with the images of this data set in `dir`, in the same folders as [`locate`](Self::locate).
    ///
    /// # Errors
    /// Returns an error that says where to pass the folder and how to get it, if it is missing. Also fails for interactions and
    /// graphs.
    pub fn locate_images(&self, dir: &Path) -> Result<PathBuf, DataError> {
        match &self.layout {
            Layout::Images { paths, .. } => self.locate_packed(dir, paths),
            Layout::Graphs { .. } => Err(self.wrong_kind("images")),
            _ => {
                let remedy = "Name a data set of images, or train a recommender on it";
                let problem = format!("data set `{}` contains interactions, not images. {remedy}", self.name);
                Err(DataError::Dataset(problem))
            }
        }
    }

    /// Finds the archive or folder with the graphs of this data set in `dir`, in the same folders as [`locate`](Self::locate).
    ///
    /// # Errors
    /// Returns an error that says where to pass the folder and how to get it, if it is missing. Also fails for interactions and
    /// images.
    pub fn locate_graphs(&self, dir: &Path) -> Result<PathBuf, DataError> {
        match &self.layout {
            Layout::Graphs { paths, .. } => self.locate_packed(dir, paths),
            _ => Err(self.wrong_kind("graphs")),
        }
    }

    /// Finds an archive or folder with one of the names `paths`.
    fn locate_packed(&self, dir: &Path, paths: &[String]) -> Result<PathBuf, DataError> {
        let folders = self.folders();
        let found = folders
            .iter()
            .flat_map(|folder| paths.iter().map(move |path| dir.join(folder).join(path)))
            .find(|path| path.exists());
        found.ok_or_else(|| self.missing(dir, &folders))
    }

    /// The error for callers that need interactions.
    pub(super) fn holds_no_interactions(&self) -> DataError {
        if self.is_images() {
            let remedy = "Name a data set of interactions, or train an image encoder on it";
            return DataError::Dataset(format!(
                "data set `{}` contains images, not interactions. {remedy}",
                self.name
            ));
        }
        self.wrong_kind("interactions")
    }

    fn wrong_kind(&self, needed: &'static str) -> DataError {
        let found = match self.layout {
            Layout::Graphs { .. } => "graphs",
            Layout::Images { .. } => "images",
            Layout::Split { .. } | Layout::Whole { .. } => "interactions",
        };
        DataError::Dataset(format!(
            "data set `{}` contains {found}, not {needed}. Name a data set of {needed}, or use it in a recipe that trains on {found}",
            self.name
        ))
    }

    /// Finds all files of this data set in `dir`: train and test, the single file, or the archive or folder of images or graphs.
    ///
    /// # Errors
    /// Returns an error if they are missing, like [`locate`](Self::locate).
    pub fn files_in(&self, dir: &Path) -> Result<Vec<PathBuf>, DataError> {
        if self.is_images() {
            return Ok(vec![self.locate_images(dir)?]);
        }
        if self.is_graphs() {
            return Ok(vec![self.locate_graphs(dir)?]);
        }
        Ok(self.locate(dir)?.files().into_iter().map(Path::to_path_buf).collect())
    }

    /// The folders to search, relative to the data folder.
    fn folders(&self) -> Vec<String> {
        let (Layout::Split { folders, .. }
        | Layout::Whole { folders, .. }
        | Layout::Images { folders, .. }
        | Layout::Graphs { folders, .. }) = &self.layout;
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
            Layout::Images { paths, .. } | Layout::Graphs { paths, .. } => format!("`{}`", paths.join("` or `")),
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
        let (dir, folders) = (dir.display(), folders.join(", "));
        DataError::MissingDataset {
            name: self.name.clone(),
            problem: format!("{dir}: no {files} there, nor in {folders}. Pass its folder with `--data DIR`. {obtain}"),
        }
    }
}

fn plain_or_gzipped(folder: &Path, file: &str) -> Option<PathBuf> {
    [folder.join(file), folder.join(format!("{file}.gz"))]
        .into_iter()
        .find(|path| path.is_file())
}
