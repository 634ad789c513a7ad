//! Training: new runs and resumed ones.

use super::{Failed, Finished, finished::finished_run, print_table, write_page};
use crate::{
    error::Error,
    kinds::{Prepared, Surroundings},
    logging::Loggers,
    recipe::Recipe,
    training::{Invocation, RunFolder, Stop},
};
use bcl_backend::Backend;
use bcl_data::{SearchPath, printable_lines};
use bcl_report::{MAP_FILE, files::checksums, notice, read_run, write_html};
use std::path::{Path, PathBuf};

/// What all runs of one command share.
#[derive(Debug)]
pub struct Session {
    /// The device that computes.
    pub backend: Backend,
    /// Folder to search for the data files of new runs.
    pub data_dir: PathBuf,
    /// Folder to search first for the data files of an earlier run, if they have moved.
    pub moved_data: Option<PathBuf>,
    /// Folder for runs.
    pub out: PathBuf,
    /// Whether to show no progress.
    pub quiet: bool,
    /// Whether to print JSON.
    pub json: bool,
    /// Whether finished runs of the same recipe, seed and data in [`out`](Self::out) are shown instead of trained again.
    pub reuse: bool,
    /// Stops the current run.
    pub stop: Stop,
}

/// Trains every recipe, prints one table of all results, and writes a report of each run and of the comparison.
///
/// A failed run does not stop the others; the table names it. Returns the folders of the finished runs.
///
/// # Errors
/// Returns an error if a run failed or the command was interrupted. Finished runs stay on disk.
pub fn train(session: &Session, recipes: &[Recipe]) -> Result<Vec<PathBuf>, Error> {
    let mut loaded = Loaded::default();
    let mut finished: Vec<(PathBuf, Finished)> = Vec::new();
    let mut failed: Vec<Failed> = Vec::new();
    for recipe in recipes {
        match train_one(session, recipe, &mut loaded) {
            Ok(run) => finished.push(run),
            Err(error @ Error::Interrupted(_)) => return Err(error),
            Err(error) if recipes.len() == 1 => return Err(error),
            Err(error) => {
                let name = format!("{}-{}", recipe.name(), recipe.seed());
                eprintln!("error: {name} failed: {}", printable_lines(&error));
                failed.push(Failed { name, error });
            }
        }
    }
    if !finished.is_empty() {
        show(session, &finished, &failed)?;
    }
    match failed.into_iter().next() {
        None => Ok(finished.into_iter().map(|(folder, _)| folder).collect()),
        Some(first) => Err(Error::SomeFailed {
            failed: recipes.len() - finished.len(),
            runs: recipes.len(),
            name: first.name,
            first: Box::new(first.error),
        }),
    }
}

/// Trains one recipe in a new folder.
fn train_one(session: &Session, recipe: &Recipe, loaded: &mut Loaded) -> Result<(PathBuf, Finished), Error> {
    // Data that cannot be read must not leave a folder behind.
    let search = recipe.search_path(&session.data_dir);
    let prepared = loaded.load(session, recipe, &search)?;
    if session.reuse
        && let Some(run) = finished_run(&session.out, recipe, prepared.record())?
    {
        notice::status(format!("{} is finished and is not trained again", run.0.display()));
        return Ok(run);
    }
    let invocation = Invocation {
        search,
        backend: session.backend.name().to_owned(),
        trial_of: None,
    };
    let folder = RunFolder::create(&session.out, recipe, &invocation, prepared.record())?;
    prepared.finish(recipe, &session.around(&folder, &invocation.search))?;
    session.stop.advise(None);
    Ok((folder.path().to_path_buf(), read_run(folder.path())?))
}

/// Prints the table of the finished runs and writes their report.
fn show(session: &Session, finished: &[(PathBuf, Finished)], failed: &[Failed]) -> Result<(), Error> {
    let runs: Vec<Finished> = finished.iter().map(|(_, run)| run.clone()).collect();
    print_table(
        &runs.iter().map(|(result, _)| result).collect::<Vec<_>>(),
        failed,
        session.json,
    );
    if let [(folder, _)] = finished {
        say_where(session, &folder.join("report.html"));
    } else {
        write_page(&session.out.join("report.html"), &runs)?;
    }
    Ok(())
}

/// Continues an interrupted run. If it has finished, only shows its result again.
///
/// `asked` is the recipe given on the command line, if any. It must be the one that the run was started with.
///
/// # Errors
/// Returns an error if there is no run in `folder`, it was started with another recipe, or it fails.
pub fn resume(session: &Session, folder: &Path, asked: Option<&Recipe>) -> Result<(), Error> {
    let (folder, recipe, mut invocation) = RunFolder::open(folder)?;
    invocation.refuse_trial(&folder)?;
    if let Some(asked) = asked
        && (asked.hash() != recipe.hash() || asked.seed() != recipe.seed())
    {
        return Err(Error::Input(format!(
            "the run in {} was started with another recipe or seed; to resume it, leave out the recipe, --seed and --set; \
             to start a new run, leave out --resume",
            folder.path().display()
        )));
    }
    if !folder.result_file().is_file() {
        let folder = folder.clone().locked()?;
        let record = folder.data_to_resume()?;
        if let Some(dir) = &session.moved_data {
            invocation.search = invocation.search.with_data_dir(dir);
        }
        let search = &invocation.search;
        let prepared = Prepared::load_again(&recipe, search, &record, folder.path())?;
        prepared.check(&recipe, search, &session.backend)?;
        if session.moved_data.is_some() {
            folder.record(&invocation)?;
        }
        prepared.finish(&recipe, &session.around(&folder, search))?;
    }
    checksums::check_all(folder.path())?;
    let run = read_run(folder.path())?;
    complete(&folder, &run)?;
    print_table(&[&run.0], &[], session.json);
    say_where(session, &folder.report_file());
    Ok(())
}

/// Writes the files that are missing beside the result: the run may have been killed before it wrote its report.
fn complete(folder: &RunFolder, run: &Finished) -> Result<(), Error> {
    if let Some(showcase) = &run.0.showcase
        && !folder.path().join(MAP_FILE).exists()
    {
        showcase.write_maps(folder.path())?;
    }
    if !folder.report_file().exists() {
        write_html(&folder.report_file(), std::slice::from_ref(run))?;
    }
    Ok(())
}

fn say_where(session: &Session, page: &Path) {
    if !session.quiet {
        notice::status(format!("report: {}", page.display()));
    }
}

/// The data set that was loaded last. Runs of one command mostly share it.
#[derive(Default)]
struct Loaded(Option<Prepared>);

impl Loaded {
    /// Loads the data of a recipe unless it is already loaded, and checks that the recipe fits it.
    fn load(&mut self, session: &Session, recipe: &Recipe, search: &SearchPath) -> Result<&Prepared, Error> {
        let prepared = match self.0.take() {
            Some(prepared) if prepared.serves(recipe, search)? => prepared,
            other => {
                // Two data sets are never in memory at once.
                drop(other);
                Prepared::load(recipe, search)?
            }
        };
        let prepared = self.0.insert(prepared);
        prepared.check(recipe, search, &session.backend)?;
        Ok(prepared)
    }
}

impl Session {
    fn around<'a>(&'a self, folder: &'a RunFolder, search: &'a SearchPath) -> Surroundings<'a> {
        let run = folder.path().display();
        self.stop.advise(Some(format!(
            "continue from the last checkpoint with: bcl-train --resume {run}"
        )));
        Surroundings {
            folder,
            search,
            backend: &self.backend,
            quiet: self.quiet,
            stop: self.stop.clone(),
            loggers: Loggers::default(),
        }
    }
}
