//! Loss and metrics over epochs.

use super::figure::{self, Figure};
use super::view::{DataView, RecipeView, Run};
use crate::chart::{Axis, LineChart, Reference, Series, Shape};
use crate::result::{Chosen, EpochRecord, LAST_LOSS, Phase};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The charts of the section; empty if no run has epochs.
pub(super) fn section(view: &DataView, id: &str) -> String {
    let charts = [loss(view, id), validation(view, id), test(view, id)];
    let charts = charts.into_iter().flatten().chain(scheduled(view, id));
    figure::section("Training", "", &figure::legend_of(view), charts)
}

fn loss(view: &DataView, id: &str) -> Option<Figure> {
    let series = over_seeds(view, RecipeView::shown_epochs, |record| Some(record.loss));
    let chart = over_epochs(
        "Training loss",
        "Mean training loss of each epoch in nats; one line per recipe.",
        4,
    )
    .with_series(series);
    let mut caption =
        "Mean over the anchors of each epoch, in nats. Losses of different estimators are not comparable.".to_owned();
    let records = view.recipes.iter().flat_map(|recipe| &recipe.runs).flat_map(|run| run.1);
    let without_negatives = records.map(|record| record.anchors_without_negatives).max().unwrap_or(0);
    if without_negatives > 0 {
        let _ = write!(
            caption,
            " Up to {without_negatives} anchors per epoch had no negatives and are left out."
        );
    }
    Some(Figure::new("Training loss", chart.to_svg(&format!("{id}-loss"))?, &caption))
}

fn validation(view: &DataView, id: &str) -> Option<Figure> {
    let metric = &view.followed;
    let mut series = over_seeds(
        view,
        |run| RecipeView::epochs(run, Phase::Selection),
        |record| record.validation.as_ref()?.get(metric).copied(),
    );
    let measured = |run: &Run, epoch| {
        value_at(RecipeView::epochs(run, Phase::Selection), epoch, |record| {
            record.validation.as_ref()?.get(metric).copied()
        })
    };
    series.extend(marks(view, |run| {
        let epoch = run.0.validation.epoch;
        Some((epoch, measured(run, epoch)?))
    }));
    let title = format!("{metric} on the validation set");
    let chart = over_epochs(
        &title,
        "The metric on the validation set after each epoch of the selection phase.",
        4,
    )
    .with_series(series);
    let caption = "Trained without the validation set, which is part of the training data. A point marks the chosen epoch.";
    Some(Figure::new(&title, chart.to_svg(&format!("{id}-validation"))?, caption))
}

fn test(view: &DataView, id: &str) -> Option<Figure> {
    let metric = &view.followed;
    // The training loss has a chart of its own.
    if metric == LAST_LOSS {
        return None;
    }
    let mut series = over_seeds(
        view,
        |run| run.1.iter().filter(|record| record.phase != Phase::Selection),
        |record| record.test.as_ref()?.get(metric).copied(),
    );
    let point = |chosen: &Chosen| Some((chosen.epoch, *chosen.metrics.get(metric)?));
    series.extend(marks(view, |run| point(&run.0.validation)));
    let references = baselines(view);
    let evaluated = view.data.size.can_be_evaluated();
    let title = if evaluated {
        format!("{metric} on the test set")
    } else {
        metric.clone()
    };
    let description = if evaluated {
        "The metric on the test set over epochs of training on all training data, with baselines as dashed lines."
    } else {
        "The metric over epochs of training, with baselines as dashed lines."
    };
    let chart = over_epochs(&title, description, 4)
        .with_series(series)
        .with_references(references.clone());
    let svg = chart.to_svg(&format!("{id}-test"))?;
    let mark = if view.is_of_last_epoch() {
        "the last epoch"
    } else {
        "the epoch chosen on the validation set"
    };
    let mut caption = if evaluated {
        format!("Trained on all training data. A point marks {mark}")
    } else {
        format!("Computed from two views of the same images; it describes the features, not their quality. A point marks {mark}")
    };
    let absent: Vec<String> = references
        .iter()
        .filter(|reference| !chart.shows(reference))
        .map(|reference| format!("{} ({:.4})", reference.name, reference.value))
        .collect();
    if !absent.is_empty() {
        let verb = if absent.len() == 1 { "is" } else { "are" };
        caption = format!("{caption}; {} {verb} outside the plotted range", absent.join(" and "));
    }
    caption.push('.');
    Some(Figure::new(&title, svg, &caption))
}

/// One chart per parameter of the loss that has a schedule, except α: the charts of the weights show its schedule.
fn scheduled(view: &DataView, id: &str) -> impl Iterator<Item = Figure> {
    let records = view.recipes.iter().flat_map(|recipe| &recipe.runs).flat_map(|run| run.1);
    let parameters: BTreeSet<&String> = records.flat_map(|record| record.scheduled.keys()).collect();
    let of_others = parameters.into_iter().filter(|parameter| *parameter != "alpha");
    of_others.filter_map(move |parameter| {
        let series = over_seeds(view, RecipeView::shown_epochs, |record| {
            record.scheduled.get(parameter).copied()
        });
        let chart = over_epochs(parameter, "The value of the parameter in each epoch.", 4).with_series(series);
        let caption = "Set by the schedule in [loss]; a learned temperature is that after each epoch.";
        Some(Figure::new(parameter, chart.to_svg(&format!("{id}-{parameter}"))?, caption))
    })
}

