//! A number of a case that was compared.

use super::{
    super::{precision::Precision, result::Excess},
    FrameworksResult,
};
use bcl_golden::Deviation;

/// What was compared, and its tolerance.
pub(in super::super) struct Quantity {
    pub(in super::super) name: String,
    pub(in super::super) kind: QuantityKind,
    pub(in super::super) deviation: Deviation,
    pub(in super::super) tolerance: f64,
}

#[derive(Clone, Copy)]
pub(in super::super) enum QuantityKind {
    Value,
    Output,
    Gradient,
}

impl FrameworksResult {
    /// Adds a case to the row of its kind, and all that is beyond its tolerance to the failures.
    pub(in super::super) fn record(&mut self, precision: Precision, place: &str, kind: &str, quantities: &[Quantity]) {
        let mut failed = false;
        for quantity in quantities {
            let Quantity {
                name,
                deviation,
                tolerance,
                ..
            } = quantity;
            if !deviation.within(*tolerance) {
                failed = true;
                self.fail(Excess::new(
                    precision,
                    place.to_owned(),
                    name.as_str(),
                    *deviation,
                    *tolerance,
                ));
            }
        }
        let row = self.loss(precision, kind);
        row.cases += 1;
        row.failed += usize::from(failed);
        for quantity in quantities {
            let relative = quantity.deviation.relative;
            let worst = match quantity.kind {
                QuantityKind::Value => &mut row.value,
                QuantityKind::Output => row.outputs.get_or_insert(0.0),
                QuantityKind::Gradient => &mut row.gradient,
            };
            *worst = worst.max(relative);
            row.tolerance = row.tolerance.max(quantity.tolerance);
        }
    }
}
