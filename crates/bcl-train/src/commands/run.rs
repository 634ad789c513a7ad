//! Training: new runs and resumed ones.

use super::{Finished, baselines::baselines, print_table};
use crate::{
    backend::Backend,
    error::Error,
    recipe::{DataConfig, EvaluationConfig, Recipe},
    report::{read_run, write_html},
    training::{Baselines, Invocation, Run, RunFolder, Stop},
};
use bcl_data::InteractionData;
use std::path::{Path, PathBuf};

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
        let (data, baselines) = loaded.get(recipe, &session.data_dir)?;
        let invocation = Invocation {
            data_dir: session.data_dir.clone(),
            backend: session.backend.name().to_owned(),
        };
        let folder = RunFolder::create(&session.out, recipe, &invocation)?;
        finish(session, recipe, data, &folder, baselines)?;
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
        && (asked.hash() != recipe.hash() || asked.seed != recipe.seed)
    {
        return Err(Error::Input(format!(
            "the run in {} was started with another recipe or seed than the one given; leave the recipe, --seed and --set out of \
             --resume, or start a new run without it",
            folder.path().display()
        )));
    }
    if !folder.result_file().is_file() {
        let (data, baselines) = Loaded::default().take(&recipe, &invocation.data_dir)?;
        finish(session, &recipe, &data, &folder, &baselines)?;
    }
    let (result, _) = read_run(folder.path())?;
    print_table(&[&result], session.json);
    say_where(session, &folder.report_file());
    Ok(())
}

fn finish(
    session: &Session,
    recipe: &Recipe,
    data: &InteractionData,
    folder: &RunFolder,
    baselines: &Baselines,
) -> Result<(), Error> {
    let run = Run {
        recipe,
        data,
        folder,
        backend: &session.backend,
        quiet: session.quiet,
        stop: session.stop.clone(),
    };
    run.finish(baselines.clone()).map(drop)
}

fn say_where(session: &Session, page: &Path) {
    if !session.quiet {
        eprintln!("report: {}", page.display());
    }
}

/// The data and baselines last used: runs of one command mostly share them.
#[derive(Default)]
struct Loaded {
    last: Option<(DataConfig, EvaluationConfig, InteractionData, Baselines)>,
}

impl Loaded {
    fn get(&mut self, recipe: &Recipe, dir: &Path) -> Result<(&InteractionData, &Baselines), Error> {
        let same = |(data, evaluation, ..): &(DataConfig, EvaluationConfig, _, _)| {
            *data == recipe.data && *evaluation == recipe.evaluation
        };
        if !self.last.as_ref().is_some_and(same) {
            let data = recipe.data.load(dir)?;
            let baselines = baselines(&data, &recipe.evaluation)?;
            self.last = Some((recipe.data.clone(), recipe.evaluation.clone(), data, baselines));
        }
        let (_, _, data, baselines) = self.last.as_ref().expect("just loaded");
        Ok((data, baselines))
    }

    fn take(mut self, recipe: &Recipe, dir: &Path) -> Result<(InteractionData, Baselines), Error> {
        self.get(recipe, dir)?;
        let (_, _, data, baselines) = self.last.expect("just loaded");
        Ok((data, baselines))
    }
}
