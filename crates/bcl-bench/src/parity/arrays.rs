//! Reads the `.safetensors` file beside a reference file, for arrays that are too long for JSON.

use super::ParityError;
use bcl_data::input::{self, MOST_WHOLE};
use safetensors::{Dtype, SafeTensors};
use std::path::{Path, PathBuf};

/// The `.safetensors` file beside a reference file. It may be missing if no array is needed.
#[derive(Debug)]
pub(crate) struct Arrays {
    path: PathBuf,
    bytes: Option<Vec<u8>>,
}

/// An array in row-major order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Array {
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Vec<f64>,
}

impl Arrays {
    pub(crate) fn beside(golden: &Path) -> Result<Self, ParityError> {
        let path = golden.with_extension("safetensors");
        match input::read(&path, MOST_WHOLE) {
            Ok(bytes) => Ok(Self {
                path,
                bytes: Some(bytes),
            }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self { path, bytes: None }),
            Err(source) => Err(ParityError::Unreadable { path, source }),
        }
    }

    /// The array called `key`, or `None` if there is none.
    pub(crate) fn find(&self, key: &str) -> Result<Option<Array>, ParityError> {
        let Some(bytes) = &self.bytes else {
            return Ok(None);
        };
        let tensors =
            SafeTensors::deserialize(bytes).map_err(|error| ParityError::ill_formed(&self.path, "header", error.to_string()))?;
        let Ok(view) = tensors.tensor(key) else {
            return Ok(None);
        };
        let values = match view.dtype() {
            Dtype::F64 => view.data().as_chunks().0.iter().map(|&b| f64::from_le_bytes(b)).collect(),
            Dtype::F32 => view
                .data()
                .as_chunks()
                .0
                .iter()
                .map(|&b| f64::from(f32::from_le_bytes(b)))
                .collect(),
            other => {
                let problem = format!("has {other:?} values, but must have F32 or F64");
                return Err(ParityError::ill_formed(&self.path, format!("array `{key}`"), problem));
            }
        };
        Ok(Some(Array {
            shape: view.shape().to_vec(),
            values,
        }))
    }

    /// The array called `key`, which the reference file needs at `place`.
    pub(crate) fn need(&self, key: &str, place: &str) -> Result<Array, ParityError> {
        self.find(key)?.ok_or_else(|| {
            let problem = if self.bytes.is_some() {
                format!("the array `{key}` is missing from this file")
            } else {
                format!("the array `{key}` is needed, but this file does not exist: put it beside the JSON file")
            };
            ParityError::ill_formed(&self.path, place, problem)
        })
    }
}
