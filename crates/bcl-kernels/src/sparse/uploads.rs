//! Sparse matrices on devices.

use std::sync::{Mutex, PoisonError};

use burn::backend::{Cube, ops::FloatTensorOps, ops::IntTensorOps};
use burn::tensor::TensorData;
use burn_cubecl::CubeDevice;
use burn_cubecl::tensor::CubeTensor;

/// Copies of the compressed rows on the devices that have used them.
#[derive(Debug, Default)]
pub(super) struct Uploads(Mutex<Vec<Upload>>);

/// Compressed rows on one device.
#[derive(Debug, Clone)]
pub(super) struct Upload {
    device: CubeDevice,
    pub(super) indptr: CubeTensor,
    pub(super) indices: CubeTensor,
    pub(super) values: CubeTensor,
}

impl Uploads {
    pub(super) fn on(&self, device: &CubeDevice, indptr: &[usize], indices: &[u32], values: &[f32]) -> Upload {
        let mut uploads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(upload) = uploads.iter().find(|upload| upload.device == *device) {
            return upload.clone();
        }
        let numbers = |values: Vec<u32>| Cube::int_from_data(TensorData::from(values.as_slice()), device);
        let upload = Upload {
            device: device.clone(),
            indptr: numbers(indptr.iter().map(|&start| start as u32).collect()),
            indices: numbers(indices.to_vec()),
            values: Cube::float_from_data(TensorData::from(values), device),
        };
        uploads.push(upload.clone());
        upload
    }
}
