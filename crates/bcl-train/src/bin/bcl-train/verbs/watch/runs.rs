//! Finds and reads runs under way.

use bcl_recipe::{Recipe, of_kind};
use bcl_report::{live::LiveRun, result::EpochRecord};
use bcl_train::{error::Error, logging::read_steps, training::RunFolder};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// The most runs on a page.
const MOST: usize = 32;
/// How deep runs may lie in a folder: `runs/table10/ml-100k/mf-bayesian-0`.
const DEEPEST: usize = 5;
/// The most points of a curve within epochs.
const MOST_STEPS: usize = 1000;

/// The runs of a page, at one moment.
#[derive(Debug)]
pub(super) struct Watched(Vec<(RunFolder, LiveRun)>);

impl Watched {
    /// Reads the runs in and below some folders.
    ///
    /// # Errors
    /// Returns an error if there are none, more than a page can show, or one cannot be read.
    pub(super) fn find(folders: &[PathBuf]) -> Result<Self, Error> {
        let mut paths = BTreeSet::new();
        for folder in folders {
            let before = paths.len();
            collect(folder, 0, &mut paths);
            if paths.len() == before {
                return Err(Error::Input(format!(
                    "{} holds no run (no recipe.toml); start one, and give its folder, such as runs/NAME-SEED, or one with several",
                    folder.display()
                )));
            }
        }
        if paths.len() > MOST {
            return Err(Error::Input(format!(
                "{} runs are too many to watch at once (at most {MOST}); name only those under way, and use `bcl-train report` for finished ones",
                paths.len()
            )));
        }
        let runs = paths.iter().map(|path| read(path)).collect::<Result<_, _>>()?;
        Ok(Self(runs))
    }

    /// What the page shows of them.
    pub(super) fn live(&self) -> Vec<LiveRun> {
        self.0.iter().map(|(_, run)| run.clone()).collect()
    }

    /// Whether all have finished.
    pub(super) fn is_over(&self) -> bool {
        self.0.iter().all(|(_, run)| run.finished)
    }

    /// The reports of finished runs.
    pub(super) fn pages(&self) -> impl Iterator<Item = PathBuf> {
        let finished = self.0.iter().filter(|(_, run)| run.finished);
        finished.map(|(folder, _)| folder.report_file())
    }
}

/// Adds the runs in and below a folder. Folders that cannot be read hold none.
fn collect(folder: &Path, depth: usize, found: &mut BTreeSet<PathBuf>) {
    if folder.join("recipe.toml").is_file() {
        found.insert(folder.to_path_buf());
        return;
    }
    if depth == DEEPEST {
        return;
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        collect(&entry.path(), depth + 1, found);
    }
}

fn read(path: &Path) -> Result<(RunFolder, LiveRun), Error> {
    let (folder, recipe, _) = RunFolder::open(path)?;
    // The run may be writing its last line.
    let text = match fs::read_to_string(folder.metrics_file()) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        read => read.map_err(Error::io("read", folder.metrics_file()))?,
    };
    let records: Vec<EpochRecord> = text.lines().map_while(|line| serde_json::from_str(line).ok()).collect();
    let run = LiveRun {
        name: format!("{}-{}", recipe.name(), recipe.seed()),
        finished: folder.result_file().is_file(),
        epochs: of_kind!(&recipe, recipe => bcl_recipe::RunRecipe::training(&**recipe).epochs),
        metric: metric(&recipe, &records),
        steps: steps(&folder)?,
        records,
    };
    Ok((folder, run))
}

/// The metric of the recipe if it is measured during training; else the first one that is.
fn metric(recipe: &Recipe, records: &[EpochRecord]) -> String {
    let wanted = recipe.comparison_metric();
    let mut measured = records
        .iter()
        .filter_map(|record| record.validation.as_ref().or(record.test.as_ref()))
        .flat_map(|figures| figures.keys());
    if measured.clone().any(|metric| metric == wanted) {
        return wanted.to_owned();
    }
    measured.next().map_or(wanted, String::as_str).to_owned()
}

/// Points of the last phase, thinned to what a curve can show.
fn steps(folder: &RunFolder) -> Result<Vec<(usize, f64)>, Error> {
    let mut steps = read_steps(&folder.steps_file())?;
    if let Some(phase) = steps.last().map(|step| step.phase) {
        steps.retain(|step| step.phase == phase);
    }
    let every = steps.len().div_ceil(MOST_STEPS).max(1);
    Ok(steps.iter().step_by(every).map(|step| (step.step, step.loss)).collect())
}
