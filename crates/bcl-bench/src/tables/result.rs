//! A finished table, as it is saved and compared.

use super::{
    Family, Headroom, Look, Paired, Printed, Recovery, Row, Samples, Search, Space, TablePlan, family,
    paper::with_oracle,
    row::ORACLE,
    statistics::{Compared, compare, correct},
};
use bcl_files::FileError;
use bcl_report::{
    Interval,
    result::{DataSummary, Environment, Metrics, RunResult},
};
use serde::{Deserialize, Serialize};
use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

/// Version of the layout of `table.json`.
const SCHEMA: u32 = 1;

/// A finished table. Two tables of the same plan, seeds, program and device are equal to the byte, however often they were
/// interrupted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableResult {
    /// Version of the layout.
    pub schema: u32,
    /// The heading.
    pub title: String,
    /// The command that made the table.
    pub command: String,
    /// Machine and build of the first run.
    pub environment: Environment,
    /// Revisions of the sources that computed the runs; `None` stands for one that was not known when the program was built.
    pub revisions: BTreeSet<Option<String>>,
    /// Every time that the test set was looked at with another command, number of seeds or build, in order.
    pub looks: Vec<Look>,
    /// The data.
    pub data: DataSummary,
    /// How settings were searched.
    pub search: Search,
    /// Tuning trials per row.
    pub budget: usize,
    /// Seeds of each trial.
    pub tuning_seeds: usize,
    /// Seeds of the tests.
    pub seeds: Vec<u64>,
    /// The metric by which settings were chosen and rows are compared.
    pub select_by: String,
    /// Names of all metrics shown, in order.
    pub metrics: Vec<String>,
    /// The rows.
    pub rows: Vec<RowResult>,
    /// Test metrics of the baselines, by name.
    pub baselines: BTreeMap<String, Metrics>,
    /// Rows compared with others, on `select_by`.
    pub pairs: Vec<Paired>,
    /// How much a loss could gain, for each row of the supervised loss.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub headroom: Vec<Headroom>,
    /// The difference up to which rows count as equivalent; `None` in tables of earlier versions, which stated none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bound: Option<f64>,
    /// Number of pairs that the p-values are corrected for, if that is the number of a whole sweep.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub corrected_for: Option<usize>,
    /// What is better, worse, equivalent and not known, as sentences.
    pub verdict: Vec<String>,
    /// Deviations of this table from the paper's, as sentences.
    pub deviations: Vec<String>,
}

/// One row of a finished table.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RowResult {
    /// Name of the row.
    pub name: String,
    /// Kind of its loss.
    pub loss: String,
    /// Kind of its encoder.
    pub encoder: String,
    /// The parameters that were searched.
    pub space: Space,
    /// Every trial, in order.
    pub trials: Vec<Trial>,
    /// The tested settings, from the best trial; empty if nothing was searched.
    pub tuned: BTreeMap<String, toml::Value>,
    /// Hash of the recipe with these settings.
    pub recipe_hash: String,
    /// Number of epochs that each seed was trained for.
    pub epochs: Vec<usize>,
    /// Maximum number of epochs, if held-out data chose the number.
    #[serde(default)]
    pub epochs_at_most: Option<usize>,
    /// Test metrics of each seed.
    pub runs: BTreeMap<u64, Metrics>,
    /// The metric on held-out training data by which the number of epochs was chosen, by seed; empty if it was not chosen.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub held_out: BTreeMap<u64, f64>,
    /// Seeds that failed, and why.
    pub failed: BTreeMap<u64, String>,
    /// Least and greatest weight of a negative after the last epoch, means over seeds; `None` in tables of earlier versions and for encoders whose weights
    /// are not measured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub weights: Option<[f64; 2]>,
    /// Means of the test metrics over seeds, with intervals.
    pub figures: BTreeMap<String, Interval>,
    /// Metrics that the paper prints.
    pub printed: Metrics,
    /// What the paper prints behind a ± of these metrics.
    #[serde(skip_serializing_if = "Metrics::is_empty", default)]
    pub printed_plus_minus: Metrics,
}

