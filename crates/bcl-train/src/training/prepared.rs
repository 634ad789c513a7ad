//! Data that recipes name, loaded once for all runs on them.

use super::{
    Baselines, ImageRun, KeptData, Run, RunFolder, Stop,
    images::{baselines::JudgedBaselines, start},
    recommender::baselines::baselines,
};

use crate::{
    batches::message,
    error::Error,
    memory,
    recipe::{DataConfig, EvaluationConfig, ImageDataConfig, ImageRecipe, Recipe},
};
use bcl_backend::{Backend, DeviceKind};
use bcl_data::{InteractionData, KnownIds, SearchPath, Seed};
use bcl_eval::{
    EvaluationError,
    images::{has_judges, judges_off},
};
use bcl_images::{ImageData, hold_out};
use bcl_report::{
    notice::{self, working},
    result::{Chosen, RunResult},
};
use std::{
    panic::{self, AssertUnwindSafe},
    path::Path,
    sync::{Arc, Mutex},
};

/// Share of the training images that [`Prepared::select`] judges on.
const IMAGE_VALIDATION: f64 = 0.2;

/// The data of a recipe, and what runs on them have in common. Threads may share it.
#[derive(Debug)]
pub struct Prepared {
    /// What was loaded, in words.
    source: String,
    kept: KeptData,
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
    /// Where files that the recipe names are looked for.
    pub search: &'a SearchPath,
    /// Where to compute.
    pub backend: &'a Backend,
    /// Whether to show no progress.
    pub quiet: bool,
    /// Stops the run after the step under way.
    pub stop: Stop,
}

impl Prepared {
    /// Loads the data of a recipe and computes the baselines of interactions.
    ///
    /// # Errors
    /// When data cannot be read, or a baseline cannot be fitted to them.
    pub fn load(recipe: &Recipe, search: &SearchPath) -> Result<Self, Error> {
        Self::read(recipe, search, KnownIds::default(), |_, _| Ok(()))
    }

    /// As [`load`](Self::load), for what goes on in `folder`: the data must be those that were `kept` there. Rows in another order are
    /// the same data.
    ///
    /// # Errors
    /// As [`load`](Self::load), and when the data are others: names what differs.
    pub fn load_again(recipe: &Recipe, search: &SearchPath, kept: &KeptData, folder: &Path) -> Result<Self, Error> {
        Self::read(recipe, search, kept.known_ids(), |found, source| {
            kept.check(&found.identity, source, folder)
        })
    }

    fn read(
        recipe: &Recipe,
        search: &SearchPath,
        ids: KnownIds,
        check: impl Fn(&KeptData, &str) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        memory::of_data(recipe).check()?;
        let loading = working(format!("loading the data of {}", recipe.name()));
        match recipe {
            Recipe::Recommender(recipe) => {
                let source = recipe.data.described(search)?;
                let data = Box::new(recipe.data.load(search, ids)?);
                let kept = KeptData::of_interactions(&data);
                check(&kept, &source)?;
                drop(loading);
                let data = Data::Interactions {
                    config: recipe.data.clone(),
                    evaluation: recipe.evaluation.clone(),
                    baselines: baselines(&data, &recipe.evaluation)?,
                    data,
                };
                Ok(Self { source, kept, data })
            }
            Recipe::Images(recipe) => {
                let source = recipe.data.described(search)?;
                let data = recipe.data.load(search)?;
                let kept = KeptData::of_images(&data);
                check(&kept, &source)?;
                if let Some(text) = judges_off(&data) {
                    notice::note(text);
                }
                let data = Data::Images {
                    config: recipe.data.clone(),
                    data: Arc::new(data),
                    judged: Mutex::default(),
                };
                Ok(Self { source, kept, data })
            }
        }
    }

    /// What a run on these data keeps of them.
    pub fn kept(&self) -> &KeptData {
        &self.kept
    }

