//! Makes a table: tunes, tests and summarises.

use super::{
    RunPool, Rung, TablePlan, TableResult, Trial,
    candidates::{Candidate, TUNING_SEED, draws, survivors},
    look::Look,
    outcome::Outcome,
    result::{TestRun, Tested},
    run_pool::Task,
};
use bcl_collective::Alone;
use bcl_data::SearchPath;
use bcl_files::FolderLock;
use bcl_recipe::{Recipe, RecipeError};
use bcl_report::{
    SampleMetrics, read_run,
    result::{EpochRecord, Phase},
};
use bcl_train::{
    error::Error,
    kinds::{Prepared, Surroundings, prepare, prepare_again},
    logging::Loggers,
    processes,
    training::{Invocation, RunFolder, environment::environment},
};
use std::{path::Path, sync::Arc};

/// The folder for recipes with tuned settings.
const TUNED: &str = "tuned";

/// Makes a table in a folder, or the missing part of it.
///
/// # Errors
/// Returns an error if the folder contains another table or another process is writing to it, if data or recipes do not fit, if
/// a file cannot be written, or if the work is interrupted. What was written stays, and the same call continues. A diverging
/// loss is not an error but a failed trial.
pub fn run(plan: &TablePlan, out: &Path, pool: &RunPool) -> Result<TableResult, Error> {
    let prepared = prepare_table(plan, out, pool)?;
    let served = plan.served(|row| {
        let search = row.recipe().search_path(&pool.data_dir);
        prepared.check(row.recipe(), &search, &pool.backend, 1)
    });
    make(&served, out, pool, &*prepared)
}

/// Loads the data of a plan, and finds out what could stop it before hours of training. If the folder has a table, it must have been made
/// from the same data.
pub(super) fn prepare_table(plan: &TablePlan, out: &Path, pool: &RunPool) -> Result<Box<dyn Prepared>, Error> {
    let first = plan.rows[0].recipe();
    let search = first.search_path(&pool.data_dir);
    let prepared = match plan.data_record(out)? {
        None => prepare(first, &search, &Alone)?,
        Some(record) => prepare_again(first, &search, &record, out, &Alone)?,
    };
    for row in &plan.rows {
        let search = row.recipe().search_path(&pool.data_dir);
        if !prepared.serves(row.recipe(), &search)? {
            return Err(Error::Input(format!(
                "{} and {} differ in their data or in what is measured, so they need two tables; choose one with --dataset",
                plan.rows[0].name, row.name
            )));
        }
        if !row.is_oracle {
            prepared.check(row.recipe(), &search, &pool.backend, 1)?;
        }
    }
    // Check that the recipes accept the ranges before hours of training.
    for candidate in &draws(plan) {
        plan.rows[candidate.row].with(&candidate.values)?;
        for rung in &plan.rungs() {
            recipe_of_trial(plan, candidate, 0, *rung)?;
        }
    }
    Ok(prepared)
}

/// Makes a table from loaded data.
pub(super) fn make(plan: &TablePlan, out: &Path, pool: &RunPool, prepared: &dyn Prepared) -> Result<TableResult, Error> {
    processes::refuse_differences(&*pool.processes, &plan.facts(prepared.record()))?;
    let _lock = lock_folder(out, pool)?;
    pool.on_first(|| plan.keep(out, prepared.record()))?;
    let run = TableRun {
        plan,
        out,
        pool,
        prepared,
    };
    let (best, trials) = run.tune(draws(plan))?;
    let look = Look::new(&plan.command, plan.seeds, &environment(&pool.backend, 1));
    let looks = pool.on_first(|| look.record(out))?;
    let tested = run.test(best, trials)?;
    pool.on_first(|| run.finish(tested, looks))
}

/// Creates and locks the folder of a table. No other program can write a table there until the lock is dropped, which process 0 has.
pub(super) fn lock_folder(out: &Path, pool: &RunPool) -> Result<Option<FolderLock>, Error> {
    let mut lock = None;
    pool.on_first(|| {
        bcl_files::create_folder(out)?;
        lock = Some(FolderLock::take(out)?);
        for folder in [out, &out.join(TUNED)] {
            bcl_files::remove_unfinished(folder);
        }
        Ok(())
    })?;
    Ok(lock)
}

/// A plan being carried out.
struct TableRun<'a> {
    plan: &'a TablePlan,
    out: &'a Path,
    pool: &'a RunPool,
    prepared: &'a dyn Prepared,
}

/// The settings of each row.
type Settings = Vec<Vec<(String, toml::Value)>>;

