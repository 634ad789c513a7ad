//! The data of recipes, loaded once for all runs that share them.

use super::{Kind, Phases, Run, Surroundings};
use crate::{error::Error, processes::refuse_differences, training::DataRecord};
use bcl_backend::Backend;
use bcl_collective::Collective;
use bcl_data::{KnownIds, SearchPath};
use bcl_files::notice::working;
use bcl_recipe::{Recipe, of_kind};
use bcl_report::result::{Chosen, EpochRecord, RunResult};
use std::{fmt::Debug, path::Path, sync::Arc};

/// Loads the data of a recipe and, on process 0, computes the baselines of interactions.
///
/// # Errors
/// Returns an error if the data cannot be read, or a baseline cannot be fitted to them.
pub fn prepare(recipe: &Recipe, search: &SearchPath, processes: &dyn Collective) -> Result<Box<dyn Prepared>, Error> {
    of_kind!(recipe, recipe => load(&**recipe, search, KnownIds::default(), |_, _| Ok(()), processes))
}

/// As [`prepare`], to continue what is in `folder`: the data must match its `record`. Rows in another order are the same data.
///
/// # Errors
/// As [`prepare`]. Also returns an error that names the differences if the data differ.
pub fn prepare_again(
    recipe: &Recipe,
    search: &SearchPath,
    record: &DataRecord,
    folder: &Path,
    processes: &dyn Collective,
) -> Result<Box<dyn Prepared>, Error> {
    let check = |found: &DataRecord, source: &str| record.check(&found.identity, source, folder);
    of_kind!(recipe, recipe => load(&**recipe, search, record.known_ids(), check, processes))
}

/// The data of a recipe, loaded once for all runs that share them, and what these runs share. Threads may share it.
///
/// [`serves`](Self::serves) tells whether these are the data of a recipe; all other functions that take one panic if they are not.
pub trait Prepared: Debug + Send + Sync {
    /// The record of these data for run folders.
    fn record(&self) -> &DataRecord;

    /// Whether these are the data of a recipe.
    ///
    /// # Errors
    /// Returns an error if a file of the recipe is missing.
    fn serves(&self, recipe: &Recipe, search: &SearchPath) -> Result<bool, Error>;

    /// Checks that a recipe fits its data, the memory of each of so many processes, and its initial weights. An error found here leaves no
    /// folder behind.
    ///
    /// # Errors
    /// Returns an error that gives the reason if something does not fit.
    fn check(&self, recipe: &Recipe, search: &SearchPath, backend: &Backend, num_processes: usize) -> Result<(), Error>;

    /// Checks that several processes can share the batches of a recipe, and that all of them have the same one, the same data and the same
    /// program.
    ///
    /// # Errors
    /// Returns an error on all processes if not.
    fn refuse_processes(&self, recipe: &Recipe, processes: &dyn Collective) -> Result<(), Error>;

    /// Trains and evaluates, continuing from the newest checkpoint in the folder, and writes the result there.
    ///
    /// # Errors
    /// Returns an error if recipe or disk do not allow it, the loss diverges, the program panics, or the run is interrupted. What was
    /// written stays.
    fn finish(&self, recipe: &Recipe, around: &Surroundings<'_>) -> Result<RunResult, Error>;

    /// Trains on a part of train and evaluates on the rest of it, to choose between recipes; test is not looked at. See [`Run::select`].
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    fn select(&self, recipe: &Recipe, around: &Surroundings<'_>) -> Result<Chosen, Error>;

    /// Whether a run of a recipe with the records of a finished run that had fewer epochs would train no further.
    fn is_over(&self, recipe: &Recipe, records: &[EpochRecord]) -> bool;
}

/// The data of one kind.
#[derive(Debug)]
struct OfKind<K: Kind> {
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
) -> Result<Box<dyn Prepared>, Error> {
    recipe.memory_of_data().check()?;
    let loading = working(format!("loading the data of {}", recipe.name()));
    let source = recipe.source(search)?;
    let data = recipe.load(search, ids)?;
    let record = K::data_record(&data);
    check(&record, &source)?;
    drop(loading);
    Ok(Box::new(OfKind {
        recipe: recipe.clone(),
        source,
        record,
        shared: if processes.is_first() {
            recipe.share(&data)?
        } else {
            K::Shared::default()
        },
        data: Arc::new(data),
    }))
}

impl<K: Kind> OfKind<K> {
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

impl<K: Kind> Prepared for OfKind<K> {
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
        let run = self.run(recipe, self.record.identity.digest(), around);
        around.ending_in_errors(|| run.finish(&self.shared))
    }

    fn select(&self, recipe: &Recipe, around: &Surroundings<'_>) -> Result<Chosen, Error> {
        self.refuse_processes(recipe, &*around.processes)?;
        // A checkpoint of this does not serve a run on all of train.
        let digest = format!("{}, judged on a part of train", self.record.identity.digest());
        let run = self.run(recipe, digest, around);
        around.ending_in_errors(|| run.select())
    }

    fn is_over(&self, recipe: &Recipe, records: &[EpochRecord]) -> bool {
        Phases::new(self.expect(recipe), &self.data).are_over(records)
    }
}