/// A tuning trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Its number, starting at 0.
    pub number: usize,
    /// The drawn values.
    pub values: BTreeMap<String, toml::Value>,
    /// Maximum number of epochs.
    pub epochs: usize,
    /// The metric on held-out training data, mean over the seeds of tuning; `None` if training failed with one of them.
    pub figure: Option<f64>,
    /// The metric with each seed.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub figures: Vec<f64>,
}

impl RowResult {
    /// The metric on held-out training data: the best trial's or, without a search, the mean over the seeds of the tests. `None` if
    /// nothing was held out.
    pub(super) fn held_out(&self) -> Option<f64> {
        let best = self.best_trial();
        best.or_else(|| (!self.held_out.is_empty()).then(|| self.held_out.values().sum::<f64>() / self.held_out.len() as f64))
    }

    /// The metric of the best trial on held-out training data. Trials that a search ended early do not count.
    pub(crate) fn best_trial(&self) -> Option<f64> {
        let most = self.trials.iter().map(|trial| trial.epochs).max();
        let to_the_end = self.trials.iter().filter(|trial| Some(trial.epochs) == most);
        to_the_end.filter_map(|trial| trial.figure).max_by(f64::total_cmp)
    }

    /// A metric that the paper prints, as the text of a table cell.
    pub(super) fn paper_cell(&self, metric: &str) -> Option<String> {
        let figure = self.printed.get(metric)?;
        Some(match self.printed_plus_minus.get(metric) {
            Some(plus_minus) => format!("{figure:.4} ± {plus_minus:.4}"),
            None => format!("{figure:.4}"),
        })
    }

    /// The metric of each seed.
    pub(super) fn values(&self, metric: &str) -> Vec<(u64, f64)> {
        let value = |(seed, figures): (&u64, &Metrics)| Some((*seed, *figures.get(metric)?));
        self.runs.iter().filter_map(value).collect()
    }
}

/// The test results of one row.
pub(super) struct Tested<'a> {
    pub(super) row: &'a Row,
    pub(super) trials: Vec<Trial>,
    pub(super) tuned: BTreeMap<String, toml::Value>,
    pub(super) recipe_hash: String,
    pub(super) runs: Vec<(u64, Result<TestRun, String>)>,
}

/// A finished test run, as processes that share out a table tell each other.
#[derive(Serialize, Deserialize)]
pub(super) struct TestRun {
    pub(super) result: RunResult,
    /// The metric that rows are compared by, of each sample, if it was recorded.
    pub(super) samples: Option<Vec<f64>>,
    /// The metric on held-out training data of the chosen epoch, if it was chosen.
    pub(super) held_out: Option<f64>,
    /// Least and greatest weight of a negative after the last epoch, if they were measured.
    pub(super) weights: Option<[f64; 2]>,
}

impl Tested<'_> {
    /// Takes the metrics of samples out of the runs; `None` if a run has none.
    fn take_samples(&mut self) -> Option<BTreeMap<u64, Vec<f64>>> {
        let finished = self
            .runs
            .iter_mut()
            .filter_map(|(seed, run)| Some((*seed, run.as_mut().ok()?)));
        finished.map(|(seed, run)| Some((seed, run.samples.take()?))).collect()
    }

    fn summed_up(self, metrics: &[String], paper: &Printed) -> RowResult {
        let mut runs = BTreeMap::new();
        let mut held_out = BTreeMap::new();
        let mut failed = BTreeMap::new();
        let mut epochs = Vec::new();
        let mut weights: Vec<[f64; 2]> = Vec::new();
        for (seed, outcome) in self.runs {
            match outcome {
                Ok(run) => {
                    epochs.push(run.result.validation.epoch);
                    weights.extend(run.weights);
                    runs.insert(seed, with_oracle(&run.result));
                    held_out.extend(run.held_out.map(|figure| (seed, figure)));
                }
                Err(problem) => {
                    failed.insert(seed, problem);
                }
            }
        }
        let of = |metric: &String| {
            let values: Vec<f64> = runs
                .values()
                .filter_map(|figures: &Metrics| figures.get(metric).copied())
                .collect();
            Some((metric.clone(), Interval::of(&values)?))
        };
        let mean_weight = |end: usize| weights.iter().map(|ends| ends[end]).sum::<f64>() / weights.len() as f64;
        RowResult {
            weights: (!weights.is_empty()).then(|| [mean_weight(0), mean_weight(1)]),
            name: self.row.name.clone(),
            loss: self.row.loss_name(),
            encoder: self.row.encoder(),
            space: self.row.space.clone(),
            trials: self.trials,
            tuned: self.tuned,
            recipe_hash: self.recipe_hash,
            epochs,
            epochs_at_most: self.row.is_recommender().then(|| self.row.epochs()),
            figures: metrics.iter().filter_map(of).collect(),
            runs,
            held_out,
            failed,
            printed: paper.figures(&self.row.name),
            printed_plus_minus: paper.plus_minus(&self.row.name),
        }
    }
}