/// An empty chart over epochs whose tooltips show `decimals` digits.
pub(super) fn over_epochs(title: &str, description: &str, decimals: usize) -> LineChart {
    LineChart::new(title, description, Axis::counting("epoch"), Axis::linear("")).with_decimals(decimals)
}

/// The baselines of the data set, each once.
fn baselines(view: &DataView) -> Vec<Reference> {
    let mut references: Vec<Reference> = Vec::new();
    let runs = view.recipes.iter().flat_map(|recipe| &recipe.runs);
    for (name, figures) in runs.flat_map(|(result, _)| &result.baselines) {
        if let Some(&value) = figures.get(&view.followed)
            && !references.iter().any(|reference| reference.name == *name)
        {
            references.push(Reference {
                name: name.clone(),
                value,
            });
        }
    }
    references
}

/// Beyond this number of seeds, faint lines would be a single blot, and the page would be large.
const FAINT_LINES: usize = 20;

/// Reads a value from an epoch's record, if present.
pub(super) type Value = fn(&EpochRecord) -> Option<f64>;

/// The lines of several values over epochs, told apart by their shapes, without those of single seeds.
pub(super) fn several<const N: usize>(view: &DataView, kinds: [(Shape, &str, Value); N]) -> Vec<Series> {
    let mut series = Vec::new();
    for (shape, symbol, value) in kinds {
        for mut line in over_seeds(view, RecipeView::shown_epochs, value) {
            if line.shape == Shape::Line {
                line.name = if view.recipes.len() > 1 {
                    format!("{}, {symbol}", line.name)
                } else {
                    symbol.to_owned()
                };
                line.shape = shape;
                series.push(line);
            }
        }
    }
    series
}

/// Per recipe: one line, or for several seeds the line of their mean and one faint line per seed, unless there are too many to tell apart.
pub(super) fn over_seeds<'a, Epochs: Iterator<Item = &'a EpochRecord>>(
    view: &DataView<'a>,
    epochs: impl Fn(&Run<'a>) -> Epochs,
    value: impl Fn(&EpochRecord) -> Option<f64>,
) -> Vec<Series> {
    let mut all = Vec::new();
    for recipe in &view.recipes {
        let seeds: Vec<Vec<(f64, f64)>> = recipe
            .runs
            .iter()
            .map(|run| {
                let points = epochs(run).filter_map(|record| Some((record.epoch as f64, value(record)?)));
                points.collect()
            })
            .filter(|points: &Vec<_>| !points.is_empty())
            .collect();
        let series = |shape, points: Vec<(f64, f64)>| Series::new(&recipe.name, shape, points).with_colour(recipe.colour);
        let Some(first) = seeds.first() else {
            continue;
        };
        all.push(series(Shape::Line, mean(first, &seeds)));
        if (2..=FAINT_LINES).contains(&seeds.len()) && view.charted().len() == view.recipes.len() {
            all.extend(seeds.into_iter().map(|points| series(Shape::Faint, points)));
        }
    }
    all
}

/// Mean over seeds at the epochs that all seeds reached.
fn mean(first: &[(f64, f64)], seeds: &[Vec<(f64, f64)>]) -> Vec<(f64, f64)> {
    let at = |points: &[(f64, f64)], epoch: f64| points.iter().find(|(x, _)| *x == epoch).map(|(_, y)| *y);
    first
        .iter()
        .filter_map(|&(epoch, _)| {
            let values: Option<Vec<f64>> = seeds.iter().map(|points| at(points, epoch)).collect();
            Some((epoch, values?.iter().sum::<f64>() / seeds.len() as f64))
        })
        .collect()
}

/// One mark per run, if `point` returns one.
fn marks(view: &DataView, point: impl Fn(&Run) -> Option<(usize, f64)>) -> Vec<Series> {
    let series = view.recipes.iter().map(|recipe| {
        let points = recipe.runs.iter().filter_map(&point);
        let points = points.map(|(epoch, value)| (epoch as f64, value));
        Series::new(&recipe.name, Shape::Mark, points).with_colour(recipe.colour)
    });
    series.collect()
}

fn value_at<'a>(
    mut epochs: impl Iterator<Item = &'a EpochRecord>,
    epoch: usize,
    value: impl Fn(&EpochRecord) -> Option<f64>,
) -> Option<f64> {
    value(epochs.find(|record| record.epoch == epoch)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_stops_where_the_shortest_seed_stops() {
        let seeds = [vec![(1.0, 1.0), (2.0, 2.0), (3.0, 9.0)], vec![(1.0, 3.0), (2.0, 4.0)]];
        assert_eq!(mean(&seeds[0], &seeds), [(1.0, 2.0), (2.0, 3.0)]);
    }
}
