//! Several results of the same measurement, put together as rounds.

use super::{Case, Results, ResultsError};
use crate::differences::differences;
use std::path::PathBuf;

/// Results with all rounds of their sources, and what is to be said of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Gathered {
    /// What every source has measured.
    pub results: Results,
    /// How the sources differ.
    pub warnings: Vec<String>,
}

impl Results {
    /// Puts together sources with their paths, in their order; each adds its rounds.
    ///
    /// What is not in every source is left out, because the first round of one case should be the first of all.
    ///
    /// # Errors
    /// When they measured different things, or share no case.
    ///
    /// # Panics
    /// When there is no source.
    pub fn gather(sources: Vec<(PathBuf, Self)>) -> Result<Gathered, ResultsError> {
        let mut sources = sources.into_iter();
        let (first_path, mut results) = sources.next().expect("at least one source");
        let mut warnings = Vec::new();
        for (path, next) in sources {
            results.check_same(&first_path, &next, &path)?;
            let revisions = (&results.environment.revision, &next.environment.revision);
            if revisions.0 != revisions.1 {
                warnings.push(format!(
                    "{} is of another revision than {}",
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
                warnings.push(format!("{} is not in every source and left out", case.name));
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