impl TableResult {
    /// Summarises the results, and returns the metrics of samples beside them; `None` if no run finished.
    pub(super) fn new(plan: &TablePlan, mut tested: Vec<Tested<'_>>, looks: Vec<Look>) -> Option<(Self, Samples)> {
        let runs = tested.iter().flat_map(|row| &row.runs);
        let results: Vec<&RunResult> = runs.filter_map(|(_, run)| Some(&run.as_ref().ok()?.result)).collect();
        let first = results.first()?;
        let (environment, data) = (first.environment.clone(), first.data.clone());
        let revisions = results.iter().map(|result| result.environment.git_revision.clone()).collect();
        let (baselines, metrics) = (mean_baselines(&results), plan.metrics(&results));
        let paper = plan.paper();
        let select_by = plan.select_by();
        let samples = Samples(tested.iter_mut().map(Tested::take_samples).collect()).rounded();
        let rows: Vec<RowResult> = tested.into_iter().map(|row| row.summed_up(&metrics, &paper)).collect();
        let with_oracles = plan.family.pairs(&plan.rows).into_iter().chain(family::oracles(&plan.rows));
        let compared = compared(&rows, &samples, &select_by, with_oracles);
        let is_of_oracle = |pair: &Paired| rows.iter().any(|row| row.name == pair.row && row.loss == ORACLE);
        let (of_oracles, mut pairs): (Vec<_>, Vec<_>) = compared.into_iter().partition(is_of_oracle);
        correct(pairs.iter_mut().collect());
        let with_references = Family::InfoNce.pairs(&plan.rows);
        let headroom = of_oracles.into_iter().map(|mut paired| {
            correct(vec![&mut paired]);
            Headroom {
                recovered: recovered(&rows, &select_by, &paired, &with_references),
                paired,
            }
        });
        let headroom = headroom.collect();
        let mut table = Self {
            schema: SCHEMA,
            title: plan.title.clone(),
            command: plan.command.clone(),
            environment,
            revisions,
            looks,
            data,
            search: plan.search,
            budget: plan.budget,
            tuning_seeds: plan.tuning_seeds,
            seeds: (0..plan.seeds as u64).collect(),
            select_by,
            metrics,
            rows,
            baselines,
            pairs,
            headroom,
            bound: Some(plan.bound),
            corrected_for: None,
            verdict: Vec::new(),
            deviations: paper.deviations,
        };
        table.verdict = table.sentences();
        Some((table, samples))
    }

    /// Writes `table.json` and `table.md` into a folder.
    ///
    /// # Errors
    /// Returns an error that names the file if it cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), FileError> {
        bcl_files::write_json(&folder.join("table.json"), self)?;
        bcl_files::write_whole(&folder.join("table.md"), self.to_markdown().as_bytes())
    }

    /// Corrects the p-values of several tables for the number of all their pairs. The tables of a sweep need this, because any of them might
    /// have been the one to show.
    pub(super) fn correct_together(tables: &mut [&mut Self]) {
        let number = tables.iter().map(|table| table.pairs.len()).sum();
        correct(tables.iter_mut().flat_map(|table| &mut table.pairs).collect());
        for table in tables {
            table.corrected_for = Some(number);
            table.verdict = table.sentences();
        }
    }
}

