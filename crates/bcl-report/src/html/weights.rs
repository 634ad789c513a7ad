//! How the estimator weights negatives: weights, effective sample size, floor, α.

use super::curves::{Value, over_epochs, over_seeds, several};
use super::figure::{self, Figure};
use super::view::{DataView, RecipeView};
use crate::chart::{FanChart, HistogramStrip, Quantiles, Reference, Shape};

/// The charts of the section.
pub(super) fn section(view: &DataView, id: &str) -> String {
    let mut charts = vec![
        effective_sample_size(view, id),
        floored(view, id),
        alpha(view, id),
        gradient(view, id),
    ];
    let mut unweighted = Vec::new();
    for recipe in &view.recipes {
        let quantiles = quantiles(recipe);
        if quantiles
            .iter()
            .flat_map(|(_, weights)| weights)
            .all(|weight| (weight - 1.0).abs() < 1e-6)
        {
            if !quantiles.is_empty() {
                unweighted.push(recipe.name.as_str());
            }
        } else if recipe.colour < view.charted().len() {
            charts.push(weights(recipe, &quantiles, id));
            charts.push(histogram(recipe, id));
        }
    }
    let intro = match unweighted[..] {
        [] => String::new(),
        [name] => format!("{name} gives every negative weight 1."),
        [ref others @ .., last] => format!("{} and {last} give every negative weight 1.", others.join(", ")),
    };
    let intro = intro + &view.uncharted();
    figure::section(
        "Negatives",
        intro.trim(),
        &figure::legend_of(view),
        charts.into_iter().flatten(),
    )
}

fn effective_sample_size(view: &DataView, id: &str) -> Option<Figure> {
    let series = over_seeds(view, RecipeView::shown_epochs, |record| record.effective_sample_size);
    let chart = over_epochs(
        "Effective sample size",
        "Effective sample size of the negatives, as a fraction of their number, after each epoch; one line per recipe.",
        3,
    )
    .with_series(series);
    let caption = "(Σω)² / Σω² as a fraction of the number of negatives N: 1 if all weights are equal, 1/N if one negative has all the weight.";
    Some(Figure::new(
        "Effective sample size",
        chart.to_svg(&format!("{id}-ess"))?,
        caption,
    ))
}

fn floored(view: &DataView, id: &str) -> Option<Figure> {
    let chart = over_epochs(
        "Anchors at the floor",
        "Share of anchors at the floor of the loss after each epoch; one line per recipe.",
        3,
    )
    .with_series(over_seeds(view, RecipeView::shown_epochs, |record| record.floored));
    let caption = "Share of anchors whose negatives have no gradient, because what remains of them after the correction for false negatives \
                   is at its lower bound: these anchors only pull towards their positives. A low temperature brings more anchors there.";
    Some(Figure::new(
        "Anchors at the floor",
        chart.to_svg(&format!("{id}-floor"))?,
        caption,
    ))
}

/// Share of the gradient on false negatives, compared with their share of all negatives.
fn gradient(view: &DataView, id: &str) -> Option<Figure> {
    let series = over_seeds(view, RecipeView::shown_epochs, |record| {
        Some(record.false_negatives?.gradient)
    });
    let known = view.recipes.iter().flat_map(|recipe| &recipe.runs).flat_map(|run| run.1);
    let reference = known
        .filter_map(|record| record.false_negatives)
        .next_back()
        .map(|found| Reference {
            name: "their share".to_owned(),
            value: found.share,
        });
    let chart = over_epochs(
        "Gradient on false negatives",
        "Share of the gradient on negatives of the anchor's own class after each epoch; one line per recipe.",
        3,
    )
    .with_series(series)
    .with_references(reference);
    let caption = "Σ |∂loss / ∂score| over negatives of the anchor's own class, divided by the sum over all negatives: the part of the \
                   gradient that wrongly separates samples of one class. Dashed: the share of these negatives by count.";
    Some(Figure::new(
        "Gradient on false negatives",
        chart.to_svg(&format!("{id}-gradient"))?,
        caption,
    ))
}

fn alpha(view: &DataView, id: &str) -> Option<Figure> {
    let kinds: [(Shape, &str, Value); 3] = [
        (Shape::Line, "α", |record| record.alpha),
        (Shape::Dots, "label-free AUC", |record| record.alpha_hat),
        (Shape::Rings, "AUC from labels", |record| record.alpha_labels),
    ];
    let series = several(view, kinds);
    let present = kinds.map(|(shape, ..)| series.iter().any(|line| line.shape == shape));
    let chart = over_epochs(
        "α and the encoder's AUC",
        "The α used by the weights (lines), and the encoder's AUC estimated without labels (points) and measured with labels (rings).",
        3,
    )
    .with_series(series);
    let svg = chart.to_svg(&format!("{id}-alpha"))?;
    let parts = [
        "Line: the α used by the weights.",
        "Points: the encoder's AUC estimated without labels; training positives bias it upwards.",
        "Rings: its AUC measured with labels.",
    ];
    let caption: Vec<&str> = parts
        .into_iter()
        .zip(present)
        .filter_map(|(part, present)| present.then_some(part))
        .collect();
    let mut caption = caption.join(" ");
    if present[1] || present[2] {
        caption.push_str(" The papers use the AUC as α; in their model, α corresponds to an AUC of (1 + 4α) / 6.");
    }
    Some(Figure::new("α and the encoder's AUC", svg, &caption))
}

/// Quantiles of the weights over the epochs of the first seed.
fn quantiles(recipe: &RecipeView) -> Vec<(f64, Quantiles)> {
    RecipeView::shown_epochs(&recipe.runs[0])
        .filter_map(|record| {
            Some((
                record.epoch as f64,
                Quantiles::try_from(record.omega_quantiles.as_slice()).ok()?,
            ))
        })
        .collect()
}

fn weights(recipe: &RecipeView, quantiles: &[(f64, Quantiles)], id: &str) -> Option<Figure> {
    let title = format!("Weights ω of {}", recipe.name);
    let chart = FanChart {
        title: &title,
        description: "Quantiles of the weights of the negatives after each epoch: full range, 5 to 95 %, 25 to 75 %, and the median.",
        colour: recipe.colour,
        quantiles,
        reference: 1.0,
    };
    let seed = match recipe.runs.len() {
        1 => String::new(),
        _ => format!(" Seed {}.", recipe.result().seed),
    };
    let caption = format!("Median, 25–75 %, 5–95 % and full range of the weights; dashed: 1, the weight in InfoNCE.{seed}");
    Some(Figure::new(
        &title,
        chart.to_svg(&format!("{id}-weights-{}", recipe.colour))?,
        &caption,
    ))
}

/// The weights of the first seed as a histogram over epochs.
fn histogram(recipe: &RecipeView, id: &str) -> Option<Figure> {
    let title = format!("Histogram of ω of {}", recipe.name);
    let epochs: Vec<(usize, &[u64])> = RecipeView::shown_epochs(&recipe.runs[0])
        .map(|record| (record.epoch, record.omega_histogram.as_slice()))
        .collect();
    let chart = HistogramStrip {
        title: &title,
        description: "Number of weights in each half octave after each epoch; darker cells have more.",
        colour: recipe.colour,
        epochs: &epochs,
    };
    let caption = "Histogram of the weights: one column per epoch, two cells per doubling; darker cells have more weights. Weights below \
                   1/16 or above 16 are counted in the outermost cells; dashed: 1, the weight in InfoNCE.";
    Some(Figure::new(
        &title,
        chart.to_svg(&format!("{id}-histogram-{}", recipe.colour))?,
        caption,
    ))
}