impl<'a> TableRun<'a> {
    /// Finds the best settings of each row. Returns them with all trials.
    fn tune(&self, mut candidates: Vec<Candidate>) -> Result<(Settings, Vec<Vec<Trial>>), Error> {
        let rows = &self.plan.rows;
        let select_by = self.plan.select_by();
        let mut trials: Vec<Vec<Trial>> = vec![Vec::new(); rows.len()];
        let rungs = self.plan.rungs();
        for (step, rung) in rungs.iter().enumerate() {
            let seeds = 0..self.plan.tuning_seeds as u64;
            let tasks = candidates
                .iter()
                .flat_map(|candidate| seeds.clone().map(move |seed| (candidate, seed)))
                .map(|(candidate, seed)| self.trial(candidate, seed, step, *rung, rungs.len()))
                .collect::<Result<Vec<_>, _>>()?;
            let outcomes = self.pool.each(&tasks, |task| self.select(task, &select_by))?;
            let mut ranked: Vec<(Candidate, Option<f64>)> = Vec::new();
            for (candidate, outcomes) in candidates.into_iter().zip(outcomes.chunks(self.plan.tuning_seeds)) {
                let figures: Vec<f64> = outcomes.iter().filter_map(|outcome| outcome.figure(&select_by)).collect();
                // Settings that fail with one seed are no choice.
                let all_finished = figures.len() == outcomes.len();
                let figure = all_finished.then(|| figures.iter().sum::<f64>() / figures.len() as f64);
                trials[candidate.row].push(Trial {
                    number: candidate.number,
                    values: candidate.values.iter().cloned().collect(),
                    epochs: rung.epochs.min(rows[candidate.row].epochs()),
                    figure,
                    figures,
                });
                ranked.push((candidate, figure));
            }
            let keep = rungs.get(step + 1).map_or(1, |next| next.trials);
            candidates = survivors(ranked, rows.len(), keep);
        }
        let mut best: Settings = vec![Vec::new(); rows.len()];
        for candidate in candidates {
            best[candidate.row] = candidate.values;
        }
        Ok((best, trials))
    }

    /// The run of a candidate on a part of train.
    fn trial(&self, candidate: &Candidate, seed: u64, step: usize, rung: Rung, rungs: usize) -> Result<Task, Error> {
        let (name, number) = (&self.plan.rows[candidate.row].name, candidate.number);
        let folder = match rungs {
            1 => format!("{name}-{number:03}-seed-{seed}"),
            _ => format!("{name}-{number:03}-seed-{seed}-rung-{}", step + 1),
        };
        Ok(Task {
            label: format!("{name}, trial {number}, seed {seed}"),
            recipe: recipe_of_trial(self.plan, candidate, seed, rung)?,
            folder: self.out.join("tuning").join(folder),
        })
    }

    /// Trains a trial, or reads its outcome if it was trained before.
    fn select(&self, task: &Task, select_by: &str) -> Result<(Outcome, String), Error> {
        let (folder, search) = self.folder(task, Some(&self.plan.command))?;
        let outcome = if let Some(outcome) = Outcome::read(&folder)? {
            outcome
        } else {
            let outcome = match self.prepared.select(&task.recipe, &self.around(&folder, &search)) {
                Ok(chosen) => Outcome::Chosen(chosen),
                Err(error @ Error::Diverged { .. }) => Outcome::Failed(error.to_string()),
                Err(error) => return Err(error),
            };
            outcome.write(&folder)?;
            outcome
        };
        folder.forget_weights();
        let said = match &outcome {
            Outcome::Chosen(chosen) => format!(
                "{select_by} {:.4} on held-out training data after epoch {}",
                outcome.figure(select_by).unwrap_or(f64::NAN),
                chosen.epoch
            ),
            Outcome::Failed(problem) => problem.clone(),
        };
        Ok((outcome, said))
    }

