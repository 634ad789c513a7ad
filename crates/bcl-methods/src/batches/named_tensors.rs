//! Tensors on the host, by name.

use burn::tensor::TensorData;
use safetensors::{Dtype, tensor::TensorView};

/// Tensors on the host, by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NamedTensors(Vec<(String, TensorData)>);

impl NamedTensors {
    /// Adds a tensor.
    pub fn with(mut self, name: impl Into<String>, data: TensorData) -> Self {
        self.0.push((name.into(), data));
        self
    }

    /// Adds a tensor, if present.
    pub fn with_some(self, name: &str, data: Option<TensorData>) -> Self {
        match data {
            Some(data) => self.with(name, data),
            None => self,
        }
    }

    /// Adds a tensor in place.
    pub fn push(&mut self, name: String, data: TensorData) {
        self.0.push((name, data));
    }

    /// Returns the tensor of a name.
    ///
    /// # Panics
    /// Panics if there is none.
    pub fn get(&self, name: &str) -> &TensorData {
        let found = self.0.iter().find(|(of_tensor, _)| of_tensor == name);
        found.map_or_else(|| panic!("there is no tensor named {name}"), |(_, data)| data)
    }

    /// Name of the first tensor with a value that is not finite.
    pub fn first_not_finite(&self) -> Option<&str> {
        let is_finite = |data: &TensorData| !data.dtype().is_float() || data.iter::<f32>().all(f32::is_finite);
        self.0
            .iter()
            .find(|(_, data)| !is_finite(data))
            .map(|(name, _)| name.as_str())
    }

    /// Serializes the tensors as safetensors: floats as F32, integers as I64, booleans as BOOL.
    pub fn to_safetensors(&self) -> Vec<u8> {
        let stored: Vec<_> = self.0.iter().map(|(name, data)| (name, stored(data))).collect();
        let views = stored.iter().map(|(name, (dtype, shape, bytes))| {
            let view = TensorView::new(*dtype, shape.clone(), bytes).expect("as many bytes as the shape says");
            (name.as_str(), view)
        });
        safetensors::serialize(views, None).expect("names and shapes of tensors can be written")
    }
}

fn stored(data: &TensorData) -> (Dtype, Vec<usize>, Vec<u8>) {
    let shape = data.shape().to_vec();
    if data.dtype().is_float() {
        (Dtype::F32, shape, data.iter::<f32>().flat_map(f32::to_le_bytes).collect())
    } else if data.dtype().is_bool() {
        (Dtype::BOOL, shape, data.iter::<bool>().map(u8::from).collect())
    } else {
        (Dtype::I64, shape, data.iter::<i64>().flat_map(i64::to_le_bytes).collect())
    }
}
