//! Every look at the test set, so that readers can tell how often a table was made before it was shown.

use bcl_files::input::{self, MOST_WHOLE};
use bcl_report::result::Environment;
use bcl_train::error::Error;
use serde::{Deserialize, Serialize};
use std::path::Path;

const FILE: &str = "looks.json";

/// A look at the test set. The same command continued by the same build is one look.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look {
    /// The command.
    pub command: String,
    /// Number of test seeds.
    pub seeds: usize,
    /// Version of the program.
    pub version: String,
    /// Revision of its source, if it was known at build time.
    pub git_revision: Option<String>,
}

impl Look {
    /// A look by this build.
    pub(super) fn new(command: &str, seeds: usize, environment: &Environment) -> Self {
        Self {
            command: command.to_owned(),
            seeds,
            version: environment.version.clone(),
            git_revision: environment.git_revision.clone(),
        }
    }

    /// Records the look in the folder of a table, and returns all looks so far. Requires the folder's lock.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or written.
    pub(super) fn record(self, out: &Path) -> Result<Vec<Self>, Error> {
        let path = out.join(FILE);
        let mut looks: Vec<Self> = if path.is_file() {
            let text = input::read(&path, MOST_WHOLE).map_err(Error::io("read", &path))?;
            serde_json::from_slice(&text)
                .map_err(|error| Error::Input(format!("{} is broken: {error}; choose another --out", path.display())))?
        } else {
            Vec::new()
        };
        if looks.last() != Some(&self) {
            looks.push(self);
            bcl_files::write_json(&path, &looks)?;
        }
        Ok(looks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_continued_look_is_the_same_and_another_number_of_seeds_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let look = |seeds| Look {
            command: "bcl-bench table 10".to_owned(),
            seeds,
            version: "0.1.0".to_owned(),
            git_revision: None,
        };
        assert_eq!(look(3).record(folder.path()).unwrap(), [look(3)]);
        assert_eq!(look(3).record(folder.path()).unwrap(), [look(3)]);
        assert_eq!(look(8).record(folder.path()).unwrap(), [look(3), look(8)]);
        std::fs::write(folder.path().join(FILE), "[").unwrap();
        let error = look(8).record(folder.path()).unwrap_err().to_string();
        assert!(error.contains(FILE) && error.contains("--out"), "{error}");
    }
}
