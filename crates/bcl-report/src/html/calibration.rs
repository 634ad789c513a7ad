//! Calibration of P(TN|x), for runs with labels.

use super::figure::{self, Figure};
use super::view::{DataView, RecipeView};
use crate::chart::ReliabilityDiagram;
use crate::result::CalibrationBin;

/// One reliability diagram per recipe with calibration data.
pub(super) fn section(view: &DataView, id: &str) -> String {
    let charts = view.charted().iter().filter_map(|recipe| diagram(recipe, id));
    let intro = "P(TN|x) is the probability of the estimator, of detected clusters, or of both that a negative is a true negative. Points on the diagonal are well \
         calibrated.";
    figure::section("Calibration", &format!("{intro}{}", view.uncharted()), "", charts)
}

/// The diagram of the first seed, at the epoch of its results.
fn diagram(recipe: &RecipeView, id: &str) -> Option<Figure> {
    let run = &recipe.runs[0];
    let epochs: Vec<_> = RecipeView::shown_epochs(run)
        .filter(|record| !record.calibration.is_empty())
        .collect();
    // Falls back to the last epoch with calibration data.
    let record = epochs
        .iter()
        .find(|record| record.epoch == run.0.validation.epoch)
        .or(epochs.last())?;
    let title = format!("P(TN|x) of {}", recipe.name);
    let chart = ReliabilityDiagram {
        title: &title,
        description: "Predicted probability of a true negative against the observed share of true negatives.",
        colour: recipe.colour,
        bins: &record.calibration,
    };
    let error = CalibrationBin::expected_error(&record.calibration).unwrap_or_default();
    let caption = format!(
        "Observed share of true negatives per bin of P(TN|x). Epoch {}, seed {}; expected calibration error {error:.3}. A point's area \
         shows the number of negatives in its bin.",
        record.epoch, run.0.seed
    );
    Some(Figure::new(
        &title,
        chart.to_svg(&format!("{id}-calibration-{}", recipe.colour))?,
        &caption,
    ))
}
