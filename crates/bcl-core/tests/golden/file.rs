//! Reads the golden file: JSON, and beside it a `.safetensors` file with arrays that are too long for JSON, if any. Panics on errors.

use bcl_core::{
    AugmentedConfig, BayesianConfig, BayesianVariant, DebiasedConfig, EstimatorConfig, GeometricConfig, HardNegativesConfig,
    InfoNceConfig, PositiveUnlabelledConfig,
};
use serde_json::Value;
use std::{fs, path::Path};

pub(crate) struct Golden {
    pub(crate) cases: Vec<Case>,
}

pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) config: EstimatorConfig,
    pub(crate) batch_size: usize,
    /// Row-major.
    pub(crate) views: [Vec<f64>; 2],
    pub(crate) draws: Vec<f64>,
    pub(crate) loss: f64,
    pub(crate) gradients: [Gradient; 2],
}

/// A gradient in full, or its norm, its first entries and two probes.
pub(crate) enum Gradient {
    Full(Vec<f64>),
    Summary { l2: f64, head: Vec<f64>, probe: Vec<f64> },
}

impl Golden {
    pub(crate) fn read(path: &Path) -> Self {
        let golden: Value = serde_json::from_slice(&fs::read(path).expect("a readable file")).expect("JSON");
        let arrays = Arrays::read(&path.with_extension("safetensors"));
        let cases = golden["cases"].as_array().expect("cases");
        Self {
            cases: cases
                .iter()
                .map(|case| Case::read(case, &golden["shapes"], &arrays))
                .collect(),
        }
    }
}

impl Case {
    fn read(case: &Value, shapes: &Value, arrays: &Arrays) -> Self {
        let (id, shape) = (text(&case["id"]), text(&case["shape"]));
        let view = |view: &str| match &shapes[&shape][view] {
            Value::Null => arrays.get(&format!("inputs/{shape}/{view}")),
            rows => rows.as_array().expect("rows").iter().flat_map(numbers).collect(),
        };
        let batch_size = match &shapes[&shape]["out_1"] {
            Value::Null => arrays.num_rows(&format!("inputs/{shape}/out_1")),
            rows => rows.as_array().expect("rows").len(),
        };
        let gradient = |key: &str, view: &str| {
            if case["full_grad"] == true {
                return Gradient::Full(arrays.get(&format!("grad/{id}/{view}")));
            }
            match &case[key] {
                Value::Array(_) => Gradient::Full(numbers(&case[key])),
                summary => Gradient::Summary {
                    l2: number(&summary["l2"]),
                    head: numbers(&summary["head"]),
                    probe: numbers(&summary["probe"]),
                },
            }
        };
        Self {
            config: configuration(case),
            batch_size,
            views: ["out_1", "out_2"].map(view),
            draws: match case.get("u") {
                None => Vec::new(),
                Some(Value::Null) => arrays.get(&format!("u/{id}")),
                Some(draws) => numbers(draws),
            },
            loss: number(&case["loss"]),
            gradients: [gradient("grad_1", "out_1"), gradient("grad_2", "out_2")],
            id,
        }
    }
}

impl Gradient {
    /// The error of a gradient: relative to its largest entry, or of a summary relative to its norm.
    pub(crate) fn error_of(&self, found: &[f64]) -> f64 {
        match self {
            Self::Full(expected) => super::relative_error(found, expected),
            Self::Summary { l2, head, probe } => {
                let wave = |wave: fn(f64) -> f64| (1u32..).zip(found).map(|(k, value)| value * wave(f64::from(k))).sum::<f64>();
                let norm = found.iter().map(|value| value * value).sum::<f64>().sqrt();
                let mut pairs = vec![
                    (norm, *l2),
                    (wave(|k| (0.37 * k).cos()), probe[0]),
                    (wave(|k| (0.11 * k + 0.5).sin()), probe[1]),
                ];
                pairs.extend(found.iter().copied().zip(head.iter().copied()));
                assert!(pairs.iter().all(|(found, _)| found.is_finite()));
                pairs
                    .iter()
                    .map(|(found, expected)| (found - expected).abs() / l2)
                    .fold(0.0, f64::max)
            }
        }
    }
}

fn configuration(case: &Value) -> EstimatorConfig {
    let [t, tau, alpha, beta, c] = ["t", "tau", "alpha", "beta", "c"].map(|key| case[key].as_f64().unwrap_or(f64::NAN));
    let bayesian = BayesianConfig::new()
        .with_temperature(t)
        .with_tau_plus(tau)
        .with_alpha(alpha)
        .with_beta(beta);
    match text(&case["est"]).as_str() {
        "simclr" => EstimatorConfig::InfoNce(InfoNceConfig::new().with_temperature(t)),
        "dcl" => EstimatorConfig::Debiased(DebiasedConfig::new().with_temperature(t).with_tau_plus(tau)),
        "hcl" => EstimatorConfig::Hard(
            HardNegativesConfig::new()
                .with_temperature(t)
                .with_tau_plus(tau)
                .with_beta(beta),
        ),
        "pucl" => EstimatorConfig::PositiveUnlabelled(
            PositiveUnlabelledConfig::new()
                .with_temperature(t)
                .with_class_prior(alpha)
                .with_label_frequency(c),
        ),
        "bcl_exact" => EstimatorConfig::Bayesian(bayesian),
        "bcl_official" => EstimatorConfig::Bayesian(bayesian.with_variant(BayesianVariant::Official)),
        "aug" => EstimatorConfig::Augmented(AugmentedConfig::new().with_temperature(t)),
        "geom" => EstimatorConfig::Geometric(GeometricConfig::new().with_temperature(t)),
        other => panic!("unknown estimator {other}"),
    }
}

/// Length of the header, the header as JSON, the arrays end to end.
struct Arrays {
    header: Value,
    data: Vec<u8>,
}

impl Arrays {
    fn read(path: &Path) -> Self {
        if !path.exists() {
            // Asking for an array then panics with its name.
            return Self {
                header: Value::Null,
                data: Vec::new(),
            };
        }
        let bytes = fs::read(path).expect("a readable .safetensors file");
        let (length, rest) = bytes.split_first_chunk().expect("a length");
        let (header, data) = rest.split_at(u64::from_le_bytes(*length) as usize);
        Self {
            header: serde_json::from_slice(header).expect("a header"),
            data: data.to_vec(),
        }
    }

    fn num_rows(&self, key: &str) -> usize {
        let rows = self.header[key]["shape"][0].as_u64();
        rows.unwrap_or_else(|| panic!("{key} is missing")) as usize
    }

    fn get(&self, key: &str) -> Vec<f64> {
        let entry = &self.header[key];
        let [start, end] = [0, 1].map(|side| {
            entry["data_offsets"][side]
                .as_u64()
                .unwrap_or_else(|| panic!("{key} is missing"))
        });
        let data = &self.data[start as usize..end as usize];
        match text(&entry["dtype"]).as_str() {
            "F64" => data.as_chunks().0.iter().map(|&bytes| f64::from_le_bytes(bytes)).collect(),
            "F32" => data
                .as_chunks()
                .0
                .iter()
                .map(|&bytes| f64::from(f32::from_le_bytes(bytes)))
                .collect(),
            other => panic!("{key} holds {other}"),
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("an array of numbers").iter().map(number).collect()
}
