//! Kinds of runs, by the data that they train on. The kind determines how a run loads data, trains and evaluates.
//!
//! A [`Kind`] is implemented by the recipe of such runs, in its own folder. The code that all kinds share calls the trait: [`prepare`]
//! loads data once for many runs, [`Run`] trains, selects and writes the result, [`SavedRun`] loads the trained weights.

mod baseline_cache;
mod extension;
pub mod graphs;
pub mod images;
pub mod interactions;
mod phases;
mod prepared;
mod run;
mod saved;
mod surroundings;

pub use baseline_cache::BaselineCache;
pub use phases::Phases;
pub use prepared::{Prepared, prepare, prepare_again};
pub use run::{Outcome, Run, Trained};
pub use saved::{Saved, SavedRun};
pub use surroundings::Surroundings;

use crate::{
    error::Error,
    memory::Estimate,
    training::{DataRecord, phase::PhaseRun, progress::Progress, run_summary::RunSummary},
};
use bcl_backend::Backend;
use bcl_core::EstimatorConfig;
use bcl_data::{KnownIds, LoadReport, SearchPath};
use bcl_recipe::{RecoveryConfig, RunRecipe};
use bcl_report::result::{DataSize, Metrics};
use std::{collections::BTreeMap, fmt::Debug, path::Path, sync::Arc};

/// Metrics of the baselines, by name.
pub type Baselines = BTreeMap<String, Metrics>;

