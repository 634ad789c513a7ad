//! Translates estimators and their parameters.

use serde::Deserialize;
use serde_json::{Map, Value};

/// An estimator as a file of reference values names it.
///
/// | `est` | `loss.kind` | parameters besides the temperature `t` |
/// | --- | --- | --- |
/// | `simclr` | `info_nce` | |
/// | `decoupled` | `decoupled` | |
/// | `dcl` | `debiased` | `tau` |
/// | `hcl` | `hard` | `tau`, `beta` |
/// | `pucl` | `positive_unlabelled` | `alpha` the class prior, `c` the label frequency |
/// | `bcl_exact`, `bcl_official` | `bayesian` | `tau`, `alpha`, `beta` |
/// | `ring` | `ring` | `lower`, `upper` |
/// | `aug`, `geom` | `augmented`, `geometric` | `lambda` of `aug` (optional) |
///
/// ```
/// use bcl_golden::Estimator;
///
/// let estimator: Estimator = serde_json::from_str(r#"{ "est": "dcl", "t": 0.5, "tau": 0.1 }"#)?;
/// let table = estimator.table()?;
/// assert_eq!(table["kind"], "debiased");
/// assert_eq!(table["tau_plus"], 0.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Estimator {
    /// Its name.
    pub est: String,
    /// Everything that stands beside the name, its parameters among it.
    #[serde(flatten)]
    pub beside: Map<String, Value>,
}

/// The files' name of an estimator, our name, and pairs of our parameters and the files' parameters.
type Entry = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const ESTIMATORS: [Entry; 10] = [
    ("simclr", "info_nce", &[]),
    ("decoupled", "decoupled", &[]),
    ("dcl", "debiased", &[("tau_plus", "tau")]),
    ("hcl", "hard", &[("tau_plus", "tau"), ("beta", "beta")]),
    (
        "pucl",
        "positive_unlabelled",
        &[("class_prior", "alpha"), ("label_frequency", "c")],
    ),
    ("bcl_exact", "bayesian", BAYESIAN),
    ("bcl_official", "bayesian", BAYESIAN),
    ("ring", "ring", &[("lower", "lower"), ("upper", "upper")]),
    ("aug", "augmented", &[]),
    ("geom", "geometric", &[]),
];

const BAYESIAN: &[(&str, &str)] = &[("tau_plus", "tau"), ("alpha", "alpha"), ("beta", "beta")];

impl Estimator {
    /// The `[loss]` table of a recipe with this estimator.
    ///
    /// # Errors
    /// Returns a message if the name is unknown or a parameter is missing.
    pub fn table(&self) -> Result<Value, String> {
        let Some((name, kind, parameters)) = ESTIMATORS.into_iter().find(|(name, ..)| *name == self.est) else {
            let known = ESTIMATORS.map(|(name, ..)| name).join(", ");
            return Err(format!("its estimator `{}` is unknown; known are {known}", self.est));
        };
        let mut table = Map::from_iter([("kind".to_owned(), kind.into())]);
        for (ours, theirs) in [("temperature", "t")].iter().chain(parameters) {
            let value = self.beside.get(*theirs).filter(|value| value.is_number());
            let value = value.ok_or_else(|| format!("its estimator `{name}` needs `{theirs}`, a number"))?;
            table.insert((*ours).to_owned(), value.clone());
        }
        if let Some(lambda) = self.beside.get("lambda").filter(|_| name == "aug") {
            table.insert("lambda".to_owned(), lambda.clone());
        }
        if name == "bcl_official" {
            table.insert("variant".to_owned(), "official".into());
        }
        Ok(table.into())
    }

    /// Whether its loss depends on random draws.
    pub(crate) fn needs_draws(&self) -> bool {
        ["aug", "geom"].contains(&self.est.as_str())
    }
}
