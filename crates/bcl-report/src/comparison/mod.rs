//! Compares runs: one table per data set, one row per recipe or baseline.

mod export;
pub(crate) mod group;
mod legend;
mod paired;
#[cfg(test)]
mod tests;
pub(crate) mod text;

use super::interval::{CONFIDENCE, Interval};
use super::metric_names::{all_metrics, decimals, default_metrics, higher_is_better, in_order};
use crate::result::{DataSummary, RunResult};
use serde::Serialize;
use std::collections::BTreeMap;

/// Schema version of [`Comparison::to_json`].
const SCHEMA: u32 = 1;

/// Means and intervals by name of the metric.
pub type Intervals = BTreeMap<String, Interval>;

/// A comparison of runs, with means and confidence intervals over seeds.
///
/// Runs whose recipes differ only in the seed share a row. All metrics are measured on the test set.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    schema: u32,
    /// Confidence level of all intervals.
    pub confidence: f64,
    /// Names of the metrics of all tables, in the order of the columns.
    pub metrics: Vec<String>,
    /// One table per data set, in the order of the runs.
    pub tables: Vec<DataTable>,
    /// Further notes for the reader, as sentences.
    pub notes: Vec<String>,
}

/// Results on one data set.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DataTable {
    /// The data set.
    pub data: DataSummary,
    /// Where the epochs of its results come from.
    #[serde(skip)]
    pub(crate) epochs: Epochs,
    /// Names of the metrics of this table, in the order of the columns. JSON has them as keys of the rows.
    #[serde(skip)]
    pub metrics: Vec<String>,
    /// Recipes in the order of the runs, then baselines.
    pub rows: Vec<Row>,
    /// Each other recipe minus the reference, which is the first recipe with the `info_nce` loss, over their common seeds.
    pub differences: Vec<Difference>,
}

/// One recipe over its seeds, or one baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Name of the recipe or the baseline, unique within the table.
    pub name: String,
    /// Whether the row is a recipe or a baseline.
    pub kind: RowKind,
    /// Recipe hash, which all its runs share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recipe_hash: Option<String>,
    /// Encoder of a recipe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoder: Option<String>,
    /// Estimator of a recipe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<String>,
    /// Seeds of a recipe, in ascending order.
    pub seeds: Vec<u64>,
    /// Metrics at the epoch chosen on the validation set.
    pub validation: Intervals,
    /// Metrics at the epoch that is best on the test set.
    pub oracle: Intervals,
}

/// Whether a row is a recipe or a baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RowKind {
    /// A trained recipe.
    Recipe,
    /// A baseline model. It has no epochs to choose from, so both choices have the same metrics.
    Baseline,
}

/// The difference between a recipe and the reference recipe, paired by seed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// The recipe.
    pub name: String,
    /// The reference recipe, which is subtracted.
    pub reference: String,
    /// The seeds that both have, in ascending order.
    pub seeds: Vec<u64>,
    /// Differences at the epochs chosen on the validation set.
    pub validation: Intervals,
    /// Differences at the epochs that are best on the test set.
    pub oracle: Intervals,
}

/// How the reported epoch was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// On the validation set, a tenth of the training data.
    Validation,
    /// On the test set itself.
    Oracle,
}

impl Choice {
    /// Both choices, the unbiased one first.
    pub const ALL: [Self; 2] = [Self::Validation, Self::Oracle];

    /// The name used in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Validation => "validation",
            Self::Oracle => "oracle",
        }
    }
}

/// Where the epochs of the unbiased results of a table come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Epochs {
    /// All runs chose theirs on held-out data.
    Chosen,
    /// All runs have the metrics of their last epoch.
    Last,
    /// Some runs chose theirs, and the others have the metrics of their last epoch.
    Mixed,
}

