//! Whether P(TN|x) keeps what it promises, where truth is known.

use super::figure::{self, Figure};
use super::view::{DataView, RecipeView};
use crate::chart::ReliabilityDiagram;
use crate::result::CalibrationBin;

/// A reliability diagram per recipe that has one.
pub(super) fn section(view: &DataView, id: &str) -> String {
    let charts = view.recipes.iter().filter_map(|recipe| diagram(recipe, id));
    let intro =
        "A negative is a true one with probability P(TN|x), says the posterior. Points on the diagonal keep that promise.";
    figure::section("Calibration", intro, "", charts)
}

/// The diagram of the last epoch of the first seed that was measured against truth.
fn diagram(recipe: &RecipeView, id: &str) -> Option<Figure> {
    let run = &recipe.runs[0];
    let epochs: Vec<_> = RecipeView::shown_epochs(run)
        .filter(|record| !record.calibration.is_empty())
        .collect();
    // The epoch that the results come from; a run without a record of it shows its last.
    let record = epochs
        .iter()
        .find(|record| record.epoch == run.0.validation.epoch)
        .or(epochs.last())?;
    let title = format!("P(TN|x) of {}", recipe.name);
    let chart = ReliabilityDiagram {
        title: &title,
        description: "Predicted probability that a negative is a true one against the observed share of true negatives.",
        colour: recipe.colour,
        bins: &record.calibration,
    };
    let error = CalibrationBin::expected_error(&record.calibration).unwrap_or_default();
    let caption = format!(
        "Observed share of true negatives. Epoch {}, seed {}; expected calibration error {error:.3}. Areas show how many negatives a \
         point stands for.",
        record.epoch, run.0.seed
    );
    Some(Figure::new(
        &title,
        chart.to_svg(&format!("{id}-calibration-{}", recipe.colour))?,
        &caption,
    ))
}
