//! The metrics that the papers print, and how our tables deviate from theirs.

use super::TablePlan;
use bcl_report::{
    all_metrics, default_metrics,
    result::{DataSize, Metrics, RunResult},
};
use serde::Deserialize;
use std::collections::BTreeMap;

/// All tables of the papers that are built in.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// Deviations that all tables of recommenders have.
    recommenders: Vec<String>,
    /// Deviations that all tables of image encoders have.
    images: Vec<String>,
    /// Deviations that all parts of a table of another paper have, in place of those above.
    papers: BTreeMap<String, Vec<String>>,
    /// Printed tables, by table and data set, and by part if a data set has several: `cifar10/moco`.
    tables: BTreeMap<String, BTreeMap<String, Printed>>,
}

/// A table of a paper, for one data set.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Printed {
    /// Deviations of our table from it, as sentences.
    pub deviations: Vec<String>,
    /// Metrics by row and name, as shares even if the paper prints percentages.
    rows: BTreeMap<String, Metrics>,
    /// What is printed behind a ± of these metrics, if anything, also as shares. Few papers say what it is.
    plus_minus: BTreeMap<String, Metrics>,
}

impl Printed {
    /// The printed metrics of a row.
    pub fn figures(&self, row: &str) -> Metrics {
        self.rows.get(row).cloned().unwrap_or_default()
    }

    /// What is printed behind a ± of a row's metrics.
    pub fn plus_minus(&self, row: &str) -> Metrics {
        self.plus_minus.get(row).cloned().unwrap_or_default()
    }
}

impl Paper {
    /// The built-in tables.
    pub fn builtin() -> Self {
        toml::from_str(include_str!("paper.toml")).expect("the built-in file is valid")
    }

    /// One table and data set, or a part of it such as `cifar10/moco`, including the deviations of its data set, and those that all tables
    /// of its kind or paper have.
    pub fn table(&self, table: &str, dataset: &str, is_recommender: bool) -> Printed {
        let find = |dataset: &str| self.tables.get(table).and_then(|sets| sets.get(dataset));
        let mut printed = find(dataset).cloned().unwrap_or_default();
        let of_dataset = dataset.split_once('/').and_then(|(dataset, _)| find(dataset));
        let general = match self.papers.get(table) {
            Some(of_paper) => of_paper,
            None if is_recommender => &self.recommenders,
            None => &self.images,
        };
        let inherited = of_dataset.into_iter().flat_map(|printed| &printed.deviations).chain(general);
        printed.deviations.extend(inherited.cloned());
        printed
    }
}

impl TablePlan {
    /// The paper's version of this table; empty if the paper has none.
    pub(super) fn paper(&self) -> Printed {
        let is_recommender = self.rows[0].is_recommender();
        match &self.printed {
            Some((table, dataset)) => Paper::builtin().table(table, dataset, is_recommender),
            None => Printed::default(),
        }
    }

    /// The metrics that the table shows: the metrics in reports and the metrics that the paper prints, in the order of reports.
    pub(super) fn metrics(&self, results: &[&RunResult]) -> Vec<String> {
        let shown = default_metrics(results.iter().copied());
        let printed = self.paper();
        let mut metrics = all_metrics(results.iter().copied());
        metrics.retain(|metric| shown.contains(metric) || printed.rows.values().any(|row| row.contains_key(metric)));
        let with_oracle: Vec<Metrics> = results.iter().map(|result| with_oracle(result)).collect();
        let of_oracle = metrics.iter().map(|metric| oracle_name(metric));
        let of_oracle: Vec<String> = of_oracle
            .filter(|metric| with_oracle.iter().any(|metrics| metrics.contains_key(metric)))
            .collect();
        metrics.extend(of_oracle);
        metrics
    }
}

/// The test metrics of a run. Runs on graphs and images include the metrics of the epoch that is best on test, which papers print, if the recipe asks
/// for it.
pub(super) fn with_oracle(result: &RunResult) -> Metrics {
    let mut metrics = result.validation.metrics.clone();
    if let (DataSize::Graphs { .. } | DataSize::Images { .. }, Some(oracle)) = (result.data.size, &result.oracle) {
        let named = |(name, figure): (&String, &f64)| (oracle_name(name), *figure);
        metrics.extend(oracle.metrics.iter().map(named));
    }
    metrics
}

/// The name of a metric at the epoch that is best on test.
fn oracle_name(metric: &str) -> String {
    format!("{metric}, oracle")
}

#[cfg(test)]
mod tests;
