//! The file of losses on two views of a batch, and of weights.

use crate::{
    Estimator, GoldenError, Gradient,
    arrays::{self, Arrays, from_rows},
};
use serde::Deserialize;
use serde_json::Value;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// Reference values, read and checked: every array has the length that its shape requires.
#[derive(Debug)]
pub struct LossFile {
    path: PathBuf,
    /// Views of batches, by name.
    pub views: BTreeMap<String, Views>,
    /// Estimators with their results.
    pub cases: Vec<LossCase>,
    /// Rows of scores with their weights.
    pub weights: Vec<WeightRow>,
}

/// Two views of a batch, with rows of unit length.
///
/// # Shapes
/// - first, second: `[batch_size, dim]`, row-major
#[derive(Debug)]
#[allow(missing_docs)] // the shapes say it
pub struct Views {
    pub batch_size: usize,
    pub dim: usize,
    pub first: Vec<f64>,
    pub second: Vec<f64>,
}

/// An estimator on the views of a batch, and its results.
#[derive(Debug)]
pub struct LossCase {
    /// Its name.
    pub id: String,
    /// Name of its views.
    pub shape: String,
    /// The estimator with its parameters.
    pub estimator: Estimator,
    /// Mean over anchors, in nats.
    pub loss: f64,
    /// `Ng` of the first anchors; may be empty.
    pub negative_masses: Vec<f64>,
    /// The draws `u`, one per anchor, for estimators with noise.
    pub draws: Option<Vec<f64>>,
    /// Gradients with respect to the first and the second view.
    pub gradients: [Gradient; 2],
}

/// A row of scores with its eCDF and both variants of the Bayesian weight, if present.
#[derive(Debug)]
#[allow(missing_docs)] // the fields of the file
pub struct WeightRow {
    /// Number, name and parameters of the row.
    pub name: String,
    pub scores: Vec<f64>,
    pub alpha: f64,
    pub beta: f64,
    pub tau_plus: f64,
    pub ecdf: Option<Vec<f64>>,
    pub omega_exact: Option<Vec<f64>>,
    pub omega_official: Option<Vec<f64>>,
}

#[derive(Deserialize)]
struct RawFile {
    #[serde(default)]
    shapes: BTreeMap<String, Value>,
    #[serde(default)]
    cases: Vec<Value>,
    #[serde(default)]
    weights: Vec<Value>,
}

#[derive(Deserialize)]
struct RawViews {
    out_1: Vec<Vec<f64>>,
    out_2: Vec<Vec<f64>>,
}

#[derive(Deserialize)]
struct RawCase {
    id: String,
    shape: String,
    loss: f64,
    #[serde(rename = "Ng_head", default)]
    ng_head: Vec<f64>,
    u: Option<Vec<f64>>,
    #[serde(default)]
    full_grad: bool,
    grad_1: Gradient,
    grad_2: Gradient,
    #[serde(flatten)]
    estimator: Estimator,
}

#[derive(Deserialize)]
struct RawWeightRow {
    #[serde(default)]
    row: String,
    scores: Vec<f64>,
    alpha: f64,
    beta: f64,
    tau: f64,
    ecdf: Option<Vec<f64>>,
    omega_exact: Option<Vec<f64>>,
    omega_official: Option<Vec<f64>>,
}