    /// Trains the best settings of each row with every seed.
    fn test(&self, best: Settings, trials: Vec<Vec<Trial>>) -> Result<Vec<Tested<'a>>, Error> {
        let mut recipes = Vec::new();
        let mut tested = Vec::new();
        let tuned = self.out.join(TUNED);
        let is_first = self.pool.processes.is_first();
        if is_first {
            bcl_files::create_folder(&tuned)?;
        }
        for ((row, values), trials) in self.plan.rows.iter().zip(best).zip(trials) {
            let recipe = row.with(&values)?;
            if is_first {
                bcl_files::write_whole(&tuned.join(format!("{}.toml", row.name)), recipe.to_toml().as_bytes())?;
            }
            tested.push(Tested {
                row,
                trials,
                tuned: values.into_iter().collect(),
                recipe_hash: recipe.hash(),
                runs: Vec::new(),
            });
            recipes.push(recipe);
        }
        // All rows with one seed, then all with the next: a table that is interrupted has whole seeds, which can be compared.
        let tasks: Vec<Task> = (0..self.plan.seeds as u64)
            .flat_map(|seed| {
                self.plan
                    .rows
                    .iter()
                    .zip(&recipes)
                    .map(move |(row, recipe)| (seed, row, recipe))
            })
            .map(|(seed, row, recipe)| Task {
                label: format!("{}, seed {seed}", row.name),
                recipe: recipe.clone().with_seed(seed),
                folder: self.out.join("test").join(format!("{}-{seed}", row.name)),
            })
            .collect();
        let select_by = self.plan.select_by();
        let results = self.pool.each(&tasks, |task| self.measure(task, &select_by))?;
        for (index, (task, result)) in tasks.iter().zip(results).enumerate() {
            tested[index % recipes.len()].runs.push((task.recipe.seed(), result));
        }
        Ok(tested)
    }

    /// Trains and measures a test run, or reads its result if it was trained before.
    fn measure(&self, task: &Task, select_by: &str) -> Result<(Result<TestRun, String>, String), Error> {
        let (folder, search) = self.folder(task, None)?;
        if let Some(Outcome::Failed(problem)) = Outcome::read(&folder)? {
            return Ok((Err(problem.clone()), problem));
        }
        if !folder.result_file().is_file() {
            match self.prepared.finish(&task.recipe, &self.around(&folder, &search)) {
                Ok(_) => {}
                Err(error @ Error::Diverged { .. }) => {
                    let problem = error.to_string();
                    Outcome::Failed(problem.clone()).write(&folder)?;
                    return Ok((Err(problem.clone()), problem));
                }
                Err(error) => return Err(error),
            }
        }
        let run = test_run(folder.path(), select_by)?;
        let figure = run.result.validation.metrics.get(select_by).copied().unwrap_or(f64::NAN);
        Ok((Ok(run), format!("{select_by} {figure:.4} on the test set")))
    }

    /// The folder of a run, which may be a trial, and where its files are searched for.
    fn folder(&self, task: &Task, trial_of: Option<&str>) -> Result<(RunFolder, SearchPath), Error> {
        let invocation = Invocation {
            search: task.recipe.search_path(&self.pool.data_dir),
            backend: self.pool.backend.name().to_owned(),
            processes: 1,
            trial_of: trial_of.map(str::to_owned),
        };
        let folder = RunFolder::at(&task.folder, &task.recipe, &invocation, self.prepared.record())?;
        Ok((folder, invocation.search))
    }

    fn around<'b>(&'b self, folder: &'b RunFolder, search: &'b SearchPath) -> Surroundings<'b> {
        Surroundings {
            folder,
            search,
            backend: &self.pool.backend,
            quiet: true,
            stop: self.pool.stop.clone(),
            loggers: Loggers::default(),
            processes: Arc::new(Alone),
        }
    }

    /// Summarises the results, and writes `table.json`, `table.md` and the metrics of samples.
    fn finish(&self, tested: Vec<Tested<'_>>, looks: Vec<Look>) -> Result<TableResult, Error> {
        let mut runs = tested.iter().flat_map(|row| &row.runs);
        let problem = runs.find_map(|(_, run)| run.as_ref().err()).cloned();
        let (table, samples) = TableResult::new(self.plan, tested, looks).ok_or_else(|| {
            let problem = problem.unwrap_or_else(|| "there are no seeds".to_owned());
            Error::Training(format!("no run of the table finished: {problem}"))
        })?;
        table.write(self.out)?;
        samples.write(self.out)?;
        Ok(table)
    }
}

/// The recipe of a candidate for training on a part of train. Another seed holds out another part.
fn recipe_of_trial(plan: &TablePlan, candidate: &Candidate, seed: u64, rung: Rung) -> Result<Recipe, RecipeError> {
    let row = &plan.rows[candidate.row];
    let mut values = candidate.values.clone();
    let mut set = |key: &str, value: toml::Value| values.push((key.to_owned(), value));
    set("seed", ((TUNING_SEED + seed) as i64).into());
    set("training.epochs", (rung.epochs.min(row.epochs()) as i64).into());
    if !row.is_recommender() {
        // Evaluations that choose nothing are left out.
        set("selection.oracle", false.into());
        if !row.learns_from_evaluations() {
            set("evaluation.every", 0.into());
        }
        set("evaluation.protocols", toml::Value::Array(vec!["clean".into()]));
        set("evaluation.baselines", toml::Value::Array(Vec::new()));
    }
    row.with(&values)
}

/// Reads a finished test run.
fn test_run(folder: &Path, select_by: &str) -> Result<TestRun, Error> {
    let (result, records) = read_run(folder)?;
    let selection = records.iter().filter(|record| record.phase == Phase::Selection);
    let of_chosen = selection
        .filter(|record| record.epoch == result.validation.epoch)
        .find_map(|record| record.validation.as_ref()?.get(select_by).copied());
    let samples = SampleMetrics::read(folder)?;
    let measured = |record: &EpochRecord| Some([*record.omega_quantiles.first()?, *record.omega_quantiles.last()?]);
    Ok(TestRun {
        weights: records.iter().rev().find_map(measured),
        samples: samples.and_then(|mut samples| samples.metrics.remove(select_by)),
        held_out: of_chosen,
        result,
    })
}
