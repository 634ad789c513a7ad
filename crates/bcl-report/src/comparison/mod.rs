//! Many runs as few rows: one per recipe and one per baseline, a table per data set.

mod export;
pub(crate) mod group;
mod legend;
mod paired;
#[cfg(test)]
mod tests;

use super::interval::{CONFIDENCE, Interval};
use super::metric_names::{decimals, higher_is_better};
use crate::result::{DataSize, DataSummary, RunResult};
use serde::Serialize;
use std::collections::BTreeMap;

/// Version of the layout that [`Comparison::to_json`] writes.
const SCHEMA: u32 = 1;

/// Means and intervals by name of figure.
pub type Intervals = BTreeMap<String, Interval>;

/// Results of runs side by side.
///
/// Runs whose recipes differ by seed alone share a row. Every number is measured on test.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    schema: u32,
    /// Probability of all intervals.
    pub confidence: f64,
    /// Names of the figures, in the order of the columns.
    pub metrics: Vec<String>,
    /// One table per data set, in the order of the runs.
    pub tables: Vec<DataTable>,
    /// What a reader has to know besides, as sentences.
    pub notes: Vec<String>,
}

/// Results on one data set.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DataTable {
    /// The data set.
    pub data: DataSummary,
    /// Recipes in the order of the runs, then baselines.
    pub rows: Vec<Row>,
    /// Each other recipe minus the first one with the `info_nce` loss, over the seeds that both have.
    pub differences: Vec<Difference>,
}

/// One recipe over its seeds, or one baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Name of the recipe or the baseline, unique within the table.
    pub name: String,
    /// Which of the two it is.
    pub kind: RowKind,
    /// The hash that its runs share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recipe_hash: Option<String>,
    /// Encoder of a recipe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoder: Option<String>,
    /// Estimator of a recipe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<String>,
    /// Seeds of a recipe, ascending.
    pub seeds: Vec<u64>,
    /// Figures at the epoch that the validation tenth chose.
    pub validation: Intervals,
    /// Figures at the epoch that is best on test.
    pub oracle: Intervals,
}

/// What a row stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RowKind {
    /// A trained recipe.
    Recipe,
    /// A model without epochs to choose from: it has the same figures under both choices.
    Baseline,
}

/// A recipe minus the reference recipe, seed by seed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// The recipe.
    pub name: String,
    /// What is subtracted.
    pub reference: String,
    /// The seeds that both have, ascending.
    pub seeds: Vec<u64>,
    /// Differences at the epochs that the validation tenth chose.
    pub validation: Intervals,
    /// Differences at the epochs that are best on test.
    pub oracle: Intervals,
}

/// How the epoch was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// By the validation tenth of train.
    Validation,
    /// By test itself.
    Oracle,
}

impl Choice {
    /// Both, the fair one first.
    pub const ALL: [Self; 2] = [Self::Validation, Self::Oracle];

    /// The heading of the column in a table of some data. The epochs of image encoders are not chosen: the last one counts.
    pub fn title(self, data: &DataSummary) -> &'static str {
        match (self, data.size) {
            (Self::Validation, DataSize::Images { .. }) => "last epoch",
            _ => self.name(),
        }
    }

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Validation => "validation",
            Self::Oracle => "oracle",
        }
    }
}

impl Comparison {
    /// Groups `runs` by data set and recipe and takes means of `metrics` over seeds.
    pub fn new<'a>(runs: impl IntoIterator<Item = &'a RunResult>, metrics: &[String]) -> Self {
        let mut notes = Vec::new();
        let tables = group::by_data(runs, &mut notes)
            .iter()
            .map(|groups| DataTable {
                data: groups.data.clone(),
                rows: groups.rows(metrics, &mut notes),
                differences: paired::differences(groups, metrics),
            })
            .collect();
        Self {
            schema: SCHEMA,
            confidence: CONFIDENCE,
            metrics: metrics.to_vec(),
            tables,
            notes,
        }
    }
}

impl Row {
    /// Figures under a choice.
    pub fn figures(&self, choice: Choice) -> &Intervals {
        match choice {
            Choice::Validation => &self.validation,
            Choice::Oracle => &self.oracle,
        }
    }
}

impl Difference {
    /// Differences under a choice.
    pub fn figures(&self, choice: Choice) -> &Intervals {
        match choice {
            Choice::Validation => &self.validation,
            Choice::Oracle => &self.oracle,
        }
    }
}

impl DataTable {
    /// Whether a recipe has a figure under `choice`; without `oracle` figures that column is left out.
    pub fn has(&self, choice: Choice) -> bool {
        let mut recipes = self.rows.iter().filter(|row| row.kind == RowKind::Recipe);
        recipes.any(|row| !row.figures(choice).is_empty())
    }

    /// Whether two recipes have a figure to be compared by: not every estimator has every figure.
    pub(super) fn is_compared(&self, choice: Choice, metric: &str) -> bool {
        self.differences.iter().any(|of| of.figures(choice).contains_key(metric))
    }

    /// Whether `row` has the best mean of its column, as far as the printed digits tell; never in a table of one row.
    pub fn is_best(&self, row: &Row, choice: Choice, metric: &str) -> bool {
        // Compared as printed, so that rows that read alike are marked alike.
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
