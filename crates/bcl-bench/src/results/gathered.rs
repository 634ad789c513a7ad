//! Gathers several results of the same measurement as rounds.

use super::{Case, Results, ResultsError};
use crate::differences::differences;
use std::path::PathBuf;

/// Results with the rounds of all sources, and warnings about them.
#[derive(Debug, Clone, PartialEq)]
pub struct Gathered {
    /// The cases that are in every source.
    pub results: Results,
    /// Differences between the sources.
    pub warnings: Vec<String>,
}

impl Results {
    /// Combines sources in order; each contributes its rounds. The paths are for messages.
    ///
    /// Cases that are not in every source are left out, so that rounds of the same number come from the same source.
    ///
    /// # Errors
    /// Returns an error if the sources measured different things or have no case in common.
    ///
    /// # Panics
    /// Panics if there is no source.
    pub fn gather(sources: Vec<(PathBuf, Self)>) -> Result<Gathered, ResultsError> {
        let mut sources = sources.into_iter();
        let (first_path, mut results) = sources.next().expect("at least one source");
        let mut warnings = Vec::new();
        for (path, next) in sources {
            results.check_same(&first_path, &next, &path)?;
            let revisions = (&results.environment.revision, &next.environment.revision);
            if revisions.0 != revisions.1 {
                warnings.push(format!(
                    "{} has another revision than {}",
                    path.display(),
                    first_path.display()
                ));
            }
            for difference in differences(&results.environment, &next.environment) {
                warnings.push(format!("{}: {difference}", path.display()));
            }
            let lone = |case: &&Case| next.case(&case.name).is_none();
            let others = next.cases.iter().filter(|case| results.case(&case.name).is_none());
            for case in results.cases.iter().filter(lone).chain(others) {
                warnings.push(format!("{} is not in every source, so it is left out", case.name));
            }
            results.cases.retain_mut(|case| {
                let more = next.case(&case.name);
                case.seconds.extend(more.iter().flat_map(|case| &case.seconds));
                more.is_some()
            });
            if results.cases.is_empty() {
                let paths = [first_path, path];
                return Err(ResultsError::NothingShared { paths });
            }
        }
        Ok(Gathered { results, warnings })
    }
}
