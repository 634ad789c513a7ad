//! A violation that a rule reports: file, line, problem and remedy.

use std::fmt;
use std::path::{Path, PathBuf};

/// A violation of a project rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    file: PathBuf,
    line: usize,
    what: String,
    remedy: String,
}

impl Finding {
    /// Creates a finding in `file`, relative to the workspace root, at the 1-based `line`.
    pub(crate) fn new(file: &Path, line: usize, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            file: file.to_path_buf(),
            line,
            what: what.into(),
            remedy: remedy.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}: {}\n    remedy: {}",
            self.file.display(),
            self.line,
            self.what,
            self.remedy
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_prints_location_problem_and_remedy() {
        let finding = Finding::new(Path::new("src/lib.rs"), 7, "it is crooked", "straighten it");
        assert_eq!(finding.to_string(), "src/lib.rs:7: it is crooked\n    remedy: straighten it");
    }
}
