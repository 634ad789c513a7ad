//! Data that recipes name, loaded once for all runs on them.

use super::{
    Baselines, ImageRun, Run, RunFolder, Stop,
    ahead::message,
    images::{
        baselines::JudgedBaselines,
        measure::{has_judges, judges_off},
        start,
    },
    recommender::baselines::baselines,
};
use crate::{
    backend::Backend,
    error::Error,
    evaluation::EvaluationError,
    notice::{self, working},
    recipe::{DataConfig, EvaluationConfig, ImageDataConfig, ImageRecipe, Recipe},
    result::{Chosen, RunResult},
};
use bcl_data::{InteractionData, Seed};
use bcl_images::{ImageData, hold_out};
use std::{
    panic::{self, AssertUnwindSafe},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

/// Share of the training images that [`Prepared::select`] judges on.
const IMAGE_VALIDATION: f64 = 0.2;

/// The data of a recipe, and what runs on them have in common. Threads may share it.
#[derive(Debug)]
pub struct Prepared {
    dir: PathBuf,
    data: Data,
}

#[derive(Debug)]
enum Data {
    Interactions {
        config: DataConfig,
        evaluation: EvaluationConfig,
        data: Box<InteractionData>,
        baselines: Baselines,
    },
    Images {
        config: ImageDataConfig,
        data: Arc<ImageData>,
        judged: Mutex<JudgedBaselines>,
    },
}

/// What a run needs beside its recipe and its data.
#[derive(Debug, Clone)]
pub struct Surroundings<'a> {
    /// Where to write.
    pub folder: &'a RunFolder,
    /// Where to compute.
    pub backend: &'a Backend,
    /// Whether to show no progress.
    pub quiet: bool,
    /// Stops the run after the step under way.
    pub stop: Stop,
}

impl Prepared {
    /// Loads the data of a recipe, looking for files in `dir`, and computes the baselines of interactions.
    ///
    /// # Errors
    /// When data cannot be read, or a baseline cannot be fitted to them.
    pub fn load(recipe: &Recipe, dir: &Path) -> Result<Self, Error> {
        let loading = working(format!("loading the data of {}", recipe.name()));
        let data = match recipe {
            Recipe::Recommender(recipe) => {
                let data = Box::new(recipe.data.load(dir)?);
                drop(loading);
                Data::Interactions {
                    config: recipe.data.clone(),
                    evaluation: recipe.evaluation.clone(),
                    baselines: baselines(&data, &recipe.evaluation)?,
                    data,
                }
            }
            Recipe::Images(recipe) => {
                let data = Arc::new(recipe.data.load(dir)?);
                if let Some(text) = judges_off(&data) {
                    notice::note(text);
                }
                Data::Images {
                    config: recipe.data.clone(),
                    data,
                    judged: Mutex::default(),
                }
            }
        };
        Ok(Self {
            dir: dir.to_path_buf(),
            data,
        })
    }

    /// Whether these are the data of a recipe in `dir`.
    pub fn serves(&self, recipe: &Recipe, dir: &Path) -> bool {
        let same = match (&self.data, recipe) {
            (Data::Interactions { config, evaluation, .. }, Recipe::Recommender(recipe)) => {
                *config == recipe.data && *evaluation == recipe.evaluation
            }
            (Data::Images { config, .. }, Recipe::Images(recipe)) => *config == recipe.data,
            _ => false,
        };
        same && self.dir == dir
    }

    /// Checks that a recipe fits its data and the weights that it starts from: what is found here leaves no folder behind.
    ///
    /// # Errors
    /// Says what does not fit.
    pub fn check(&self, recipe: &Recipe, backend: &Backend) -> Result<(), Error> {
        let (Data::Images { data, .. }, Recipe::Images(recipe)) = (&self.data, recipe) else {
            return Ok(());
        };
        start::check(recipe, data)?;
        // Without any weights there is nothing to find out.
        if recipe.encoder.weights().is_some() {
            let (_, report) = start::initial_with_report(recipe, &self.dir, &backend.device())?;
            report.into_iter().for_each(notice::note);
        }
        Ok(())
    }

