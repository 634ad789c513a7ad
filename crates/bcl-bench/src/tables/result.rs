//! The table as it is kept and compared.

use super::{Paired, Plan, Row, Search, Space, statistics::all_pairs};
use bcl_report::{
    Interval,
    result::{DataSummary, Environment, Metrics, RunResult},
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the layout of `table.json`.
const SCHEMA: u32 = 1;

/// A finished table. Two of the same plan, seeds and program on the same device are equal to the byte, however often they were interrupted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableResult {
    /// Version of this layout.
    pub schema: u32,
    /// The heading.
    pub title: String,
    /// The command that made it.
    pub command: String,
    /// Where it ran.
    pub environment: Environment,
    /// The data.
    pub data: DataSummary,
    /// How settings were searched.
    pub search: Search,
    /// Trials a row.
    pub budget: usize,
    /// Seeds of the tests.
    pub seeds: Vec<u64>,
    /// The figure by which settings were chosen and rows are compared.
    pub select_by: String,
    /// Names of all figures shown, in order.
    pub metrics: Vec<String>,
    /// The rows.
    pub rows: Vec<RowResult>,
    /// Test figures of what needs no training, by name.
    pub baselines: BTreeMap<String, Metrics>,
    /// Every row against every other, on `select_by`.
    pub pairs: Vec<Paired>,
    /// What wins and what ties, as sentences.
    pub verdict: Vec<String>,
    /// In what this table departs from the paper's, as sentences.
    pub deviations: Vec<String>,
}

/// One row of a finished table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RowResult {
    /// Its name.
    pub name: String,
    /// The kind of its loss.
    pub loss: String,
    /// The kind of its encoder.
    pub encoder: String,
    /// What was searched.
    pub space: Space,
    /// Every trial, in order.
    pub trials: Vec<Trial>,
    /// The settings that were tested, those of the best trial; empty where nothing was searched.
    pub tuned: BTreeMap<String, toml::Value>,
    /// Hash of the recipe with these settings.
    pub recipe_hash: String,
    /// Epochs that each seed was trained for.
    pub epochs: Vec<usize>,
    /// The most it could have been, where held-out data chose their number.
    #[serde(default)]
    pub epochs_at_most: Option<usize>,
    /// Test figures of each seed.
    pub runs: BTreeMap<u64, Metrics>,
    /// Seeds without figures, and why.
    pub failed: BTreeMap<u64, String>,
    /// Means of test figures over seeds, with their intervals.
    pub figures: BTreeMap<String, Interval>,
    /// The figures that the paper prints.
    pub printed: Metrics,
}

/// Settings that were tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Its number, from 0.
    pub number: usize,
    /// The values drawn.
    pub values: BTreeMap<String, toml::Value>,
    /// The most epochs it was trained for.
    pub epochs: usize,
    /// The figure on held-out training data; none where training failed.
    pub figure: Option<f64>,
}

impl RowResult {
    /// The figure of each seed.
    fn values(&self, metric: &str) -> Vec<(u64, f64)> {
        let value = |(seed, figures): (&u64, &Metrics)| Some((*seed, *figures.get(metric)?));
        self.runs.iter().filter_map(value).collect()
    }
}

/// What testing one row gave.
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
                    runs.insert(seed, result.validation.metrics);
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
            loss: self.row.estimator(),
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

/// What all rows have in common.
pub(super) struct Common {
    pub(super) environment: Environment,
    pub(super) data: DataSummary,
    pub(super) baselines: BTreeMap<String, Metrics>,
    pub(super) metrics: Vec<String>,
}

impl TableResult {
    pub(super) fn new(plan: &Plan, tested: Vec<Tested<'_>>, common: Common) -> Self {
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
