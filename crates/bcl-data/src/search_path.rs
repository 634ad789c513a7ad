//! The folders in which the files of a recipe are searched for.

use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The folders searched for the files that a recipe names: first the recipe's own folder, then the data folder.
///
/// Both are absolute, so a recorded search path does not depend on the current folder.
///
/// ```
/// use bcl_data::SearchPath;
///
/// let dir = tempfile::tempdir()?;
/// let [recipes, data] = ["recipes", "data"].map(|name| dir.path().join(name));
/// std::fs::create_dir_all(&recipes)?;
/// std::fs::create_dir_all(&data)?;
/// std::fs::write(data.join("likes.csv"), "")?;
/// let search = SearchPath::new(Some(&recipes), &data);
/// assert_eq!(search.find("data.file", "likes.csv".as_ref())?, data.join("likes.csv"));
///
/// std::fs::write(recipes.join("likes.csv"), "")?;
/// assert_eq!(search.find("data.file", "likes.csv".as_ref())?, recipes.join("likes.csv"));
///
/// let error = search.find("data.file", "love.csv".as_ref()).unwrap_err().to_string();
/// assert!(error.starts_with("data.file: love.csv is neither beside the recipe"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchPath {
    data_dir: PathBuf,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    recipe_dir: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    data_first: bool,
}

impl SearchPath {
    /// Creates a search path. A built-in recipe has no folder of its own (`None`). Relative folders start at the current one.
    pub fn new(recipe_dir: Option<&Path>, data_dir: &Path) -> Self {
        Self {
            data_dir: absolute(data_dir),
            recipe_dir: recipe_dir.map(absolute),
            data_first: false,
        }
    }

    /// Replaces the data folder for an existing run; the new folder is searched first.
    #[must_use]
    pub fn with_data_dir(self, data_dir: &Path) -> Self {
        Self {
            data_dir: absolute(data_dir),
            data_first: true,
            ..self
        }
    }

    /// The folder of the recipe.
    pub fn recipe_dir(&self) -> Option<&Path> {
        self.recipe_dir.as_deref()
    }

    /// The data folder, in which data sets are found by name.
    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// Finds the file or folder that a recipe names at `key`. An absolute path is used as it is.
    ///
    /// # Errors
    /// Returns [`FileNotFound`] if none of the folders contains it.
    pub fn find(&self, key: &'static str, file: &Path) -> Result<PathBuf, Box<FileNotFound>> {
        let mut paths: Vec<PathBuf> = [self.recipe_dir(), Some(self.data_dir())]
            .into_iter()
            .flatten()
            .map(|folder| folder.join(file))
            .collect();
        if self.data_first {
            paths.reverse();
        }
        // A path that cannot be checked counts as found; opening it gives the reason.
        let found = paths.into_iter().find(|path| path.try_exists().unwrap_or(true));
        found.ok_or_else(|| {
            Box::new(FileNotFound {
                key,
                file: file.to_path_buf(),
                search: self.clone(),
            })
        })
    }
}

/// A file that a recipe names is in none of the folders searched.
#[derive(Debug, thiserror::Error)]
#[error("{key}: {}", self.location())]
#[non_exhaustive]
pub struct FileNotFound {
    /// The key of the recipe.
    pub key: &'static str,
    /// The path at that key.
    pub file: PathBuf,
    /// The folders searched.
    pub search: SearchPath,
}

impl FileNotFound {
    fn location(&self) -> String {
        let (file, search) = (&self.file, &self.search);
        let name = file.display();
        if file.is_absolute() {
            return format!("{name}: no such file or folder. Correct the path.");
        }
        let data_dir = search.data_dir().display();
        let remedy = "Put it there, correct the path, or name the folder that has it with --data DIR.";
        match search.recipe_dir() {
            Some(folder) => format!(
                "{name} is neither beside the recipe ({}) nor in the data folder ({data_dir}). {remedy}",
                folder.display()
            ),
            None => format!("{name} is not in the data folder ({data_dir}). {remedy}"),
        }
    }
}

/// Makes a folder absolute. The empty path, which is the parent of `mine.toml`, is the current folder.
fn absolute(path: &Path) -> PathBuf {
    let current = path.as_os_str().is_empty();
    std::path::absolute(if current { Path::new(".") } else { path }).unwrap_or_else(|_| path.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_named_for_an_existing_run_comes_first() {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["recipes", "data", "moved"] {
            std::fs::create_dir(dir.path().join(folder)).unwrap();
            std::fs::write(dir.path().join(folder).join("likes.csv"), "").unwrap();
        }
        let search = SearchPath::new(Some(&dir.path().join("recipes")), &dir.path().join("data"));
        let moved = search.clone().with_data_dir(&dir.path().join("moved"));
        let found = |search: &SearchPath| search.find("data.file", Path::new("likes.csv")).unwrap();
        assert_eq!(found(&search), dir.path().join("recipes/likes.csv"));
        assert_eq!(found(&moved), dir.path().join("moved/likes.csv"));
        std::fs::remove_file(dir.path().join("moved/likes.csv")).unwrap();
        assert_eq!(found(&moved), dir.path().join("recipes/likes.csv"));
    }

    #[test]
    fn recorded_paths_are_absolute() {
        let search = SearchPath::new(Some(Path::new("")), Path::new("data"));
        assert!(search.recipe_dir().unwrap().is_absolute() && search.data_dir().is_absolute());
    }

    #[test]
    fn a_missing_absolute_path_is_the_only_one_named() {
        let missing = std::env::current_dir().unwrap().join("no-such-folder/likes.csv");
        let error = SearchPath::new(None, Path::new("data"))
            .find("data.train", &missing)
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            format!("data.train: {}: no such file or folder. Correct the path.", missing.display())
        );
    }

    #[test]
    fn a_built_in_recipe_has_no_folder() {
        let error = SearchPath::new(None, Path::new("data"))
            .find("data.file", Path::new("no-such-file.csv"))
            .unwrap_err()
            .to_string();
        assert!(error.contains("no-such-file.csv is not in the data folder"), "{error}");
        assert!(!error.contains("beside"), "{error}");
    }
}
