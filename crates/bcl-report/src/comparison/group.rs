//! Groups runs by data set, recipe and baseline.

use super::{Choice, Epochs, Interval, Intervals, Row, RowKind};
use crate::left_out;
use crate::result::{DataSize, DataSummary, Metrics, RunResult};
use std::collections::{BTreeMap, BTreeSet};

/// The runs on one data set.
pub(crate) struct DataGroup<'a> {
    pub(crate) data: &'a DataSummary,
    pub(crate) recipes: Vec<RecipeGroup<'a>>,
}

/// The runs of one recipe, one per seed.
pub(crate) struct RecipeGroup<'a> {
    /// Name of the recipe, followed by the start of its hash if another recipe of the data set has the same name.
    pub(crate) name: String,
    pub(crate) runs: BTreeMap<u64, &'a RunResult>,
}

/// Test metrics of a run at the chosen epoch; `None` if the run has none for this choice.
pub(super) fn figures(run: &RunResult, choice: Choice) -> Option<&Metrics> {
    match choice {
        Choice::Validation => Some(&run.validation.metrics),
        Choice::Oracle => run.oracle.as_ref().map(|chosen| &chosen.metrics),
    }
}

/// Groups runs by data set and recipe, both in the order of their first run.
///
/// Of several runs with the same recipe and seed, only the last counts: they are not independent, and counting all of them would make
/// the interval too narrow.
pub(crate) fn by_data<'a>(runs: impl IntoIterator<Item = &'a RunResult>, notes: &mut Vec<String>) -> Vec<DataGroup<'a>> {
    let mut groups: Vec<DataGroup> = Vec::new();
    let mut repeated = 0;
    for run in runs {
        let position = groups.iter().position(|group| *group.data == run.data).unwrap_or_else(|| {
            groups.push(DataGroup {
                data: &run.data,
                recipes: Vec::new(),
            });
            groups.len() - 1
        });
        let recipes = &mut groups[position].recipes;
        let position = recipes
            .iter()
            .position(|recipe| recipe.first().recipe_hash == run.recipe_hash)
            .unwrap_or_else(|| {
                recipes.push(RecipeGroup {
                    name: run.name.clone(),
                    runs: BTreeMap::from([(run.seed, run)]),
                });
                recipes.len() - 1
            });
        if let Some(previous) = recipes[position].runs.insert(run.seed, run) {
            repeated += usize::from(!std::ptr::eq(previous, run));
        }
    }
    if repeated > 0 {
        let (noun, verb) = if repeated == 1 {
            ("run", "repeats")
        } else {
            ("runs", "repeat")
        };
        notes.push(format!(
            "{repeated} {noun} {verb} the recipe and seed of another run; only the last of them is used."
        ));
    }
    groups.iter_mut().for_each(DataGroup::make_names_unique);
    groups
}

impl<'a> RecipeGroup<'a> {
    /// The first run of the recipe; there is always one.
    pub(super) fn first(&self) -> &'a RunResult {
        self.runs.values().next().expect("a group has at least one run")
    }

    fn row(&self, metrics: &[String]) -> Row {
        let first = self.first();
        Row {
            name: self.name.clone(),
            kind: RowKind::Recipe,
            recipe_hash: Some(first.recipe_hash.clone()),
            encoder: Some(first.encoder.clone()),
            loss: Some(first.loss.clone()),
            seeds: self.runs.keys().copied().collect(),
            validation: intervals(metrics, self.runs.values().filter_map(|run| figures(run, Choice::Validation))),
            oracle: intervals(metrics, self.runs.values().filter_map(|run| figures(run, Choice::Oracle))),
        }
    }
}

impl<'a> DataGroup<'a> {
    /// The runs of all recipes.
    pub(super) fn runs(&self) -> impl Iterator<Item = &'a RunResult> + Clone {
        self.recipes.iter().flat_map(|recipe| recipe.runs.values()).copied()
    }

    /// Where the epochs of the results come from.
    pub(super) fn epochs(&self) -> Epochs {
        let last = self.runs().filter(|run| !run.has_chosen_epoch()).count();
        match last {
            0 => Epochs::Chosen,
            _ if last == self.runs().count() => Epochs::Last,
            _ => Epochs::Mixed,
        }
    }

    fn make_names_unique(&mut self) {
        let names: Vec<String> = self.recipes.iter().map(|recipe| recipe.name.clone()).collect();
        for recipe in &mut self.recipes {
            if names.iter().filter(|name| **name == recipe.name).count() > 1 {
                let hash: String = recipe.first().recipe_hash.chars().take(7).collect();
                recipe.name = format!("{} [{hash}]", recipe.name);
            }
        }
    }

    /// The rows of the table: recipes, then baselines.
    pub(super) fn rows(&self, metrics: &[String], notes: &mut Vec<String>) -> Vec<Row> {
        let mut rows: Vec<Row> = self.recipes.iter().map(|recipe| recipe.row(metrics)).collect();
        rows.extend(self.baselines(metrics, notes));
        rows
    }

    /// What nothing could be learned about: test users and items that train lacks. Such users are not evaluated; such items count as missed.
    pub(super) fn untrained(&self) -> Option<String> {
        let DataSize::Interactions { test, .. } = self.data.size else {
            return None;
        };
        let run = self.recipes.first()?.first();
        let untrained = left_out::untrained(run.left_out.as_ref()?, test)?;
        Some(format!("{}: {untrained}.", self.data.name))
    }

    /// One row per baseline. Runs with the same seed and split give the same results, so different results come from different settings
    /// or data. The distinct results are averaged.
    fn baselines(&self, metrics: &[String], notes: &mut Vec<String>) -> Vec<Row> {
        let names: BTreeSet<&String> = self.runs().flat_map(|run| run.baselines.keys()).collect();
        let mut rows = Vec::new();
        for name in names {
            let mut distinct: Vec<&Metrics> = Vec::new();
            let mut of_seed: BTreeMap<u64, &Metrics> = BTreeMap::new();
            let mut seeds_agree = true;
            for (seed, figures) in self.runs().filter_map(|run| Some((run.seed, run.baselines.get(name)?))) {
                if !distinct.contains(&figures) {
                    distinct.push(figures);
                }
                seeds_agree &= *of_seed.entry(seed).or_insert(figures) == figures;
            }
            if !seeds_agree {
                notes.push(format!(
                    "the baseline {name} on {} has {} different results among these runs, because of different settings or data; the \
                     table shows their mean.",
                    self.data.name,
                    distinct.len()
                ));
            }
            let figures = intervals(metrics, distinct);
            rows.push(Row {
                name: name.clone(),
                kind: RowKind::Baseline,
                recipe_hash: None,
                encoder: None,
                loss: None,
                seeds: Vec::new(),
                validation: figures.clone(),
                oracle: figures,
            });
        }
        rows
    }
}

/// Means of `metrics` over the results that have them.
pub(super) fn intervals<'a>(metrics: &[String], figures: impl IntoIterator<Item = &'a Metrics>) -> Intervals {
    let figures: Vec<&Metrics> = figures.into_iter().collect();
    metrics
        .iter()
        .filter_map(|metric| {
            let values: Vec<f64> = figures.iter().filter_map(|figures| figures.get(metric)).copied().collect();
            Some((metric.clone(), Interval::of(&values)?))
        })
        .collect()
}
