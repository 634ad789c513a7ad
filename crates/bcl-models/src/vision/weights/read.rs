//! Reads tensors from safetensors and PyTorch files.

use super::WeightsError;
use burn_store::{ModuleStore, PytorchStore, SafetensorsStore, burn_pack::Tensor as StoredTensor};
use std::path::Path;

/// The tensors of a file under the file's names. Their values are loaded on demand.
pub(super) fn read(path: &Path) -> Result<Vec<StoredTensor>, WeightsError> {
    let failed = |reason: String| WeightsError::Read {
        path: path.to_owned(),
        reason,
    };
    let is_safetensors = path
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("safetensors"));
    let tensors = if is_safetensors {
        let mut store = SafetensorsStore::from_file(path);
        store.get_all_tensors().map_err(|error| failed(error.to_string()))?.clone()
    } else {
        // By default this store renumbers the layers of a Sequential without gaps, and `f.3` would become `f.2`.
        let mut store = PytorchStore::from_file(path).map_indices_contiguous(false);
        store.get_all_tensors().map_err(|error| failed(error.to_string()))?.clone()
    };
    Ok(tensors.into_values().collect())
}
