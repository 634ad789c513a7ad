//! A row of scores with its expected weights.

use super::ParityError;
use bcl_core::posterior::Posterior;
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;

/// A row of scores with its expected eCDF and both variants of the Bayesian weight, if present.
#[derive(Debug)]
pub(crate) struct WeightRow {
    pub(crate) name: String,
    pub(crate) scores: Vec<f64>,
    pub(crate) posterior: Posterior,
    pub(crate) ecdf: Option<Vec<f64>>,
    pub(crate) omega_exact: Option<Vec<f64>>,
    pub(crate) omega_official: Option<Vec<f64>>,
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

impl WeightRow {
    pub(crate) fn read(index: usize, value: Value, path: &Path) -> Result<Self, ParityError> {
        let number = format!("weights row {}", index + 1);
        let raw: RawWeightRow =
            serde_json::from_value(value).map_err(|error| ParityError::ill_formed(path, &number, error.to_string()))?;
        let name = format!(
            "{number} ({}, alpha {}, beta {}, tau {})",
            raw.row, raw.alpha, raw.beta, raw.tau
        );
        let wrong = |problem: String| ParityError::ill_formed(path, &name, problem);
        let posterior = Posterior::new(raw.alpha, raw.beta, raw.tau).map_err(|error| wrong(error.to_string()))?;
        if raw.scores.is_empty() {
            return Err(wrong("`scores` is empty, but at least one score is needed".to_owned()));
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
                return Err(wrong(problem));
            }
        }
        Ok(Self {
            name,
            scores: raw.scores,
            posterior,
            ecdf: raw.ecdf,
            omega_exact: raw.omega_exact,
            omega_official: raw.omega_official,
        })
    }
}
