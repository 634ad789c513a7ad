//! Finds the files that `[data]` names.

use super::{DataConfig, DataSource};
use bcl_data::{DataError, SearchPath, Source};
use std::{
    fs,
    path::{Path, PathBuf},
};

impl DataConfig {
    /// The files that the keys name, where they are found. The files of a data set with a name are not among them.
    ///
    /// # Errors
    /// Returns an error if a file is missing.
    ///
    /// # Panics
    /// Panics if [`check`](Self::check) fails.
    pub fn files(&self, search: &SearchPath) -> Result<Vec<PathBuf>, DataError> {
        let mut files = match self.located(search)? {
            DataSource::Files(source, _) => source.files().into_iter().map(Path::to_path_buf).collect(),
            DataSource::Planted(_) | DataSource::Named(..) => Vec::new(),
        };
        if let Some(items) = &self.items {
            files.push(search.find("data.items", items)?);
        }
        Ok(files)
    }

    /// The source, with the paths at which its files were found.
    pub(super) fn located(&self, search: &SearchPath) -> Result<DataSource, DataError> {
        let source = match self.source().unwrap_or_else(|refusal| panic!("{refusal}")) {
            DataSource::Files(Source::Split { train, test }, options) => {
                let train = search.find("data.train", &train)?;
                let test = search.find("data.test", &test)?;
                DataSource::Files(Source::Split { train, test }, options)
            }
            DataSource::Files(Source::Whole { files, split }, options) => {
                let files = if self.file.is_some() {
                    vec![search.find("data.file", &files[0])?]
                } else {
                    all(search, &files)?
                };
                DataSource::Files(Source::Whole { files, split }, options)
            }
            other => other,
        };
        Ok(source)
    }
}

/// The files of `data.files`, with those that a `*` stands for in the order of their names.
fn all(search: &SearchPath, files: &[PathBuf]) -> Result<Vec<PathBuf>, DataError> {
    let mut found: Vec<PathBuf> = Vec::new();
    for file in files {
        let matching = match file.file_name().and_then(|name| name.to_str()) {
            Some(pattern) if pattern.contains('*') => matching(search, file, pattern)?,
            _ => vec![search.find("data.files", file)?],
        };
        if let Some(path) = matching.iter().find(|path| found.contains(path)) {
            return Err(DataError::file(path, "data.files names this file twice. Remove it once"));
        }
        found.extend(matching);
    }
    Ok(found)
}

fn matching(search: &SearchPath, file: &Path, pattern: &str) -> Result<Vec<PathBuf>, DataError> {
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    let folder = search.find("data.files", parent.unwrap_or(Path::new(".")))?;
    let failed = |error| DataError::unreadable(&folder, &error);
    let mut found = Vec::new();
    for entry in fs::read_dir(&folder).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        if name.to_str().is_some_and(|name| matches(pattern, name)) {
            found.push(folder.join(name));
        }
    }
    found.sort();
    if found.is_empty() {
        let remedy = "Correct data.files, or name the folder that has it with --data DIR";
        return Err(DataError::file(
            &folder,
            format!("no file `{pattern}` in this folder. {remedy}"),
        ));
    }
    Ok(found)
}

/// Whether a name matches a pattern, in which each `*` stands for any text. As in a shell, it does not stand for the dot of a hidden file.
fn matches(pattern: &str, name: &str) -> bool {
    if name.starts_with('.') && !pattern.starts_with('.') {
        return false;
    }
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, names, others) in [
            (
                "part-*.csv",
                &["part-1.csv", "part-.csv", "part-a-b.csv"][..],
                &["part-1.csv.gz", "apart-1.csv", "part-1.tsv"][..],
            ),
            ("*", &["a", "a.csv"], &[".hidden"]),
            ("a*b*c", &["abc", "a1b2c", "abbc"], &["acb", "ab", "xabc"]),
            ("a*a", &["aa", "aba"], &["a", "ab"]),
            (".*", &[".hidden"], &["a"]),
        ] {
            assert!(names.iter().all(|name| matches(pattern, name)), "{pattern}");
            assert!(!others.iter().any(|name| matches(pattern, name)), "{pattern}");
        }
    }

    #[test]
    fn files_are_found_in_the_order_of_the_list_and_of_their_names() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("days")).unwrap();
        for name in ["days/2.csv", "days/1.csv", "days/notes.txt", "first.csv"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let search = SearchPath::new(None, folder.path());
        let found = |files: &[&str]| all(&search, &files.iter().map(PathBuf::from).collect::<Vec<_>>());
        let expected = ["first.csv", "days/1.csv", "days/2.csv"].map(|name| folder.path().join(name));
        assert_eq!(found(&["first.csv", "days/*.csv"]).unwrap(), expected);

        let error = found(&["days/*.tsv"]).unwrap_err().to_string();
        assert!(
            error.contains("days") && error.contains("`*.tsv`") && error.contains("data.files"),
            "{error}"
        );
        let error = found(&["days/1.csv", "days/*.csv"]).unwrap_err().to_string();
        assert!(error.contains("1.csv") && error.contains("twice"), "{error}");
        let error = found(&["nights/*.csv"]).unwrap_err().to_string();
        assert!(error.contains("nights"), "{error}");
    }
}
