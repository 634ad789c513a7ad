//! Saving the weights of a graph encoder.

use super::{Gin, WeightsError};
use crate::vision::weights::{new_store, write};
use burn_store::BurnToPyTorchAdapter;

/// Serialises an encoder as a safetensors file.
///
/// | name | shape |
/// | --- | --- |
/// | `layers.0.first.weight`, `.bias`; `layers.0.second.weight`, `.bias` | `[out, in]` as in PyTorch, `[out]` |
/// | `layers.0.norm.weight`, `.bias`, `.running_mean`, `.running_var` | `[hidden]` |
/// | `layers.0.inner.…`, as `norm`, in the order [`GinOrder::Xu2019`](super::GinOrder::Xu2019) | `[hidden]` |
/// | `layers.0.epsilon`, if it is learned | `[1]` |
///
/// # Errors
/// Returns an error if the tensors cannot be read from their device.
pub fn to_safetensors(encoder: &Gin) -> Result<Vec<u8>, WeightsError> {
    write(encoder, new_store().with_to_adapter(BurnToPyTorchAdapter))
}
