//! Finds the folders of finished runs.

use super::ReportError;
use bcl_files::shell_quoted;
use std::{
    collections::BTreeSet,
    fmt, fs, io,
    path::{Path, PathBuf},
};

/// Finished runs, and the paths that were skipped.
#[derive(Debug, Default)]
pub struct FoundRuns {
    /// Run folders in the order of the given paths; below one path, sorted by name.
    pub runs: Vec<PathBuf>,
    /// Paths that are not folders of finished runs.
    pub skipped: Vec<Skipped>,
    seen: BTreeSet<PathBuf>,
}

/// A path that was skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// The path.
    pub path: PathBuf,
    /// Why it was skipped.
    pub reason: String,
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "skipping {}: {}", self.path.display(), self.reason)
    }
}

/// Finds the finished runs at and below `paths`. Each run is listed once, even if symbolic links form a cycle.
///
/// Skips files among `paths`, unfinished runs, folders that cannot be read, and `bcl-bench` tables, unless `paths` names the
/// table itself.
///
/// # Errors
/// Returns an error if a path does not exist or no finished run is found.
pub fn find_runs(paths: &[PathBuf]) -> Result<FoundRuns, ReportError> {
    let mut found = FoundRuns::default();
    for path in paths {
        let about = fs::metadata(path).map_err(|source| ReportError::Read {
            path: path.clone(),
            source,
        })?;
        if about.is_dir() {
            found.walk(path, true);
        } else {
            found.skip(path, "it is not a run folder");
        }
    }
    match (&found.runs[..], paths) {
        ([], [first, ..]) => Err(ReportError::NotFinished {
            path: found.skipped.first().map_or(first, |skipped| &skipped.path).clone(),
        }),
        _ => Ok(found),
    }
}

impl FoundRuns {
    fn walk(&mut self, folder: &Path, is_named: bool) {
        let here = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
        if !self.seen.insert(here) {
            return;
        }
        if folder.join("result.json").symlink_metadata().is_ok() {
            self.runs.push(folder.to_path_buf());
        } else if folder.join("recipe.toml").is_file() {
            let reason = format!(
                "the run is not finished; continue it with: bcl-train --resume {}",
                shell_quoted(folder.display())
            );
            self.skip(folder, &reason);
        } else if !is_named
            && ["plan.json", "sensitivity.json"]
                .iter()
                .any(|file| folder.join(file).is_file())
        {
            let reason = format!(
                "it is a benchmark table; show it with `bcl-bench report {}`, or pass this folder to see its runs",
                shell_quoted(folder.display())
            );
            self.skip(folder, &reason);
        } else {
            match folders_in(folder) {
                Ok(folders) => folders.iter().for_each(|folder| self.walk(folder, false)),
                Err(error) => self.skip(folder, &format!("it cannot be read: {error}")),
            }
        }
    }

    fn skip(&mut self, path: &Path, reason: &str) {
        self.skipped.push(Skipped {
            path: path.to_path_buf(),
            reason: reason.to_owned(),
        });
    }
}

/// The subfolders of a folder, sorted by name.
fn folders_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries: Vec<fs::DirEntry> = fs::read_dir(folder)?.collect::<io::Result<_>>()?;
    let mut folders: Vec<PathBuf> = entries.iter().map(fs::DirEntry::path).filter(|path| path.is_dir()).collect();
    folders.sort();
    Ok(folders)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_with(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        folder
    }

    fn names(folder: &Path, paths: &[PathBuf]) -> Vec<String> {
        let short = |path: &PathBuf| path.strip_prefix(folder).unwrap().display().to_string();
        paths.iter().map(short).collect()
    }

    #[test]
    fn runs_are_found_below_a_folder_and_other_folders_are_listed() {
        let folder = folder_with(&[
            "b/y-0/result.json",
            "b/x-0/result.json",
            "a-0/result.json",
            "a-0/checkpoints/old/result.json",
            "c-0/recipe.toml",
            "table/plan.json",
            "table/test/z-0/result.json",
            "report.html",
        ]);
        let root = folder.path();
        let found = find_runs(&[root.to_path_buf()]).unwrap();
        assert_eq!(names(root, &found.runs), ["a-0", "b/x-0", "b/y-0"]);
        let skipped: Vec<PathBuf> = found.skipped.iter().map(|skipped| skipped.path.clone()).collect();
        assert_eq!(names(root, &skipped), ["c-0", "table"]);
        assert!(found.skipped[0].reason.contains("--resume"));

        // As the shell expands `runs/*`. A run that is named twice is listed once.
        let paths = ["a-0", "b", "b/x-0", "report.html", "table"].map(|name| root.join(name));
        let found = find_runs(&paths).unwrap();
        assert_eq!(names(root, &found.runs), ["a-0", "b/x-0", "b/y-0", "table/test/z-0"]);
        assert!(found.skipped[0].to_string().ends_with("report.html: it is not a run folder"));
    }

    #[test]
    fn folders_without_results_and_missing_ones_are_refused() {
        let folder = folder_with(&["c-0/recipe.toml", "notes.txt"]);
        let error = |name: &str| find_runs(&[folder.path().join(name)]).unwrap_err().to_string();
        assert!(error("c-0").contains("no result.json") && error("c-0").contains("--resume"));
        assert!(error("notes.txt").contains("notes.txt") && error("").contains("no result.json"));
        assert!(error("nowhere").contains("nowhere: cannot be read"));
    }

    #[test]
    fn a_command_quotes_a_folder_with_a_space() {
        let folder = folder_with(&["a-0/result.json", "my run-0/recipe.toml"]);
        let found = find_runs(&[folder.path().to_path_buf()]).unwrap();
        let reason = &found.skipped[0].reason;
        assert!(reason.contains("--resume '") && reason.ends_with("my run-0'"), "{reason}");
    }

    #[cfg(unix)]
    #[test]
    fn links_in_a_circle_end() {
        let folder = folder_with(&["a-0/result.json", "b/c/x-0/result.json"]);
        std::os::unix::fs::symlink(folder.path(), folder.path().join("b/up")).unwrap();
        std::os::unix::fs::symlink(folder.path(), folder.path().join("b/c/up")).unwrap();
        let found = find_runs(&[folder.path().to_path_buf()]).unwrap();
        assert_eq!(names(folder.path(), &found.runs), ["a-0", "b/c/x-0"]);
    }
}
