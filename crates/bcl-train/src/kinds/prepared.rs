//! The data of recipes, loaded once for all runs that share them.

use super::{Kind, Phases, Run};
use crate::{
    error::Error,
    logging::Loggers,
    processes::{on_first, refuse_differences},
    training::{DataRecord, RunFolder, Stop},
};
use bcl_backend::Backend;
use bcl_collective::Collective;
use bcl_data::{KnownIds, SearchPath};
use bcl_eval::EvaluationError;
use bcl_files::notice::working;
use bcl_images::ImageError;
use bcl_methods::batches::message;
use bcl_recipe::{Recipe, of_kind};
use bcl_report::result::{Chosen, EpochRecord, RunResult};
use serde::{Serialize, de::DeserializeOwned};
use std::{
    fmt::Debug,
    panic::{self, AssertUnwindSafe},
    path::Path,
    sync::Arc,
};

/// The data of a recipe, and all that runs on them share. Threads may share it.
#[derive(Debug)]
pub struct Prepared(Box<dyn Runs>);

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

impl Prepared {
    /// Loads the data of a recipe and, on process 0, computes the baselines of interactions.
    ///
    /// # Errors
    /// Returns an error if the data cannot be read, or a baseline cannot be fitted to them.
    pub fn load(recipe: &Recipe, search: &SearchPath, processes: &dyn Collective) -> Result<Self, Error> {
        of_kind!(recipe, recipe => load(&**recipe, search, KnownIds::default(), |_, _| Ok(()), processes))
    }

    /// As [`load`](Self::load), to continue what is in `folder`: the data must match its `record`. Rows in another order are
    /// the same data.
    ///
    /// # Errors
    /// As [`load`](Self::load). Also returns an error that names the differences if the data differ.
    pub fn load_again(
        recipe: &Recipe,
        search: &SearchPath,
        record: &DataRecord,
        folder: &Path,
        processes: &dyn Collective,
    ) -> Result<Self, Error> {
        let check = |found: &DataRecord, source: &str| record.check(&found.identity, source, folder);
        of_kind!(recipe, recipe => load(&**recipe, search, record.known_ids(), check, processes))
    }

    /// The record of these data for run folders.
    pub fn record(&self) -> &DataRecord {
        self.0.record()
    }

    /// Whether these are the data of a recipe.
    ///
    /// # Errors
    /// Returns an error if a file of the recipe is missing.
    pub fn serves(&self, recipe: &Recipe, search: &SearchPath) -> Result<bool, Error> {
        self.0.serves(recipe, search)
    }

    /// Checks that a recipe fits its data, the memory of each of so many processes, and its initial weights. An error found here leaves no folder behind.
    ///
    /// # Errors
    /// Returns an error that gives the reason if something does not fit.
    pub fn check(&self, recipe: &Recipe, search: &SearchPath, backend: &Backend, num_processes: usize) -> Result<(), Error> {
        self.0.check(recipe, search, backend, num_processes)
    }

    /// Checks that several processes can share the batches of a recipe, and that all of them have the same one, the same data and the same program.
    ///
    /// # Errors
    /// Returns an error on all processes if not.
    pub fn refuse_processes(&self, recipe: &Recipe, processes: &dyn Collective) -> Result<(), Error> {
        self.0.refuse_processes(recipe, processes)
    }

    /// Trains and evaluates, continuing from the newest checkpoint in the folder, and writes the result there.
    ///
    /// # Errors
    /// Returns an error if recipe or disk do not allow it, the loss diverges, the program panics, or the run is interrupted. What was
    /// written stays.
    ///
    /// # Panics
    /// Panics if these are not the data of the recipe.
    pub fn finish(&self, recipe: &Recipe, around: &Surroundings<'_>) -> Result<RunResult, Error> {
        around.ending_in_errors(|| self.0.finish(recipe, around))
    }

    /// Whether a run of a recipe with the records of a finished run that had fewer epochs would train no further.
    ///
    /// # Panics
    /// As [`finish`](Self::finish).
    pub fn is_over(&self, recipe: &Recipe, records: &[EpochRecord]) -> bool {
        self.0.is_over(recipe, records)
    }

    /// Trains on a part of train and evaluates on the rest of it, to choose between recipes; test is not looked at. See [`Run::select`].
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    ///
    /// # Panics
    /// As [`finish`](Self::finish).
    pub fn select(&self, recipe: &Recipe, around: &Surroundings<'_>) -> Result<Chosen, Error> {
        around.ending_in_errors(|| self.0.select(recipe, around))
    }
}

