//! Values that the page compares with its own, so that it can say whether its WebAssembly computes what Rust does.

use bcl_core::posterior::Posterior;
use bcl_explorer::{Weighing, class_density, loss, negative_mass};
use serde::Serialize;

/// A call of an exported function, and the value that Rust computes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Check {
    /// Name of the exported function.
    pub function: &'static str,
    /// Its arguments, in order. Counts and flags are whole numbers.
    pub arguments: Vec<f64>,
    /// What Rust computes.
    pub value: f64,
}

impl Check {
    fn new(function: &'static str, arguments: Vec<f64>, value: f64) -> Self {
        Self {
            function,
            arguments,
            value,
        }
    }
}

/// Parameters `(α, β, τ+)`: ordinary ones, the neutral ones, and the ends of the ranges.
const PARAMETERS: [[f64; 3]; 6] = [
    [0.9, 0.9, 0.1],
    [0.5, 0.3, 0.25],
    [0.75, 0.0, 0.5],
    [0.999, 1.0, 0.01],
    [1.0, 0.5, 0.0],
    [0.6, 1.0, 0.9],
];

/// Every function for several parameters.
pub(super) fn checks() -> Vec<Check> {
    PARAMETERS.iter().flat_map(of_parameters).collect()
}

fn of_parameters(&[alpha, beta, tau_plus]: &[f64; 3]) -> Vec<Check> {
    let posterior = Posterior::new(alpha, beta, tau_plus).expect("in range");
    let with = |further: &[f64]| [&[alpha, beta, tau_plus], further].concat();
    let mut checks = vec![
        Check::new("neutral_beta", with(&[]), posterior.neutral_beta()),
        Check::new("loss", vec![17.0, 0.3, 0.1], loss(17.0, 0.3, 0.1)),
    ];
    for ecdf in [0.0, 0.1, 0.5, 1.0] {
        checks.push(Check::new("omega", with(&[ecdf]), posterior.omega(ecdf)));
        checks.push(Check::new("p_true_negative", with(&[ecdf]), posterior.p_true_negative(ecdf)));
    }
    for count in [1, 510] {
        let num = count as f64;
        let mean = posterior.rank_weights(count).iter().sum::<f64>() / num;
        checks.push(Check::new("mean_weight", with(&[num]), mean));
        let size = posterior.effective_sample_size(count);
        checks.push(Check::new("effective_sample_size", with(&[num]), size));
        for (flag, weighing) in [(0.0, Weighing::Equal), (1.0, Weighing::Bayesian)] {
            let mass = negative_mass(&posterior, count, 0.2, 0.15, weighing);
            checks.push(Check::new("negative_mass", with(&[num, 0.2, 0.15, flag]), mass));
        }
    }
    for score in [-3.0, 0.4, 2.5] {
        let unlabelled = class_density(score, posterior.unlabelled().lowest);
        checks.push(Check::new("density_unlabelled", with(&[score]), unlabelled));
        for (function, lowest) in [("density_true_negative", alpha), ("density_false_negative", 1.0 - alpha)] {
            checks.push(Check::new(function, vec![alpha, score], class_density(score, lowest)));
        }
    }
    checks
}