/// Averages baselines over runs. Baselines of recommenders are the same in every run; a random encoder depends on the seed.
fn mean_baselines(results: &[&RunResult]) -> BTreeMap<String, Metrics> {
    let mut sums: BTreeMap<String, BTreeMap<String, (f64, usize)>> = BTreeMap::new();
    for (name, metrics) in results.iter().flat_map(|result| &result.baselines) {
        let sums = sums.entry(name.clone()).or_default();
        for (metric, value) in metrics {
            let (sum, count) = sums.entry(metric.clone()).or_default();
            (*sum, *count) = (*sum + value, *count + 1);
        }
    }
    let mean = |(metric, (sum, count)): (String, (f64, usize))| (metric, sum / count as f64);
    let means = sums
        .into_iter()
        .map(|(name, metrics)| (name, metrics.into_iter().map(mean).collect()));
    means.collect()
}

/// The share of the headroom between an oracle and its InfoNCE that the rows gain which are compared with it.
fn recovered(rows: &[RowResult], select_by: &str, oracle: &Paired, pairs: &[(usize, usize)]) -> BTreeMap<String, Recovery> {
    let values = |row: &RowResult| row.values(select_by).into_iter().collect::<BTreeMap<u64, f64>>();
    let named = |name: &str| rows.iter().find(|row| row.name == name).map(values).unwrap_or_default();
    let (top, base) = (named(&oracle.row), named(&oracle.other));
    let with_reference = pairs.iter().filter(|(_, other)| rows[*other].name == oracle.other);
    let shares = with_reference.filter_map(|(row, _)| {
        let row = &rows[*row];
        Some((row.name.clone(), Recovery::of_runs(&values(row), &base, &top)?))
    });
    shares.collect()
}

/// Compares pairs of rows, given by their numbers.
fn compared(
    rows: &[RowResult],
    samples: &Samples,
    select_by: &str,
    pairs: impl IntoIterator<Item = (usize, usize)>,
) -> Vec<Paired> {
    let compared: Vec<Compared<'_>> = rows
        .iter()
        .zip(&samples.0)
        .map(|(row, samples)| Compared {
            name: &row.name,
            seeds: row.values(select_by),
            samples: samples.as_ref(),
        })
        .collect();
    compare(&compared, pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metrics(figure: f64) -> Metrics {
        Metrics::from([("official_top1".to_owned(), figure)])
    }

    #[test]
    fn a_printed_figure_is_shown_with_its_plus_minus() {
        let mut row = RowResult {
            printed: metrics(0.925),
            ..RowResult::default()
        };
        assert_eq!(row.paper_cell("official_top1").as_deref(), Some("0.9250"));
        row.printed_plus_minus = metrics(0.0015);
        assert_eq!(row.paper_cell("official_top1").as_deref(), Some("0.9250 ± 0.0015"));
        assert_eq!(row.paper_cell("knn_top1"), None);
    }

    #[test]
    fn a_trial_that_was_ended_early_is_not_the_best() {
        let trial = |epochs, figure| Trial {
            number: 0,
            values: BTreeMap::new(),
            epochs,
            figure: Some(figure),
            figures: Vec::new(),
        };
        let row = RowResult {
            trials: vec![trial(5, 0.71), trial(10, 0.68), trial(10, 0.69)],
            ..RowResult::default()
        };
        assert_eq!((row.best_trial(), row.held_out()), (Some(0.69), Some(0.69)));
    }

    #[test]
    fn rows_of_earlier_versions_are_read_and_written_without_plus_minus() {
        let row = RowResult {
            printed: metrics(0.925),
            ..RowResult::default()
        };
        let text = serde_json::to_string(&row).unwrap();
        assert!(!text.contains("plus_minus"), "{text}");
        assert_eq!(serde_json::from_str::<RowResult>(&text).unwrap(), row);
    }
}
