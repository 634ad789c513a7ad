//! Continues runs: interrupted ones to their end, finished ones to more epochs.

use super::{
    Finished,
    earlier::{EarlierRun, epochs},
    extend::{Extension, unnumbered},
    print_table,
    session::Session,
};
use bcl_files::{checksums, notice};
use bcl_recipe::{Override, Recipe, find};
use bcl_report::{MAP_FILE, read_run, write_html};
use bcl_train::{
    error::Error,
    kinds::{Prepared, prepare_again},
    training::RunFolder,
};
use std::path::{Path, PathBuf};

/// Continues an interrupted run, extends a finished one to more epochs, or only shows its result again.
///
/// `asked` is the recipe given on the command line, if any. It must be the one that the run was started with, apart from the number of epochs.
/// Without it, `flags` change the run's recipe.
///
/// # Errors
/// Returns an error if there is no run in `folder`, it was started with another recipe, it cannot be extended, or it fails.
pub(crate) fn resume(session: &Session, folder: &Path, asked: Option<&Recipe>, flags: &[Override]) -> Result<(), Error> {
    session.refuse_different_commands(asked.as_slice(), Some(folder))?;
    refuse_recipe(folder)?;
    let run = EarlierRun::open(folder)?;
    run.invocation.refuse_trial(&run.folder)?;
    let asked = match asked {
        Some(asked) => asked.clone(),
        None => Recipe::from_file(run.folder.recipe_file(), flags)?,
    };
    let (folder, finished) = if run.is_of(&asked) {
        finish(session, run, None)?
    } else {
        extend_one(session, &run, &asked)?
    };
    if !session.processes.is_first() {
        return Ok(());
    }
    print_table(&[&finished.0], &[], session.json);
    session.say_where(&folder.join("report.html"));
    Ok(())
}

/// A recipe in the place of a run's folder: `--resume` takes the word behind it.
fn refuse_recipe(folder: &Path) -> Result<(), Error> {
    match folder.to_str() {
        Some(name) if !folder.is_dir() && find(name).is_ok() => Err(Error::Input(format!(
            "--resume {name}: this is a recipe, not the folder of a run; to continue its run in --out, write the recipe first: bcl-train {name} \
             --resume"
        ))),
        _ => Ok(()),
    }
}

/// Extends the run in a folder that was named, or goes on with an extension that is there.
fn extend_one(session: &Session, run: &EarlierRun, longer: &Recipe) -> Result<(PathBuf, Finished), Error> {
    refuse_changes(run, longer)?;
    let longer = longer.clone().in_folder(run.recipe.folder().map(Path::to_path_buf));
    let first = unnumbered(run);
    if let Some(there) = EarlierRun::at(&first).into_iter().find(|there| there.is_of(&longer)) {
        return finish(session, there, None);
    }
    let search = match &session.moved_data {
        Some(dir) => run.invocation.search.clone().with_data_dir(dir),
        None => run.invocation.search.clone(),
    };
    let extension = Extension {
        shorter: run,
        longer: &longer,
        first: &first,
        search: &search,
        always: false,
    };
    extension.check()?;
    let record = run.folder.data_to_resume()?;
    let prepared = prepare_again(&longer, &search, &record, run.folder.path(), &*session.processes)?;
    prepared.check(&longer, &search, &session.backend, session.processes.size())?;
    extension.train(session, &*prepared)
}