/// A kind of run. Its recipe implements this trait.
pub trait Kind: RunRecipe + Clone + Debug + PartialEq + Send + Sync + 'static {
    /// The training and test data.
    type Data: Debug + Send + Sync;

    /// What runs on the same data share, such as the metrics of baselines. Only process 0 needs it.
    type Shared: Debug + Default + Send + Sync;

    /// What all processes compute together before process 0 evaluates the trained encoder alone.
    type Encoded: Debug;

    /// The source of the data, for messages.
    ///
    /// # Errors
    /// Returns an error if a file is missing.
    fn source(&self, search: &SearchPath) -> Result<String, Error>;

    /// Loads the data; known ids keep their numbers.
    ///
    /// # Errors
    /// Returns an error if the data cannot be read.
    fn load(&self, search: &SearchPath, ids: KnownIds) -> Result<Self::Data, Error>;

    /// Whether a run of `other` can use the data that were loaded for this recipe.
    fn shares_data_with(&self, other: &Self) -> bool;

    /// Computes what all runs on these data share, and prints a note if evaluations will be missing.
    ///
    /// # Errors
    /// Returns an error if a baseline cannot be fitted.
    fn share(&self, data: &Self::Data) -> Result<Self::Shared, Error>;

    /// Holds out a share of the training samples, which replace the test data.
    ///
    /// # Errors
    /// Returns an error if what remains is too little to train or to evaluate on.
    fn hold_out(&self, data: &Self::Data, share: f64) -> Result<Self::Data, Error>;

    /// The name of the data set.
    fn data_name(data: &Self::Data) -> &str;

    /// The size of the data, as results record it.
    fn size(data: &Self::Data) -> DataSize;

    /// What loading left out, and what test data have that training data lack; for interactions.
    fn left_out(_: &Self::Data) -> Option<LoadReport> {
        None
    }

    /// The record by which a run recognises its data.
    fn data_record(data: &Self::Data) -> DataRecord;

    /// The memory that data need before they are loaded, if the recipe generates them.
    fn memory_of_data(&self) -> Estimate;

    /// The memory that each of so many processes needs for a run beside its data.
    fn memory(&self, data: &Self::Data, num_processes: usize) -> Estimate;

    /// Checks that the recipe fits its data and its initial weights.
    ///
    /// # Errors
    /// Returns an error that gives the reason if it does not.
    fn check_data(&self, data: &Self::Data, search: &SearchPath, backend: &Backend) -> Result<(), Error>;

    /// Checks that so many processes can share each batch.
    ///
    /// # Errors
    /// Returns an error if the share of a process is too small, or if the loss compares the anchors of a batch with each other.
    fn check_processes(&self, size: usize) -> Result<(), Error>;

    /// The name of the encoder.
    fn encoder_name(&self) -> &'static str;

    /// What is minimised, in a word or two.
    fn loss_name(&self) -> String;

    /// The estimator, if the method has negatives.
    ///
    /// # Errors
    /// Returns an error if a parameter that is taken from the data is out of range.
    fn estimator(&self, data: &Self::Data) -> Result<Option<EstimatorConfig>, Error>;

    /// How false negatives are detected, with the number of features per sample; `None` if they are not.
    fn recovery(&self) -> Option<(&RecoveryConfig, usize)> {
        None
    }

    /// The number of negatives per anchor, if the method has negatives.
    fn num_negatives(&self, data: &Self::Data) -> Option<usize>;

    /// Why no anchor of an epoch had a negative, and what to do about it.
    fn why_no_negatives(&self) -> &'static str;

    /// The number of batches per epoch.
    fn batches_per_epoch(&self, data: &Self::Data) -> usize;

    /// The metric that selects an epoch, or is shown if nothing is selected.
    fn metric(&self, data: &Self::Data) -> String;

    /// Epochs between two evaluations; 0 evaluates after the last epoch only.
    fn evaluate_every(&self) -> usize {
        1
    }

    /// Describes the run before it starts.
    fn summary(&self, data: &Self::Data, backend: &Backend, folder: &Path) -> RunSummary;

    /// Trains for one phase on its data: builds the method, the loader and the evaluation, and gives them to [`PhaseRun::train`].
    ///
    /// # Errors
    /// Returns an error if data or checkpoints cannot be read or written, the loss diverges, or the run is interrupted. Files written so
    /// far remain.
    fn train(run: &Run<'_, Self>, data: Arc<Self::Data>, phase: PhaseRun) -> Result<Progress, Error>;

    /// Encodes what the evaluation of the trained encoder needs, all processes together.
    ///
    /// # Errors
    /// Returns an error on all processes if the encoder cannot be evaluated.
    fn encode(run: &Run<'_, Self>) -> Result<Self::Encoded, Error>;

    /// The test metrics of the trained encoder, on process 0.
    ///
    /// # Errors
    /// Returns an error if the encoder cannot be evaluated.
    fn metrics(run: &Run<'_, Self>, trained: &Trained, encoded: Self::Encoded) -> Result<Metrics, Error>;

    /// The evaluation of the trained encoder for the result and the report, on process 0.
    ///
    /// # Errors
    /// As [`metrics`](Self::metrics).
    fn outcome(run: &Run<'_, Self>, trained: &Trained, encoded: Self::Encoded, shared: &Self::Shared) -> Result<Outcome, Error>;

    /// Draws the first training samples of the first epoch, each with its views, as a PNG file; `None` if samples have no views.
    ///
    /// # Errors
    /// Returns an error if the views do not fit into memory.
    fn views_picture(&self, _: &Self::Data) -> Result<Option<Vec<u8>>, Error> {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_recipe::{Recipe, RecipeSource, built_in};

    #[test]
    fn no_built_in_recipe_needs_more_than_a_large_machine_has() {
        for builtin in built_in() {
            let recipe = Recipe::read(&RecipeSource::Builtin(*builtin), &[]).unwrap();
            let (data, needed) = match &recipe {
                Recipe::Recommender(recipe) => {
                    let sizes = interactions::memory::Sizes {
                        users: 50_000,
                        items: 80_000,
                        train: 1_300_000,
                    };
                    (
                        interactions::memory::data(&recipe.data),
                        interactions::memory::training(recipe, sizes),
                    )
                }
                Recipe::Images(recipe) => {
                    let sizes = images::memory::Sizes {
                        train: 105_000,
                        evaluated: 13_000,
                    };
                    (images::memory::data(&recipe.data), images::memory::training(recipe, sizes))
                }
                Recipe::Graphs(recipe) => {
                    let planted = bcl_data::graphs::PlantedGraphsConfig::default().generate();
                    (graphs::memory::data(&recipe.data), graphs::memory::training(recipe, &planted))
                }
            };
            data.check_with(1 << 30).unwrap();
            needed
                .check_with(96 << 30)
                .unwrap_or_else(|error| panic!("{}: {error}", recipe.name()));
        }
    }
}
