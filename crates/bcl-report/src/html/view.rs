//! The runs of a page, grouped and sorted as the page shows them.

use crate::comparison::group;
use crate::metric_names::last_accuracy;
use crate::result::{DataSummary, EpochRecord, Phase, RunResult};
use crate::{Comparison, DataTable, default_metrics};

/// The most recipes of a data set that have charts of their own, and lines of single seeds beside their means: a page of hundreds of runs opens
/// at once, and the report of each run has its charts.
const MOST_CHARTED: usize = 8;

/// A run and the records of its epochs.
pub(super) type Run<'a> = (&'a RunResult, &'a [EpochRecord]);

/// The content of a page.
pub(super) struct Page<'a> {
    pub(super) comparison: Comparison,
    /// The same comparison with all metrics.
    pub(super) complete: Comparison,
    /// One per table of the comparison, in the same order.
    pub(super) data: Vec<DataView<'a>>,
}

/// The runs on one data set.
pub(super) struct DataView<'a> {
    pub(super) data: &'a DataSummary,
    pub(super) recipes: Vec<RecipeView<'a>>,
    /// The metric that headlines show.
    pub(super) metric: String,
    /// The metric that curves show: the same, or else one measured during training.
    pub(super) followed: String,
}

/// The runs of one recipe, by seed.
pub(super) struct RecipeView<'a> {
    pub(super) name: String,
    /// Its colour number, the same in all charts.
    pub(super) colour: usize,
    pub(super) runs: Vec<Run<'a>>,
}

impl<'a> Page<'a> {
    pub(super) fn new(runs: &'a [(RunResult, Vec<EpochRecord>)]) -> Self {
        let results = runs.iter().map(|(result, _)| result);
        let data = group::by_data(results.clone(), &mut Vec::new())
            .into_iter()
            .map(|group| DataView::new(group, runs))
            .collect();
        Self {
            comparison: Comparison::with_default_metrics(results.clone()),
            complete: Comparison::with_all_metrics(results),
            data,
        }
    }

    /// The data sets with their tables.
    pub(super) fn parts(&self) -> impl Iterator<Item = (&DataView<'a>, &DataTable)> {
        self.data.iter().zip(&self.comparison.tables)
    }

    pub(super) fn recipes(&self) -> impl Iterator<Item = &RecipeView<'a>> {
        self.data.iter().flat_map(|data| &data.recipes)
    }
}

impl<'a> DataView<'a> {
    fn new(group: group::DataGroup<'a>, runs: &'a [(RunResult, Vec<EpochRecord>)]) -> Self {
        let records_of = |result: &RunResult| -> &'a [EpochRecord] {
            let run = runs.iter().find(|(other, _)| std::ptr::eq(other, result));
            run.map_or(&[], |(_, records)| records)
        };
        let recipes: Vec<RecipeView> = group
            .recipes
            .into_iter()
            .enumerate()
            .map(|(colour, recipe)| RecipeView {
                name: recipe.name,
                colour,
                runs: recipe.runs.into_values().map(|result| (result, records_of(result))).collect(),
            })
            .collect();
        let metric = metric_of(&recipes);
        Self {
            data: group.data,
            followed: followed(&recipes, &metric),
            recipes,
            metric,
        }
    }
}

/// The metric by which the first recipe chose its epoch, if all runs have it; else the linear probe's metric, or the last one of the table.
fn metric_of(recipes: &[RecipeView]) -> String {
    let results = recipes.iter().flat_map(|recipe| &recipe.runs).map(|(result, _)| *result);
    let selected = results.clone().next().and_then(|run| selection_metric(&run.recipe));
    match selected {
        Some(metric) if results.clone().all(|run| run.validation.metrics.contains_key(metric)) => metric.to_owned(),
        _ => {
            let shown = default_metrics(results);
            let probe = shown.iter().find(|metric| *metric == "probe_top1").cloned();
            probe.or_else(|| last_accuracy(shown)).unwrap_or_default()
        }
    }
}

/// `metric` if the records of epochs have it, else the last accuracy of the table.
fn followed(recipes: &[RecipeView], metric: &str) -> String {
    let runs = || recipes.iter().flat_map(|recipe| &recipe.runs);
    let mut figures = runs().flat_map(|(_, records)| records.iter().flat_map(|record| [&record.validation, &record.test]));
    if figures.any(|figures| figures.as_ref().is_some_and(|figures| figures.contains_key(metric))) {
        return metric.to_owned();
    }
    last_accuracy(default_metrics(runs().map(|(result, _)| *result).collect::<Vec<_>>())).unwrap_or_default()
}

/// The metric that selected an epoch; version 0.1 kept it in the table of the evaluation.
fn selection_metric(recipe: &serde_json::Value) -> Option<&str> {
    let metric = &recipe["selection"]["metric"];
    metric.as_str().or_else(|| recipe["evaluation"]["select_by"].as_str())
}

impl<'a> DataView<'a> {
    /// The recipes that have charts of their own.
    pub(super) fn charted(&self) -> &[RecipeView<'a>] {
        &self.recipes[..self.recipes.len().min(MOST_CHARTED)]
    }

    /// Says which recipes have no charts of their own; empty if all have.
    pub(super) fn uncharted(&self) -> String {
        match self.recipes.len() - self.charted().len() {
            0 => String::new(),
            others => format!(" Drawn for the first {MOST_CHARTED} recipes; the reports of the other {others} have theirs."),
        }
    }
}

impl DataView<'_> {
    /// Returns whether results come from the last epoch (images, graphs) rather than from an epoch chosen on the validation set.
    pub(super) fn is_of_last_epoch(&self) -> bool {
        let mut runs = self.recipes.iter().flat_map(|recipe| &recipe.runs);
        !runs.any(|(result, _)| result.has_chosen_epoch())
    }
}

impl RecipeView<'_> {
    /// One of its runs; they differ only in the seed.
    pub(super) fn result(&self) -> &RunResult {
        self.runs[0].0
    }

    /// The epochs that charts show: the epochs on all training data, which the results come from, or else the selection phase's epochs.
    pub(super) fn shown_epochs<'a>(run: &Run<'a>) -> impl Iterator<Item = &'a EpochRecord> + use<'a> {
        let has = |phase| run.1.iter().any(|record| record.phase == phase);
        let phases = [Phase::Refit, Phase::Training];
        Self::epochs(run, phases.into_iter().find(|&phase| has(phase)).unwrap_or(Phase::Selection))
    }

    /// The epochs of one phase of a run.
    pub(super) fn epochs<'a>(run: &Run<'a>, phase: Phase) -> impl Iterator<Item = &'a EpochRecord> + use<'a> {
        run.1.iter().filter(move |record| record.phase == phase)
    }
}
