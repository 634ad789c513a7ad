//! Translates the estimators and parameters of a reference file to ours.

use super::case::RawCase;
use bcl_core::{
    AugmentedConfig, BayesianConfig, BayesianVariant, DebiasedConfig, DecoupledConfig, EstimatorConfig, GeometricConfig,
    HardNegativesConfig, InfoNceConfig, PositiveUnlabelledConfig,
};

/// The estimator of a case.
///
/// | `est` | ours | parameters |
/// | --- | --- | --- |
/// | `simclr` | `info_nce` | `t` |
/// | `decoupled` | `decoupled` | `t` |
/// | `dcl` | `debiased` | `t`, `tau` |
/// | `hcl` | `hard` | `t`, `tau`, `beta` |
/// | `pucl` | `positive_unlabelled` | `t`, `alpha` the class prior, `c` the label frequency |
/// | `bcl_exact`, `bcl_official` | `bayesian` | `t`, `tau`, `alpha`, `beta` |
/// | `aug`, `geom` | `augmented`, `geometric` | `t`, and draws `u` |
///
/// Returns a message if the name is unknown, or a parameter is missing or out of range.
pub(crate) fn configuration(case: &RawCase) -> Result<EstimatorConfig, String> {
    let need = |name: &str, value: Option<f64>| value.ok_or_else(|| format!("its estimator `{}` needs `{name}`", case.est));
    let t = case.t;
    let bayesian = |variant| {
        Ok::<_, String>(EstimatorConfig::Bayesian(
            BayesianConfig::new()
                .with_temperature(t)
                .with_tau_plus(need("tau", case.tau)?)
                .with_alpha(need("alpha", case.alpha)?)
                .with_beta(need("beta", case.beta)?)
                .with_variant(variant),
        ))
    };
    let config = match case.est.as_str() {
        "simclr" => EstimatorConfig::InfoNce(InfoNceConfig::new().with_temperature(t)),
        "decoupled" => EstimatorConfig::Decoupled(DecoupledConfig::new().with_temperature(t)),
        "dcl" => EstimatorConfig::Debiased(
            DebiasedConfig::new()
                .with_temperature(t)
                .with_tau_plus(need("tau", case.tau)?),
        ),
        "hcl" => EstimatorConfig::Hard(
            HardNegativesConfig::new()
                .with_temperature(t)
                .with_tau_plus(need("tau", case.tau)?)
                .with_beta(need("beta", case.beta)?),
        ),
        "pucl" => EstimatorConfig::PositiveUnlabelled(
            PositiveUnlabelledConfig::new()
                .with_temperature(t)
                .with_class_prior(need("alpha", case.alpha)?)
                .with_label_frequency(need("c", case.c)?),
        ),
        "bcl_exact" => bayesian(BayesianVariant::Exact)?,
        "bcl_official" => bayesian(BayesianVariant::Official)?,
        "aug" => EstimatorConfig::Augmented(AugmentedConfig::new().with_temperature(t)),
        "geom" => EstimatorConfig::Geometric(GeometricConfig::new().with_temperature(t)),
        other => {
            return Err(format!(
                "its estimator `{other}` is unknown; known are simclr, decoupled, dcl, hcl, pucl, bcl_exact, bcl_official, aug, geom"
            ));
        }
    };
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
