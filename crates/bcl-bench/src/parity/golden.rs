//! Reference values with our configurations of their estimators.

use bcl_core::{BayesianVariant, EstimatorConfig, posterior::Posterior};
use bcl_golden::{Estimator, GoldenError, LossCase, LossFile, Views, WeightRow};
use std::{collections::BTreeMap, path::Path};

/// Reference values, read and checked: every array has the length that its shape requires, and every parameter is in its range.
#[derive(Debug)]
pub struct Golden {
    pub(crate) views: BTreeMap<String, Views>,
    pub(crate) cases: Vec<Case>,
    pub(crate) weights: Vec<(WeightRow, Posterior)>,
}

/// A case with its estimator.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) config: EstimatorConfig,
    pub(crate) reference: LossCase,
}

impl Golden {
    /// Reads a reference file, and the arrays that it needs from the `.safetensors` file beside it.
    ///
    /// # Errors
    /// Returns an error that names the file, the case and what is wrong with it.
    pub fn read(path: &Path) -> Result<Self, GoldenError> {
        let mut file = LossFile::read(path)?;
        let mut cases = Vec::new();
        for reference in std::mem::take(&mut file.cases) {
            let config =
                configuration(&reference.estimator).map_err(|problem| file.error(format!("case {}", reference.id), problem))?;
            cases.push(Case { config, reference });
        }
        let mut weights = Vec::new();
        for row in std::mem::take(&mut file.weights) {
            let posterior = Posterior::new(row.alpha, row.beta, row.tau_plus).map_err(|error| file.error(&row.name, error))?;
            weights.push((row, posterior));
        }
        Ok(Self {
            views: file.views,
            cases,
            weights,
        })
    }
}

/// Our configuration of an estimator.
pub(crate) fn configuration(reference: &Estimator) -> Result<EstimatorConfig, String> {
    let config: EstimatorConfig = serde_json::from_value(reference.table()?).map_err(|error| error.to_string())?;
    config.check().map_err(|error| error.to_string())?;
    Ok(config)
}

/// The name of an estimator in the report.
pub(crate) fn display_name(config: &EstimatorConfig) -> String {
    match config {
        EstimatorConfig::Bayesian(bayesian) if bayesian.variant == BayesianVariant::Official => "bayesian, official".to_owned(),
        EstimatorConfig::Bayesian(_) => "bayesian, exact".to_owned(),
        other => other.name().replace('_', " "),
    }
}
