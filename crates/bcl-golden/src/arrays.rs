//! Reads the `.safetensors` file beside a file of reference values.

use crate::GoldenError;
use bcl_files::input::{self, MOST_WHOLE};
use safetensors::{Dtype, SafeTensors};
use serde::de::DeserializeOwned;
use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
};

/// An array in row-major order.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// Length of each axis.
    pub shape: Vec<usize>,
    /// All values.
    pub values: Vec<f64>,
}

/// The `.safetensors` file beside a file of reference values. It may be missing if no array is needed.
#[derive(Debug)]
pub(crate) struct Arrays {
    path: PathBuf,
    bytes: Option<Vec<u8>>,
}

/// Reads a file of JSON, and opens its arrays.
pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Result<(T, Arrays), GoldenError> {
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |source| GoldenError::Unreadable { path, source }
    };
    let text = input::read_text(path, MOST_WHOLE).map_err(unreadable(path))?;
    let raw = serde_json::from_str(&text).map_err(|error| {
        let place = format!("line {}, column {}", error.line(), error.column());
        GoldenError::ill_formed(path, place, format!("is not a file of reference values: {error}"))
    })?;
    let path = path.with_extension("safetensors");
    let bytes = match input::read(&path, MOST_WHOLE) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(unreadable(&path)(error)),
    };
    Ok((raw, Arrays { path, bytes }))
}

/// A table of rows, if all of them have the same length.
pub(crate) fn from_rows(rows: Vec<Vec<f64>>) -> Option<Array> {
    let dim = rows.first().map_or(0, Vec::len);
    rows.iter().all(|row| row.len() == dim).then(|| Array {
        shape: vec![rows.len(), dim],
        values: rows.concat(),
    })
}

impl Arrays {
    /// The array called `key`, which `case` needs.
    pub(crate) fn need(&self, key: &str, case: &str) -> Result<Array, GoldenError> {
        let Some(bytes) = &self.bytes else {
            let problem = format!("the array `{key}` is needed, but this file does not exist: put it beside the JSON file");
            return Err(GoldenError::ill_formed(&self.path, case, problem));
        };
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| GoldenError::ill_formed(&self.path, "header", error))?;
        let Ok(view) = tensors.tensor(key) else {
            let problem = format!("the array `{key}` is missing from this file");
            return Err(GoldenError::ill_formed(&self.path, case, problem));
        };
        let data = view.data();
        let values = match view.dtype() {
            Dtype::F64 => data.as_chunks().0.iter().map(|&b| f64::from_le_bytes(b)).collect(),
            Dtype::F32 => data.as_chunks().0.iter().map(|&b| f32::from_le_bytes(b).into()).collect(),
            other => {
                let problem = format!("has {other:?} values, but must have F32 or F64");
                return Err(GoldenError::ill_formed(&self.path, format!("array `{key}`"), problem));
            }
        };
        let shape = view.shape().to_vec();
        Ok(Array { shape, values })
    }
}
