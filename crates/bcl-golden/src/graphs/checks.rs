//! Checks of lengths and shapes. Their errors are problems without a place.

use crate::{Array, Gradient, arrays::from_rows};
use std::collections::BTreeMap;

/// A table of the given shape.
pub(super) fn table(name: &str, rows: Vec<Vec<f64>>, shape: [usize; 2]) -> Result<Array, String> {
    let array = from_rows(rows).filter(|array| array.shape == shape);
    array.ok_or_else(|| format!("`{name}` must be a table of {} rows of {} numbers", shape[0], shape[1]))
}

pub(super) fn check_gradients(gradients: &BTreeMap<String, Gradient>, lengths: &BTreeMap<String, usize>) -> Result<(), String> {
    for (name, gradient) in gradients {
        let Some(&length) = lengths.get(name) else {
            return Err(format!("there is no weight `{name}`, but a gradient of it"));
        };
        gradient.check(&format!("the gradient of {name}"), length)?;
    }
    Ok(())
}

pub(super) fn check_length(name: &str, found: usize, expected: usize) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    Err(format!("{name} has {found} entries, but must have {expected}"))
}
