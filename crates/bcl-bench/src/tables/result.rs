//! A finished table, as it is saved and compared.

use super::{Paired, Row, Search, Space, TablePlan, paper::with_oracle, statistics::all_pairs};
use bcl_report::{
    Interval,
    result::{DataSummary, Environment, Metrics, RunResult},
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
    /// Machine and build.
    pub environment: Environment,
    /// The data.
    pub data: DataSummary,
    /// How settings were searched.
    pub search: Search,
    /// Tuning trials per row.
    pub budget: usize,
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
    /// Every row compared with every other, on `select_by`.
    pub pairs: Vec<Paired>,
    /// What wins and what ties, as sentences.
    pub verdict: Vec<String>,
    /// Deviations of this table from the paper's, as sentences.
    pub deviations: Vec<String>,
}

/// One row of a finished table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    /// The settings that were tested, which are those of the best trial; empty if nothing was searched.
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
    /// Seeds that failed, and why.
    pub failed: BTreeMap<u64, String>,
    /// Means of the test metrics over seeds, with intervals.
    pub figures: BTreeMap<String, Interval>,
    /// Metrics that the paper prints.
    pub printed: Metrics,
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
    /// The metric on held-out training data; `None` if training failed.
    pub figure: Option<f64>,
}

impl RowResult {
    /// The metric of each seed.
    fn values(&self, metric: &str) -> Vec<(u64, f64)> {
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
    pub(super) runs: Vec<(u64, Result<RunResult, String>)>,
}

impl Tested<'_> {
    fn summed_up(self, metrics: &[String], printed: Metrics) -> RowResult {
        let mut runs = BTreeMap::new();
        let mut failed = BTreeMap::new();
        let mut epochs = Vec::new();
        for (seed, outcome) in self.runs {
            match outcome {
                Ok(result) => {
                    epochs.push(result.validation.epoch);
                    runs.insert(seed, with_oracle(&result));
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
        RowResult {
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
            failed,
            printed,
        }
    }
}

/// What all rows share.
pub(super) struct Common {
    pub(super) environment: Environment,
    pub(super) data: DataSummary,
    pub(super) baselines: BTreeMap<String, Metrics>,
    pub(super) metrics: Vec<String>,
}

impl TableResult {
    pub(super) fn new(plan: &TablePlan, tested: Vec<Tested<'_>>, common: Common) -> Self {
        let paper = plan.paper();
        let select_by = plan.select_by();
        let rows: Vec<RowResult> = tested
            .into_iter()
            .map(|row| {
                let printed = paper.figures(&row.row.name);
                row.summed_up(&common.metrics, printed)
            })
            .collect();
        let values: Vec<(&str, Vec<(u64, f64)>)> = rows.iter().map(|row| (row.name.as_str(), row.values(&select_by))).collect();
        let pairs = all_pairs(&values);
        let verdict = super::verdict::verdict(&rows, &pairs, &common.baselines, &select_by);
        Self {
            schema: SCHEMA,
            title: plan.title.clone(),
            command: plan.command.clone(),
            environment: common.environment,
            data: common.data,
            search: plan.search,
            budget: plan.budget,
            seeds: (0..plan.seeds as u64).collect(),
            select_by,
            metrics: common.metrics,
            rows,
            baselines: common.baselines,
            pairs,
            verdict,
            deviations: paper.deviations.clone(),
        }
    }
}