    /// Whether these are the data of a recipe.
    ///
    /// # Errors
    /// When a file that the recipe names is not there.
    pub fn serves(&self, recipe: &Recipe, search: &SearchPath) -> Result<bool, Error> {
        Ok(match (&self.data, recipe) {
            (Data::Interactions { config, evaluation, .. }, Recipe::Recommender(recipe)) => {
                *config == recipe.data && *evaluation == recipe.evaluation && self.source == recipe.data.described(search)?
            }
            (Data::Images { config, .. }, Recipe::Images(recipe)) => {
                *config == recipe.data && self.source == recipe.data.described(search)?
            }
            _ => false,
        })
    }

    /// Checks that a recipe fits its data and the weights that it starts from: what is found here leaves no folder behind.
    ///
    /// # Errors
    /// Says what does not fit.
    pub fn check(&self, recipe: &Recipe, search: &SearchPath, backend: &Backend) -> Result<(), Error> {
        if backend.info().kind == DeviceKind::Processor {
            self.needs(recipe).check()?;
        }
        let (Data::Images { data, .. }, Recipe::Images(recipe)) = (&self.data, recipe) else {
            return Ok(());
        };
        start::check(recipe, data)?;
        // Without any weights there is nothing to find out.
        if recipe.encoder.weights().is_some() {
            let (_, report) = start::initial_with_report(recipe, search, &backend.device())?;
            report.into_iter().for_each(notice::note);
        }
        Ok(())
    }

    /// What a run needs beside the data, which are in memory by now.
    fn needs(&self, recipe: &Recipe) -> memory::Estimate {
        match (&self.data, recipe) {
            (Data::Interactions { data, .. }, Recipe::Recommender(recipe)) => {
                memory::recommender::training(recipe, (&**data).into())
            }
            (Data::Images { data, .. }, Recipe::Images(recipe)) => memory::images::training(recipe, (&**data).into()),
            _ => memory::Estimate::default(),
        }
    }

    /// Trains and evaluates, going on from the newest checkpoint in the folder, and writes the result there.
    ///
    /// # Errors
    /// When recipe or disk do not allow it, the loss diverges, these are not the data of the recipe, the program panics, or the run is
    /// interrupted; what was written stays.
    pub fn finish(&self, recipe: &Recipe, around: &Surroundings<'_>) -> Result<RunResult, Error> {
        let hash = &recipe.hash();
        let digest = &self.kept.identity.digest();
        around.ending_in_errors(|| match (&self.data, recipe) {
            (Data::Interactions { data, baselines, .. }, Recipe::Recommender(recipe)) => {
                around.recommender(recipe, [hash, digest], data).finish(baselines.clone())
            }
            (Data::Images { data, judged, .. }, Recipe::Images(recipe)) => {
                around.images(recipe, [hash, digest], data).finish(judged)
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
        // A checkpoint of this does not serve a run on all of train.
        let digest = &format!("{}, judged on a part of train", self.kept.identity.digest());
        around.ending_in_errors(|| match (&self.data, recipe) {
            (Data::Interactions { data, .. }, Recipe::Recommender(recipe)) => {
                around.recommender(recipe, [hash, digest], data).select()
            }
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
                around.images(recipe, [hash, digest], &held_out).figures()
            }
            _ => panic!("recipe {} is trained on other data than these", recipe.name()),
        })
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

    fn images<'a>(
        &'a self,
        recipe: &'a ImageRecipe,
        [recipe_hash, data_digest]: [&'a str; 2],
        data: &'a Arc<ImageData>,
    ) -> ImageRun<'a> {
        ImageRun {
            recipe,
            recipe_hash,
            data_digest,
            data,
            search: self.search,
            folder: self.folder,
            backend: self.backend,
            quiet: self.quiet,
            stop: self.stop.clone(),
        }
    }

    fn recommender<'a>(
        &'a self,
        recipe: &'a crate::recipe::RecommenderRecipe,
        [recipe_hash, data_digest]: [&'a str; 2],
        data: &'a InteractionData,
    ) -> Run<'a> {
        Run {
            recipe,
            recipe_hash,
            data_digest,
            data,
            folder: self.folder,
            backend: self.backend,
            quiet: self.quiet,
            stop: self.stop.clone(),
        }
    }
}
