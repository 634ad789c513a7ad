//! The file of graph encoders, and of losses of nodes against graphs.

mod batch;
mod checks;
mod loss;
mod network;
mod pipeline;

pub use batch::GraphBatch;
pub use loss::{GraphLoss, GraphLossCase, NodesAndGraphs};
pub use network::{Affine, Gin, GinCase, GinLayer, GinPass, Head, Norm, RunningStatistics};
pub use pipeline::{Pipeline, PipelineLoss};

use crate::{GoldenError, arrays};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// Reference values, read and checked: all shapes fit, and batches are undirected graphs.
#[derive(Debug)]
pub struct GraphFile {
    path: PathBuf,
    batches: BTreeMap<String, GraphBatch>,
    embeddings: BTreeMap<String, NodesAndGraphs>,
    /// Encoders on a batch.
    pub encoders: Vec<GinCase>,
    /// Losses of given embeddings.
    pub cases: Vec<GraphLossCase>,
    /// Losses of an encoder with its heads.
    pub pipelines: Vec<Pipeline>,
}

#[derive(Deserialize)]
struct RawFile {
    batches: BTreeMap<String, Value>,
    #[serde(default)]
    gin: Vec<Value>,
    #[serde(default)]
    shapes: BTreeMap<String, Value>,
    #[serde(default)]
    cases: Vec<Value>,
    #[serde(default)]
    pipelines: Vec<Value>,
}

/// What tells the layout of a file.
#[derive(Deserialize)]
struct RawLayout {
    batches: Option<Value>,
}

impl GraphFile {
    /// Returns whether a file has this layout, which begins with batches of graphs.
    ///
    /// # Errors
    /// Returns an error that names the file if it cannot be read or is no JSON.
    pub fn is_one(path: impl AsRef<Path>) -> Result<bool, GoldenError> {
        let (raw, _): (RawLayout, _) = arrays::read(path.as_ref())?;
        Ok(raw.batches.is_some())
    }

    /// Reads a file.
    ///
    /// # Errors
    /// Returns an error that names the file, the case and what is wrong with it.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, GoldenError> {
        let path = path.as_ref();
        let (raw, _): (RawFile, _) = arrays::read(path)?;
        let mut file = Self {
            path: path.to_owned(),
            batches: BTreeMap::new(),
            embeddings: BTreeMap::new(),
            encoders: Vec::new(),
            cases: Vec::new(),
            pipelines: Vec::new(),
        };
        for (name, value) in raw.batches {
            let place = format!("batch {name}");
            let batch = file.checked(&place, value, GraphBatch::new)?;
            file.batches.insert(name, batch);
        }
        for (name, value) in raw.shapes {
            let place = format!("shape {name}");
            let embeddings = file.checked(&place, value, NodesAndGraphs::new)?;
            file.embeddings.insert(name, embeddings);
        }
        for (index, value) in raw.gin.into_iter().enumerate() {
            let place = place("encoder", &value, index);
            let case = file.checked(&place, value, |raw| GinCase::new(raw, &file.batches))?;
            file.encoders.push(case);
        }
        for (index, value) in raw.cases.into_iter().enumerate() {
            let place = place("case", &value, index);
            let case = file.checked(&place, value, |raw| GraphLossCase::new(raw, &file.embeddings))?;
            file.cases.push(case);
        }
        for (index, value) in raw.pipelines.into_iter().enumerate() {
            let place = place("pipeline", &value, index);
            let pipeline = file.checked(&place, value, |raw| Pipeline::new(raw, &file.batches))?;
            file.pipelines.push(pipeline);
        }
        Ok(file)
    }

    /// The batch of an encoder.
    pub fn batch_of_encoder(&self, case: &GinCase) -> &GraphBatch {
        &self.batches[&case.batch]
    }

    /// The batch of a pipeline.
    pub fn batch_of_pipeline(&self, pipeline: &Pipeline) -> &GraphBatch {
        &self.batches[&pipeline.batch]
    }

    /// The embeddings of a loss.
    pub fn embeddings(&self, case: &GraphLossCase) -> &NodesAndGraphs {
        &self.embeddings[&case.shape]
    }

    /// An error in a case of this file.
    pub fn error(&self, case: &str, problem: impl ToString) -> GoldenError {
        GoldenError::ill_formed(&self.path, format!("case {case}"), problem)
    }

    fn checked<R: DeserializeOwned, T>(
        &self,
        place: &str,
        value: Value,
        check: impl FnOnce(R) -> Result<T, String>,
    ) -> Result<T, GoldenError> {
        let raw = serde_json::from_value(value).map_err(|error| error.to_string());
        raw.and_then(check)
            .map_err(|problem| GoldenError::ill_formed(&self.path, place, problem))
    }
}

/// The name of an entry, or its number if it has none.
fn place(kind: &str, value: &Value, index: usize) -> String {
    match value.get("id").and_then(Value::as_str) {
        Some(id) => format!("{kind} {id}"),
        None => format!("{kind} number {} (without an id)", index + 1),
    }
}

#[cfg(test)]
mod tests;