impl Comparison {
    /// Groups `runs` by data set and recipe and averages `metrics` over seeds. All tables have the same metrics.
    pub fn new<'a>(runs: impl IntoIterator<Item = &'a RunResult>, metrics: &[String]) -> Self {
        Self {
            metrics: metrics.to_vec(),
            ..Self::choosing(runs, |_| metrics.to_vec())
        }
    }

    /// Groups `runs` by data set and recipe and averages the [`default_metrics`] of each data set over seeds.
    pub fn with_default_metrics<'a>(runs: impl IntoIterator<Item = &'a RunResult>) -> Self {
        Self::choosing(runs, |group| default_metrics(group.runs()))
    }

    /// Groups `runs` by data set and recipe and averages all metrics of each data set over seeds.
    pub(crate) fn with_all_metrics<'a>(runs: impl IntoIterator<Item = &'a RunResult>) -> Self {
        Self::choosing(runs, |group| all_metrics(group.runs()))
    }

    /// Compares `runs` by the metrics that `choose` returns for each table: runs of different kinds have no metric in common.
    fn choosing<'a>(runs: impl IntoIterator<Item = &'a RunResult>, choose: impl Fn(&group::DataGroup) -> Vec<String>) -> Self {
        let mut notes = Vec::new();
        let groups = group::by_data(runs, &mut notes);
        notes.extend(groups.iter().filter_map(group::DataGroup::untrained));
        let tables: Vec<DataTable> = groups
            .iter()
            .map(|group| {
                let metrics = choose(group);
                DataTable {
                    data: group.data.clone(),
                    epochs: group.epochs(),
                    rows: group.rows(&metrics, &mut notes),
                    differences: paired::differences(group, &metrics),
                    metrics,
                }
            })
            .collect();
        Self {
            schema: SCHEMA,
            confidence: CONFIDENCE,
            metrics: in_order(tables.iter().flat_map(|table| table.metrics.iter().cloned())),
            tables,
            notes,
        }
    }
}

impl Row {
    /// Metrics at the chosen epoch.
    pub fn figures(&self, choice: Choice) -> &Intervals {
        match choice {
            Choice::Validation => &self.validation,
            Choice::Oracle => &self.oracle,
        }
    }
}

impl Difference {
    /// Differences at the chosen epoch.
    pub fn figures(&self, choice: Choice) -> &Intervals {
        match choice {
            Choice::Validation => &self.validation,
            Choice::Oracle => &self.oracle,
        }
    }
}

impl DataTable {
    /// The column heading of a choice of epoch.
    pub fn title(&self, choice: Choice) -> &'static str {
        match (choice, self.epochs) {
            (Choice::Validation, Epochs::Last) => "last epoch",
            (Choice::Validation, Epochs::Mixed) => "last or chosen epoch",
            _ => choice.name(),
        }
    }

    /// Returns whether any recipe has metrics for `choice`; tables leave out a column without any.
    pub fn has(&self, choice: Choice) -> bool {
        let mut recipes = self.rows.iter().filter(|row| row.kind == RowKind::Recipe);
        recipes.any(|row| !row.figures(choice).is_empty())
    }

    /// Returns whether any difference has this metric; not every estimator has every metric.
    pub(super) fn is_compared(&self, choice: Choice, metric: &str) -> bool {
        self.differences.iter().any(|of| of.figures(choice).contains_key(metric))
    }

    /// Returns whether `row` has the best mean of its column after rounding to the printed digits; never if only one row has the metric.
    pub fn is_best(&self, row: &Row, choice: Choice, metric: &str) -> bool {
        // Compared as printed, so that rows that print the same value are marked the same.
        let printed = |row: &Row| {
            let mean = row.figures(choice).get(metric)?.mean;
            format!("{mean:.*}", decimals(metric)).parse::<f64>().ok()
        };
        let Some(own) = printed(row) else {
            return false;
        };
        let others: Vec<f64> = self.rows.iter().filter_map(printed).collect();
        higher_is_better(metric) && others.len() > 1 && others.iter().all(|&other| other <= own)
    }
}
