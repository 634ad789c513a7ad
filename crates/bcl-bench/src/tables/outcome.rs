//! The outcome of a trial, saved in its folder so that it is trained only once.

use bcl_files::checksums;
use bcl_report::result::Chosen;
use bcl_train::{error::Error, training::RunFolder};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

const FILE: &str = "outcome.json";

/// The outcome of training with some settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Outcome {
    /// Metrics on held-out data.
    Chosen(Chosen),
    /// Why there are no metrics, such as a diverged loss.
    Failed(String),
}

impl Outcome {
    /// The metric of a given name, if there is one.
    pub(super) fn figure(&self, name: &str) -> Option<f64> {
        match self {
            Self::Chosen(chosen) => chosen.metrics.get(name).copied(),
            Self::Failed(_) => None,
        }
    }

    /// Reads the outcome of an earlier run, if it finished.
    pub(super) fn read(folder: &RunFolder) -> Result<Option<Self>, Error> {
        let path = file(folder);
        if !path.is_file() {
            return Ok(None);
        }
        let text = checksums::read(folder.path(), FILE)?;
        serde_json::from_slice(&text).map(Some).map_err(|error| {
            Error::Input(format!(
                "{} is broken: {error}; delete it to train that trial again",
                path.display()
            ))
        })
    }

    /// Saves the outcome for later runs.
    pub(super) fn write(&self, folder: &RunFolder) -> Result<(), Error> {
        let text = serde_json::to_vec_pretty(self).expect("an outcome is plain data");
        Ok(checksums::write(folder.path(), FILE, &text)?)
    }
}

fn file(folder: &RunFolder) -> PathBuf {
    folder.path().join(FILE)
}