/// [`Prepared`] for any kind.
trait Runs: Debug + Send + Sync {
    fn record(&self) -> &DataRecord;
    fn serves(&self, recipe: &Recipe, search: &SearchPath) -> Result<bool, Error>;
    fn check(&self, recipe: &Recipe, search: &SearchPath, backend: &Backend, num_processes: usize) -> Result<(), Error>;
    fn refuse_processes(&self, recipe: &Recipe, processes: &dyn Collective) -> Result<(), Error>;
    fn finish(&self, recipe: &Recipe, around: &Surroundings<'_>) -> Result<RunResult, Error>;
    fn select(&self, recipe: &Recipe, around: &Surroundings<'_>) -> Result<Chosen, Error>;
    fn is_over(&self, recipe: &Recipe, records: &[EpochRecord]) -> bool;
}

/// The data of one kind.
#[derive(Debug)]
struct Loaded<K: Kind> {
    /// The recipe that they were loaded for.
    recipe: K,
    source: String,
    record: DataRecord,
    data: Arc<K::Data>,
    shared: K::Shared,
}

fn load<K: Kind>(
    recipe: &K,
    search: &SearchPath,
    ids: KnownIds,
    check: impl Fn(&DataRecord, &str) -> Result<(), Error>,
    processes: &dyn Collective,
) -> Result<Prepared, Error> {
    recipe.memory_of_data().check()?;
    let loading = working(format!("loading the data of {}", recipe.name()));
    let source = recipe.source(search)?;
    let data = recipe.load(search, ids)?;
    let record = K::data_record(&data);
    check(&record, &source)?;
    drop(loading);
    Ok(Prepared(Box::new(Loaded {
        recipe: recipe.clone(),
        source,
        record,
        shared: if processes.is_first() {
            recipe.share(&data)?
        } else {
            K::Shared::default()
        },
        data: Arc::new(data),
    })))
}

impl<K: Kind> Loaded<K> {
    fn expect<'a>(&self, recipe: &'a Recipe) -> &'a K {
        let fitting = recipe.as_kind();
        fitting.unwrap_or_else(|| panic!("recipe {} trains on other data than {}", recipe.name(), self.source))
    }

    fn run<'a>(&'a self, recipe: &'a Recipe, data_digest: String, around: &'a Surroundings<'a>) -> Run<'a, K> {
        Run {
            recipe: self.expect(recipe),
            recipe_hash: recipe.hash(),
            data_digest,
            data: self.data.clone(),
            around,
        }
    }
}

impl<K: Kind> Runs for Loaded<K> {
    fn record(&self) -> &DataRecord {
        &self.record
    }

    fn serves(&self, recipe: &Recipe, search: &SearchPath) -> Result<bool, Error> {
        match recipe.as_kind::<K>() {
            Some(recipe) if recipe.shares_data_with(&self.recipe) => Ok(recipe.source(search)? == self.source),
            _ => Ok(false),
        }
    }

    fn check(&self, recipe: &Recipe, search: &SearchPath, backend: &Backend, num_processes: usize) -> Result<(), Error> {
        let recipe = self.expect(recipe);
        recipe.memory(&self.data, num_processes).check_on(backend.info())?;
        recipe.check_data(&self.data, search, backend)
    }

    fn refuse_processes(&self, recipe: &Recipe, processes: &dyn Collective) -> Result<(), Error> {
        self.expect(recipe).check_processes(processes.size())?;
        let facts = [
            ("version of bcl-train", env!("CARGO_PKG_VERSION").to_owned()),
            ("recipe", recipe.hash()),
            ("seed", recipe.seed().to_string()),
            ("data set", self.record.identity.digest()),
        ];
        refuse_differences(processes, &facts)
    }

    fn finish(&self, recipe: &Recipe, around: &Surroundings<'_>) -> Result<RunResult, Error> {
        self.refuse_processes(recipe, &*around.processes)?;
        self.run(recipe, self.record.identity.digest(), around).finish(&self.shared)
    }

    fn select(&self, recipe: &Recipe, around: &Surroundings<'_>) -> Result<Chosen, Error> {
        self.refuse_processes(recipe, &*around.processes)?;
        // A checkpoint of this does not serve a run on all of train.
        let digest = format!("{}, judged on a part of train", self.record.identity.digest());
        self.run(recipe, digest, around).select()
    }

    fn is_over(&self, recipe: &Recipe, records: &[EpochRecord]) -> bool {
        Phases::new(self.expect(recipe), &self.data).are_over(records)
    }
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
    fn ending_in_errors<T>(&self, run: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
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
