//! What a run needs beside its recipe and its data.

use crate::{
    error::Error,
    logging::Loggers,
    processes::on_first,
    training::{RunFolder, Stop},
};
use bcl_backend::Backend;
use bcl_collective::Collective;
use bcl_data::SearchPath;
use bcl_eval::EvaluationError;
use bcl_images::ImageError;
use bcl_methods::batches::message;
use serde::{Serialize, de::DeserializeOwned};
use std::{
    panic::{self, AssertUnwindSafe},
    sync::Arc,
};

/// What a run needs beside its recipe and its data.
#[derive(Debug, Clone)]
pub struct Surroundings<'a> {
    /// The folder of the run.
    pub folder: &'a RunFolder,
    /// Search path of the files that the recipe names.
    pub search: &'a SearchPath,
    /// The backend that computes.
    pub backend: &'a Backend,
    /// Whether to show no progress.
    pub quiet: bool,
    /// Stops the run after the current step.
    pub stop: Stop,
    /// Loggers beside the recipe's.
    pub loggers: Loggers,
    /// The processes that train together; [`Alone`](bcl_collective::Alone) in one process. Process 0 alone writes into the folder.
    pub processes: Arc<dyn Collective>,
}

impl Surroundings<'_> {
    /// Runs `work` on process 0; see [`on_first`].
    ///
    /// # Errors
    /// As [`on_first`].
    pub fn on_first<T: Clone + Serialize + DeserializeOwned>(&self, work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        on_first(&*self.processes, work)
    }

    /// Runs a closure. A panic becomes an error of this run only, and an interrupted evaluation one that names the run's folder.
    pub(super) fn ending_in_errors<T>(&self, run: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        match panic::catch_unwind(AssertUnwindSafe(run)) {
            Ok(Err(Error::Evaluation(EvaluationError::Interrupted))) => Err(Error::Interrupted(self.folder.path().to_owned())),
            Ok(outcome) => outcome,
            Err(panic) => Err(match (panic.downcast::<ImageError>(), bcl_backend::device_failure()) {
                (Ok(unreadable), _) => Error::Images(unreadable),
                (Err(_), Some(failure)) => Error::DeviceInRun {
                    failure,
                    folder: self.folder.path().to_owned(),
                },
                (Err(panic), None) => Error::Training(format!(
                    "the program panicked: {}; please report this as a bug, with the recipe",
                    message(&*panic)
                )),
            }),
        }
    }
}