/// Continues the run of a recipe in the folder for runs: trains an unfinished run to its end, and extends a run with fewer epochs. Returns
/// `None` if no run can be continued. [`Extension`] explains `always`.
///
/// # Errors
/// Returns an error if what is there differs in other keys, cannot be extended, or fails.
pub(super) fn continued(
    session: &Session,
    recipe: &Recipe,
    prepared: &dyn Prepared,
    always: bool,
) -> Result<Option<(PathBuf, Finished)>, Error> {
    let first = recipe.run_folder(&session.out);
    let mut runs = EarlierRun::at(&first);
    if runs.is_empty() {
        notice::note(format_args!(
            "{} has no run to continue, so it is trained from the start",
            first.display()
        ));
        return Ok(None);
    }
    // A finished run before an unfinished one, and then the one with the most epochs.
    runs.sort_by_key(|run| !run.is_finished());
    if let Some(position) = runs.iter().position(|run| run.is_of(recipe)) {
        return finish(session, runs.swap_remove(position), Some(prepared)).map(Some);
    }
    let search = recipe.search_path(&session.data_dir);
    let longest = runs
        .iter()
        .filter(|run| run.other_changes(recipe).is_empty())
        .max_by_key(|run| (run.is_finished() && run.epochs() < epochs(recipe), run.epochs()));
    let Some(shorter) = longest else {
        let nearest = runs.iter().min_by_key(|run| run.other_changes(recipe).len());
        return nearest.map_or(Ok(()), |run| refuse_changes(run, recipe)).map(|()| None);
    };
    let extension = Extension {
        shorter,
        longer: recipe,
        first: &first,
        search: &search,
        always,
    };
    extension.check()?;
    let record = shorter.folder.data_to_resume()?;
    if record.identity == prepared.record().identity {
        return extension.train(session, prepared).map(Some);
    }
    let again = prepare_again(recipe, &search, &record, shorter.folder.path(), &*session.processes)?;
    extension.train(session, &*again).map(Some)
}

/// Refuses a recipe that changes more than the number of epochs.
fn refuse_changes(run: &EarlierRun, recipe: &Recipe) -> Result<(), Error> {
    let changes = run.other_changes(recipe);
    if changes.is_empty() {
        return Ok(());
    }
    Err(Error::Input(format!(
        "the run in {} was started with another recipe or seed ({}); to resume it, leave out the recipe, --seed and --set, and to extend it change \
         --epochs alone; to start a new run, leave out --resume",
        run.folder.path().display(),
        changes.join("; ")
    )))
}

/// Trains a run to its end, on data that are loaded already if they are its own. If it has finished, checks its files and writes those that are
/// missing.
fn finish(session: &Session, run: EarlierRun, loaded: Option<&dyn Prepared>) -> Result<(PathBuf, Finished), Error> {
    let EarlierRun {
        folder,
        recipe,
        mut invocation,
    } = run;
    if session.on_first(|| Ok(!folder.result_file().is_file()))? {
        let folder = if session.processes.is_first() {
            folder.clone().locked()?
        } else {
            folder.clone()
        };
        let record = folder.data_to_resume()?;
        if let Some(dir) = &session.moved_data {
            invocation.search = invocation.search.with_data_dir(dir);
        }
        let search = &invocation.search;
        let again;
        let prepared = if let Some(loaded) = loaded.filter(|loaded| loaded.record().identity == record.identity) {
            loaded
        } else {
            again = prepare_again(&recipe, search, &record, folder.path(), &*session.processes)?;
            &*again
        };
        prepared.check(&recipe, search, &session.backend, session.processes.size())?;
        let processes = std::mem::replace(&mut invocation.processes, session.processes.size());
        if (session.moved_data.is_some() || processes != invocation.processes) && session.processes.is_first() {
            folder.record(&invocation)?;
        }
        prepared.finish(&recipe, &session.around(&folder, &invocation.search))?;
        session.stop.advise(None);
    }
    let run = session.on_first(|| {
        checksums::check_all(folder.path())?;
        let run = read_run(folder.path())?;
        complete(&folder, &run)?;
        Ok(run)
    })?;
    Ok((folder.path().to_path_buf(), run))
}

/// Writes the files that are missing beside the result: the run may have been killed before it wrote its report.
fn complete(folder: &RunFolder, run: &Finished) -> Result<(), Error> {
    if let Some(showcase) = &run.0.showcase
        && !folder.path().join(MAP_FILE).exists()
    {
        showcase.write_map(folder.path())?;
    }
    if !folder.report_file().exists() {
        write_html(&folder.report_file(), std::slice::from_ref(run))?;
    }
    Ok(())
}
