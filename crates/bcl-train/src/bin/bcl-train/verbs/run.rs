//! Training of one recipe after the other.

use super::{
    Failed, Finished,
    earlier::finished_run,
    print_table,
    resume::continued,
    session::{Earlier, Session},
    write_page,
};
use bcl_data::SearchPath;
use bcl_files::notice;
use bcl_recipe::Recipe;
use bcl_report::read_run;
use bcl_train::{
    error::Error,
    kinds::{Prepared, prepare},
    training::{Invocation, RunFolder},
};
use std::path::PathBuf;

/// Trains every recipe, prints one table of all results, and writes a report of each run and of the comparison.
///
/// A failed run does not stop the others; the table names it. Returns the folders of the finished runs.
///
/// # Errors
/// Returns an error if a run failed or the command was interrupted. Finished runs stay on disk.
pub(crate) fn train(session: &Session, recipes: &[Recipe]) -> Result<Vec<PathBuf>, Error> {
    session.refuse_different_commands(&recipes.iter().collect::<Vec<_>>(), None)?;
    let mut loaded = None;
    let mut finished: Vec<(PathBuf, Finished)> = Vec::new();
    let mut failed: Vec<Failed> = Vec::new();
    for recipe in recipes {
        match train_one(session, recipe, &mut loaded, recipes.len() > 1) {
            Ok(run) => finished.push(run),
            Err(error @ Error::Interrupted(_)) => return Err(error),
            // The other processes may be in the middle of the run that failed here.
            Err(error) if recipes.len() == 1 || session.processes.size() > 1 => return Err(error),
            Err(error) => {
                let name = format!("{}-{}", recipe.name(), recipe.seed());
                notice::error(format_args!("{name} failed: {error}"));
                failed.push(Failed { name, error });
            }
        }
    }
    if !finished.is_empty() && session.processes.is_first() {
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

/// Trains one recipe in a new folder, unless an earlier run is shown or continued.
fn train_one(
    session: &Session,
    recipe: &Recipe,
    loaded: &mut Option<Box<dyn Prepared>>,
    one_of_many: bool,
) -> Result<(PathBuf, Finished), Error> {
    // Data that cannot be read must not leave a folder behind.
    let search = recipe.search_path(&session.data_dir);
    let prepared = prepared(session, recipe, &search, loaded)?;
    if session.earlier == Earlier::Continue
        && let Some(run) = continued(session, recipe, prepared, one_of_many)?
    {
        return Ok(run);
    }
    if session.earlier == Earlier::Show
        && let Some(run) = session.on_first(|| finished_run(&session.out, recipe, prepared.record()))?
    {
        notice::status(format!("{} is finished and is not trained again", run.0.display()));
        return Ok(run);
    }
    let invocation = Invocation {
        search,
        backend: session.backend.name().to_owned(),
        processes: session.processes.size(),
        trial_of: None,
    };
    prepared.refuse_processes(recipe, &*session.processes)?;
    let folder = session.create_folder(|| RunFolder::create(&session.out, recipe, &invocation, prepared.record()))?;
    prepared.finish(recipe, &session.around(&folder, &invocation.search))?;
    session.stop.advise(None);
    let run = session.on_first(|| Ok(read_run(folder.path())?))?;
    Ok((folder.path().to_path_buf(), run))
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
        session.say_where(&folder.join("report.html"));
    } else {
        write_page(&session.out.join("report.html"), &runs)?;
    }
    Ok(())
}

/// Loads the data of a recipe unless they are the data that were loaded last, and checks that the recipe fits them.
fn prepared<'a>(
    session: &Session,
    recipe: &Recipe,
    search: &SearchPath,
    last: &'a mut Option<Box<dyn Prepared>>,
) -> Result<&'a dyn Prepared, Error> {
    let prepared = match last.take() {
        Some(prepared) if prepared.serves(recipe, search)? => prepared,
        other => {
            // Two data sets are never in memory at once.
            drop(other);
            prepare(recipe, search, &*session.processes)?
        }
    };
    let prepared = last.insert(prepared);
    prepared.check(recipe, search, &session.backend, session.processes.size())?;
    Ok(&**prepared)
}