impl LossFile {
    /// Reads a file, and the arrays that it needs from the `.safetensors` file beside it.
    ///
    /// # Errors
    /// Returns an error that names the file, the case and what is wrong with it.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, GoldenError> {
        let path = path.as_ref();
        let (raw, arrays): (RawFile, _) = arrays::read(path)?;
        if raw.cases.is_empty() && raw.weights.is_empty() {
            let problem = "has neither `cases` nor `weights`, so there is nothing to compare";
            return Err(GoldenError::ill_formed(path, "top level", problem));
        }
        let mut file = Self {
            path: path.to_owned(),
            views: BTreeMap::new(),
            cases: Vec::new(),
            weights: Vec::new(),
        };
        for (name, value) in raw.shapes {
            let views = Views::read(&name, value, path, &arrays)?;
            file.views.insert(name, views);
        }
        for (index, value) in raw.cases.into_iter().enumerate() {
            let case = file.read_case(index, value, &arrays)?;
            file.cases.push(case);
        }
        for (index, value) in raw.weights.into_iter().enumerate() {
            let row = WeightRow::read(index, value).map_err(|(row, problem)| file.error(row, problem))?;
            file.weights.push(row);
        }
        Ok(file)
    }

    /// The views of a case.
    pub fn views(&self, case: &LossCase) -> &Views {
        &self.views[&case.shape]
    }

    /// An error in a case or a row of this file.
    pub fn error(&self, case: impl Into<String>, problem: impl ToString) -> GoldenError {
        GoldenError::ill_formed(&self.path, case, problem)
    }

    fn read_case(&self, index: usize, value: Value, arrays: &Arrays) -> Result<LossCase, GoldenError> {
        let place = match value.get("id").and_then(Value::as_str) {
            Some(id) => format!("case {id}"),
            None => format!("case number {} (without an id)", index + 1),
        };
        let wrong = |problem: String| self.error(&place, problem);
        let raw: RawCase = serde_json::from_value(value).map_err(|error| wrong(error.to_string()))?;
        let Some(views) = self.views.get(&raw.shape) else {
            return Err(wrong(format!("its shape `{}` is not among `shapes`", raw.shape)));
        };
        let num_anchors = 2 * views.batch_size;
        let draws = match raw.u {
            None if raw.estimator.needs_draws() => Some(arrays.need(&format!("u/{}", raw.id), &place)?.values),
            draws => draws,
        };
        if let Some(draws) = draws.as_ref().filter(|draws| draws.len() != num_anchors) {
            let problem = format!(
                "u has {} values, but the shape `{}` requires {num_anchors}",
                draws.len(),
                raw.shape
            );
            return Err(wrong(problem));
        }
        if raw.estimator.needs_draws() && !raw.ng_head.is_empty() {
            return Err(wrong(
                "Ng_head is given, but this estimator draws weights and has no Ng; remove it".to_owned(),
            ));
        }
        if raw.ng_head.len() > num_anchors {
            let problem = format!("Ng_head has {} values for {num_anchors} anchors", raw.ng_head.len());
            return Err(wrong(problem));
        }
        let gradient = |gradient: Gradient, view: &str| {
            let key = format!("grad/{}/{view}", raw.id);
            let gradient = if raw.full_grad {
                gradient.completed(&key, &place, arrays)?
            } else {
                gradient
            };
            gradient.check(&key, views.first.len()).map_err(wrong)?;
            Ok(gradient)
        };
        Ok(LossCase {
            gradients: [gradient(raw.grad_1, "out_1")?, gradient(raw.grad_2, "out_2")?],
            id: raw.id,
            shape: raw.shape,
            estimator: raw.estimator,
            loss: raw.loss,
            negative_masses: raw.ng_head,
            draws,
        })
    }
}

impl Views {
    /// Reads views. Small ones are rows in the JSON; for large ones the JSON has a note, and the arrays are in the other file.
    fn read(name: &str, value: Value, path: &Path, arrays: &Arrays) -> Result<Self, GoldenError> {
        let place = format!("shape {name}");
        let wrong = |problem: String| GoldenError::ill_formed(path, &place, problem);
        let [first, second] = if value.is_object() {
            let raw: RawViews = serde_json::from_value(value).map_err(|error| wrong(error.to_string()))?;
            [raw.out_1, raw.out_2].map(from_rows)
        } else {
            let of = |view: &str| arrays.need(&format!("inputs/{name}/{view}"), &place).map(Some);
            [of("out_1")?, of("out_2")?]
        };
        let (Some(first), Some(second)) = (first, second) else {
            return Err(wrong("the rows of a view must have equal length".to_owned()));
        };
        let &[batch_size, dim] = first.shape.as_slice() else {
            return Err(wrong(format!("a view must be [batch_size, dim], but is {:?}", first.shape)));
        };
        if second.shape != first.shape {
            let problem = format!("out_2 is {:?}, but must be {:?} like out_1", second.shape, first.shape);
            return Err(wrong(problem));
        }
        if batch_size < 2 || dim == 0 {
            let problem = format!("the views are {:?}, but at least 2 rows of 1 value are needed", first.shape);
            return Err(wrong(problem));
        }
        Ok(Self {
            batch_size,
            dim,
            first: first.values,
            second: second.values,
        })
    }
}

impl WeightRow {
    /// Reads a row. An error has the name of the row, and the problem.
    fn read(index: usize, value: Value) -> Result<Self, (String, String)> {
        let number = format!("weights row {}", index + 1);
        let raw: RawWeightRow = serde_json::from_value(value).map_err(|error| (number.clone(), error.to_string()))?;
        let name = format!(
            "{number} ({}, alpha {}, beta {}, tau {})",
            raw.row, raw.alpha, raw.beta, raw.tau
        );
        if raw.scores.is_empty() {
            return Err((name, "`scores` is empty, but at least one score is needed".to_owned()));
        }
        let columns = [
            ("ecdf", &raw.ecdf),
            ("omega_exact", &raw.omega_exact),
            ("omega_official", &raw.omega_official),
        ];
        for (column, values) in columns {
            if let Some(values) = values
                && values.len() != raw.scores.len()
            {
                let problem = format!("`{column}` has {} values for {} scores", values.len(), raw.scores.len());
                return Err((name, problem));
            }
        }
        Ok(Self {
            name,
            scores: raw.scores,
            alpha: raw.alpha,
            beta: raw.beta,
            tau_plus: raw.tau,
            ecdf: raw.ecdf,
            omega_exact: raw.omega_exact,
            omega_official: raw.omega_official,
        })
    }
}
