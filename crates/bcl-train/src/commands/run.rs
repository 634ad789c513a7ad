//! Training: new runs and resumed ones.

use super::{Finished, baselines::baselines, print_table};
use crate::{
    backend::Backend,
    error::Error,
    recipe::{DataConfig, EvaluationConfig, ImageDataConfig, ImageRecipe, Recipe, RecommenderRecipe},
    report::{read_run, write_html},
    training::{
        Baselines, ImageRun, Invocation, Run, RunFolder, Stop,
        images::{baselines::JudgedBaselines, start},
    },
};
use bcl_data::InteractionData;
use bcl_images::ImageData;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// What all runs of one command share.
#[allow(missing_debug_implementations)] // Burn's interrupter has none
pub struct Session {
    /// Where to compute.
    pub backend: Backend,
    /// Where data files are looked for.
    pub data_dir: PathBuf,
    /// Where runs go.
    pub out: PathBuf,
    /// Whether to show no progress.
    pub quiet: bool,
    /// Whether to print JSON.
    pub json: bool,
    /// Stops the run under way.
    pub stop: Stop,
}

/// Trains every recipe, prints one table of all, and writes a report of each run and of the comparison.
///
/// # Errors
/// At the first run that fails; those before it are finished and on disk.
pub fn train(session: &Session, recipes: &[Recipe]) -> Result<(), Error> {
    let mut loaded = Loaded::default();
    let mut finished: Vec<(PathBuf, Finished)> = Vec::new();
    for recipe in recipes {
        // Data that cannot be read leave no folder behind.
        loaded.load(session, recipe, &session.data_dir)?;
        let invocation = Invocation {
            data_dir: session.data_dir.clone(),
            backend: session.backend.name().to_owned(),
        };
        let folder = RunFolder::create(&session.out, recipe, &invocation)?;
        loaded.finish(session, recipe, &folder, &session.data_dir)?;
        finished.push((folder.path().to_path_buf(), read_run(folder.path())?));
    }
    let runs: Vec<Finished> = finished.iter().map(|(_, run)| run.clone()).collect();
    print_table(&runs.iter().map(|(result, _)| result).collect::<Vec<_>>(), session.json);
    if let [(folder, _)] = &finished[..] {
        say_where(session, &folder.join("report.html"));
    } else {
        let page = session.out.join("report.html");
        write_html(&page, &runs)?;
        say_where(session, &page);
    }
    Ok(())
}

/// Goes on with an interrupted run; one that is finished only shows its result again.
///
/// `recipe` is what the command line asked for beside the folder, if anything: it must be what the run was started with.
///
/// # Errors
/// When there is no run, it was started with another recipe, or it fails.
pub fn resume(session: &Session, folder: &Path, asked: Option<&Recipe>) -> Result<(), Error> {
    let (folder, recipe, invocation) = RunFolder::open(folder)?;
    if let Some(asked) = asked
        && (asked.hash() != recipe.hash() || asked.seed() != recipe.seed())
    {
        return Err(Error::Input(format!(
            "the run in {} was started with another recipe or seed than the one given; leave the recipe, --seed and --set out of \
             --resume, or start a new run without it",
            folder.path().display()
        )));
    }
    if !folder.result_file().is_file() {
        let mut loaded = Loaded::default();
        loaded.load(session, &recipe, &invocation.data_dir)?;
        loaded.finish(session, &recipe, &folder, &invocation.data_dir)?;
    }
    let (result, _) = read_run(folder.path())?;
    print_table(&[&result], session.json);
    say_where(session, &folder.report_file());
    Ok(())
}

fn say_where(session: &Session, page: &Path) {
    if !session.quiet {
        eprintln!("report: {}", page.display());
    }
}

/// The data last used: runs of one command mostly share them.
#[derive(Default)]
struct Loaded {
    interactions: Option<(DataConfig, EvaluationConfig, InteractionData, Baselines)>,
    images: Option<(ImageDataConfig, Arc<ImageData>)>,
    judged: JudgedBaselines,
}

impl Loaded {
    /// Loads what a recipe names, unless it is there.
    fn load(&mut self, session: &Session, recipe: &Recipe, dir: &Path) -> Result<(), Error> {
        match recipe {
            Recipe::Recommender(recipe) => self.load_interactions(recipe, dir),
            Recipe::Images(recipe) => self.load_images(session, recipe, dir),
        }
    }

    fn load_interactions(&mut self, recipe: &RecommenderRecipe, dir: &Path) -> Result<(), Error> {
        let same = |(data, evaluation, ..): &(DataConfig, EvaluationConfig, _, _)| {
            *data == recipe.data && *evaluation == recipe.evaluation
        };
        if !self.interactions.as_ref().is_some_and(same) {
            let data = recipe.data.load(dir)?;
            let baselines = baselines(&data, &recipe.evaluation)?;
            self.interactions = Some((recipe.data.clone(), recipe.evaluation.clone(), data, baselines));
        }
        Ok(())
    }

    fn load_images(&mut self, session: &Session, recipe: &ImageRecipe, dir: &Path) -> Result<(), Error> {
        if !self.images.as_ref().is_some_and(|(config, _)| *config == recipe.data) {
            self.images = Some((recipe.data.clone(), Arc::new(recipe.data.load(dir)?)));
        }
        let (_, data) = self.images.as_ref().expect("just loaded");
        start::check(recipe, data)?;
        // Weights that do not fit leave no folder behind; without any there is nothing to find out.
        match recipe.encoder.weights() {
            Some(_) => start::initial(recipe, dir, &session.backend.device()).map(drop),
            None => Ok(()),
        }
    }

    /// Trains and evaluates on what was [loaded](Self::load).
    fn finish(&mut self, session: &Session, recipe: &Recipe, folder: &RunFolder, data_dir: &Path) -> Result<(), Error> {
        let recipe_hash = &recipe.hash();
        match recipe {
            Recipe::Recommender(recipe) => {
                let (_, _, data, baselines) = self.interactions.as_ref().expect("just loaded");
                let run = Run {
                    recipe,
                    recipe_hash,
                    data,
                    folder,
                    backend: &session.backend,
                    quiet: session.quiet,
                    stop: session.stop.clone(),
                };
                run.finish(baselines.clone()).map(drop)
            }
            Recipe::Images(recipe) => {
                let (_, data) = self.images.as_ref().expect("just loaded");
                let run = ImageRun {
                    recipe,
                    recipe_hash,
                    data,
                    data_dir,
                    folder,
                    backend: &session.backend,
                    quiet: session.quiet,
                    stop: session.stop.clone(),
                };
                run.finish(&mut self.judged).map(drop)
            }
        }
    }
}
