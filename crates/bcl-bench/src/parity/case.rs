//! One case of a reference file: an estimator with its parameters, the views of a batch, and the expected results.

use super::{ParityError, arrays::Arrays, golden::Views, named::configuration};
use bcl_core::EstimatorConfig;
use serde::Deserialize;
use serde_json::Value;
use std::{collections::BTreeMap, path::Path};

/// A case of a reference file.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) id: String,
    /// Key of the views.
    pub(crate) shape: String,
    pub(crate) config: EstimatorConfig,
    /// Expected mean over anchors, in nats.
    pub(crate) loss: f64,
    /// Expected `Ng` of the first anchors; may be empty.
    pub(crate) negative_masses: Vec<f64>,
    /// The draws `u`, one per anchor, for estimators with noise.
    pub(crate) draws: Option<Vec<f64>>,
    /// Expected gradients with respect to the first and the second view.
    pub(crate) gradients: [Gradient; 2],
}

/// A reference gradient: in full, or a summary of a long one.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum Gradient {
    /// All values, row-major.
    Full(Vec<f64>),
    /// A summary of the row-major array.
    Summary {
        /// The Euclidean norm.
        l2: f64,
        /// The first entries.
        head: Vec<f64>,
        /// `Σ g[k] cos(0.37 (k + 1))` and `Σ g[k] sin(0.11 (k + 1) + 0.5)`.
        probe: [f64; 2],
    },
}

/// A case as the file has it, with the parameters of any estimator.
#[derive(Deserialize)]
pub(crate) struct RawCase {
    id: String,
    shape: String,
    pub(crate) est: String,
    pub(crate) t: f64,
    pub(crate) tau: Option<f64>,
    pub(crate) alpha: Option<f64>,
    pub(crate) beta: Option<f64>,
    pub(crate) c: Option<f64>,
    loss: f64,
    #[serde(rename = "Ng_head", default)]
    ng_head: Vec<f64>,
    u: Option<Vec<f64>>,
    #[serde(default)]
    full_grad: bool,
    grad_1: Gradient,
    grad_2: Gradient,
}

impl Case {
    pub(crate) fn read(
        index: usize,
        value: Value,
        views: &BTreeMap<String, Views>,
        path: &Path,
        arrays: &Arrays,
    ) -> Result<Self, ParityError> {
        let place = match value.get("id").and_then(Value::as_str) {
            Some(id) => format!("case {id}"),
            None => format!("case number {} (without an id)", index + 1),
        };
        let wrong = |problem: String| ParityError::ill_formed(path, place.clone(), problem);
        let raw: RawCase = serde_json::from_value(value).map_err(|error| wrong(error.to_string()))?;
        let config = configuration(&raw).map_err(wrong)?;
        let Some(views) = views.get(&raw.shape) else {
            return Err(wrong(format!("its shape `{}` is not among `shapes`", raw.shape)));
        };
        let (num_anchors, num_values) = (2 * views.batch_size, views.batch_size * views.dim);
        let check = |what: &str, found: usize, expected: usize| {
            let problem = || format!("{what} has {found} values, but the shape `{}` requires {expected}", raw.shape);
            if found == expected { Ok(()) } else { Err(wrong(problem())) }
        };

        let needs_draws = config.init().noise_shape().is_some();
        let draws = match raw.u {
            Some(draws) => Some(draws),
            None if needs_draws => Some(arrays.need(&format!("u/{}", raw.id), &place)?.values),
            None => None,
        };
        if let Some(draws) = &draws {
            check("u", draws.len(), num_anchors)?;
        }
        if raw.ng_head.len() > num_anchors {
            check("Ng_head", raw.ng_head.len(), num_anchors)?;
        }
        let mut gradients = [raw.grad_1, raw.grad_2];
        for (gradient, view) in gradients.iter_mut().zip(["out_1", "out_2"]) {
            let key = format!("grad/{}/{view}", raw.id);
            if raw.full_grad {
                *gradient = Gradient::Full(arrays.need(&key, &place)?.values);
            }
            match gradient {
                Gradient::Full(values) => check(&key, values.len(), num_values)?,
                Gradient::Summary { head, .. } if head.len() > num_values => check(&key, head.len(), num_values)?,
                Gradient::Summary { .. } => (),
            }
        }
        Ok(Self {
            id: raw.id,
            shape: raw.shape,
            config,
            loss: raw.loss,
            negative_masses: raw.ng_head,
            draws,
            gradients,
        })
    }
}
