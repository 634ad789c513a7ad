//! Checks of the values that are loaded.

use super::WeightsError;
use burn::{module::Module, tensor::TensorData};
use burn_store::{BurnToPyTorchAdapter, ModuleSnapshot};
use std::{collections::BTreeMap, path::Path};

const FINITE: &str = "finite numbers";
const VARIANCE: &str = "running variances (0 or more, not all 0)";

/// Returns an error if a loaded value would make features or the loss NaN or infinite.
///
/// `in_file` maps the network's tensor names to the file's.
pub(super) fn check<M: Module>(module: &M, in_file: &BTreeMap<String, String>, path: &Path) -> Result<(), WeightsError> {
    for tensor in module.collect(None, Some(Box::new(BurnToPyTorchAdapter)), false) {
        let name = tensor.name.clone();
        let (dtype, shape) = (tensor.dtype, tensor.shape.clone());
        let bytes = tensor.into_bytes().map_err(|reason| WeightsError::Read {
            path: path.to_owned(),
            reason: reason.to_string(),
        })?;
        let values = TensorData::from_bytes(bytes, shape, dtype);
        let Some((found, needed)) = wrong(&name, values.iter::<f32>()) else {
            continue;
        };
        return Err(WeightsError::Value {
            path: path.to_owned(),
            tensor: in_file.get(&name).cloned().unwrap_or(name),
            found,
            needed,
        });
    }
    Ok(())
}

/// What is wrong with the values of a tensor, and what it must hold.
fn wrong(name: &str, values: impl Iterator<Item = f32>) -> Option<(String, &'static str)> {
    let is_variance = name.ends_with("running_var");
    let mut all_zero = true;
    for (index, value) in values.enumerate() {
        if !value.is_finite() {
            return Some((format!("{value} at index {index}"), FINITE));
        }
        if is_variance && value < 0.0 {
            return Some((format!("{value} at index {index}"), VARIANCE));
        }
        all_zero &= value == 0.0;
    }
    // A single zero variance means a dead channel, which trained networks do have.
    (is_variance && all_zero).then(|| ("only zeros".to_owned(), VARIANCE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_of_a_trained_network_pass() {
        let fine = |name: &str, values: &[f32]| wrong(name, values.iter().copied()).is_none();
        assert!(
            fine("conv1.weight", &[0.0, -3.0]) && fine("bn1.running_var", &[0.0, 2.0]) && fine("bn1.running_mean", &[0.0, -1.0])
        );
        assert!(!fine("conv1.weight", &[1.0, f32::NAN]) && !fine("bn1.bias", &[f32::INFINITY]));
        assert!(!fine("layer1.0.bn1.running_var", &[1.0, -1e-9]) && !fine("bn1.running_var", &[0.0, 0.0]));
    }
}