    /// Trains and evaluates, going on from the newest checkpoint in the folder, and writes the result there.
    ///
    /// # Errors
    /// When recipe or disk do not allow it, the loss diverges, these are not the data of the recipe, the program panics, or the run is
    /// interrupted; what was written stays.
    pub fn finish(&self, recipe: &Recipe, around: &Surroundings<'_>) -> Result<RunResult, Error> {
        let hash = &recipe.hash();
        around.ending_in_errors(|| match (&self.data, recipe) {
            (Data::Interactions { data, baselines, .. }, Recipe::Recommender(recipe)) => {
                around.recommender(recipe, hash, data).finish(baselines.clone())
            }
            (Data::Images { data, judged, .. }, Recipe::Images(recipe)) => {
                self.image_run(recipe, hash, data, around).finish(judged)
            }
            _ => panic!("recipe {} is trained on other data than these", recipe.name()),
        })
    }

    /// Trains on a part of train and judges on the rest of it, for choosing between recipes: test is not looked at.
    ///
    /// Of interactions it is the first phase of [`finish`](Self::finish). Of images, a fifth of each class is held out; the encoder, the
    /// probe and its neighbours see the other four.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn select(&self, recipe: &Recipe, around: &Surroundings<'_>) -> Result<Chosen, Error> {
        let hash = &recipe.hash();
        around.ending_in_errors(|| match (&self.data, recipe) {
            (Data::Interactions { data, .. }, Recipe::Recommender(recipe)) => around.recommender(recipe, hash, data).select(),
            (Data::Images { data, .. }, Recipe::Images(recipe)) => {
                let (train, test) = hold_out(&data.train, IMAGE_VALIDATION, Seed(recipe.seed).named("validation"));
                let name = format!("{}, a fifth of train held out", data.name);
                let skipped = data.skipped.clone();
                let held_out = Arc::new(ImageData {
                    name,
                    train,
                    test,
                    skipped,
                });
                start::check(recipe, &held_out)?;
                if !has_judges(&held_out) {
                    return Err(Error::Input(format!(
                        "{}: recipes are chosen between by judging features on a part of the training images, which needs images of two \
                         classes or more; put them into folders CLASS/ or train/CLASS/",
                        data.name
                    )));
                }
                self.image_run(recipe, hash, &held_out, around).figures()
            }
            _ => panic!("recipe {} is trained on other data than these", recipe.name()),
        })
    }

    fn image_run<'a>(
        &'a self,
        recipe: &'a ImageRecipe,
        recipe_hash: &'a str,
        data: &'a Arc<ImageData>,
        around: &'a Surroundings<'_>,
    ) -> ImageRun<'a> {
        ImageRun {
            recipe,
            recipe_hash,
            data,
            data_dir: &self.dir,
            folder: around.folder,
            backend: around.backend,
            quiet: around.quiet,
            stop: around.stop.clone(),
        }
    }
}

impl Surroundings<'_> {
    /// Runs something so that a panic in it is an error of this run alone, and a request to stop names its folder.
    fn ending_in_errors<T>(&self, run: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        match panic::catch_unwind(AssertUnwindSafe(run)) {
            Ok(Err(Error::Evaluation(EvaluationError::Interrupted))) => Err(Error::Interrupted(self.folder.path().to_owned())),
            Ok(outcome) => outcome,
            Err(panic) => Err(Error::Training(format!(
                "the program panicked: {}; please report this as a bug, with the recipe",
                message(&*panic)
            ))),
        }
    }

    fn recommender<'a>(
        &'a self,
        recipe: &'a crate::recipe::RecommenderRecipe,
        recipe_hash: &'a str,
        data: &'a InteractionData,
    ) -> Run<'a> {
        Run {
            recipe,
            recipe_hash,
            data,
            folder: self.folder,
            backend: self.backend,
            quiet: self.quiet,
            stop: self.stop.clone(),
        }
    }
}
