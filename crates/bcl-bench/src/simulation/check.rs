//! Known values of the experiment, so that it cannot drift.

use super::repeat::interval;
use super::sweep::Drawn;
use bcl_core::simulation::{SimulationConfig, Theta};
use bcl_data::Seed;
use bcl_report::{Column, Table};
use serde::Serialize;
use std::fmt;

/// Relative deviation that a value may have from the expected one.
const TOLERANCE: f64 = 0.15;

/// A mean squared error at a point, with its expected value.
#[derive(Debug, Clone, Serialize)]
pub struct Claim {
    /// The parameters.
    pub point: SimulationConfig,
    /// The estimator.
    pub theta: Theta,
    /// The value from the released experiment.
    pub expected: f64,
    /// The value found here.
    pub found: f64,
}

impl Claim {
    /// Whether the value is within 15 % of the expected one.
    pub fn holds(&self) -> bool {
        (self.found / self.expected - 1.0).abs() <= TOLERANCE
    }
}

/// All claims, at the settings of appendix B.2 even if other settings are simulated.
#[derive(Debug, Clone, Serialize)]
pub struct Check {
    /// One claim per known value; the last claim is for `β = 0.7`.
    pub claims: Vec<Claim>,
    /// Whether mining hard negatives (`β = 0.7`) makes the Bayesian estimate of the mean worse than the debiased one, as
    /// expected.
    pub hardness_costs: bool,
}

/// Points, estimators and expected mean squared errors.
fn expected() -> Vec<(SimulationConfig, Theta, f64)> {
    let base = SimulationConfig::default();
    let bayesian = |point, expected| (point, Theta::BayesianNormalised, expected);
    let alphas = [(0.5, 217.0), (0.6, 242.0), (0.7, 269.0), (0.8, 276.0), (0.9, 259.0)];
    let sizes = [(16, 1051.0), (32, 527.0), (64, 259.0), (128, 131.0), (256, 64.0), (512, 32.0)];
    let mut all = vec![(base, Theta::Debiased, 601.0), (base, Theta::Biased, 719.0)];
    all.extend(alphas.map(|(alpha, error)| bayesian(SimulationConfig { alpha, ..base }, error)));
    all.extend(sizes.map(|(num_negatives, error)| bayesian(SimulationConfig { num_negatives, ..base }, error)));
    all.push(bayesian(SimulationConfig { beta: 0.7, ..base }, 1062.0));
    all
}

/// Simulates the points of all claims.
pub fn check(seed: Seed) -> Check {
    let expected = expected();
    let drawn = Drawn::new(seed, expected.iter().map(|(point, ..)| *point));
    let error = |point: &SimulationConfig, theta: Theta| {
        interval(drawn.at(point), |repetition| repetition.mean_squared_error(theta)).mean
    };
    let claims: Vec<Claim> = expected
        .into_iter()
        .map(|(point, theta, expected)| Claim {
            point,
            theta,
            expected,
            found: error(&point, theta),
        })
        .collect();
    let hard = claims.last().expect("there are claims").point;
    let hardness_costs = error(&hard, Theta::BayesianNormalised) > error(&hard, Theta::Debiased);
    Check { claims, hardness_costs }
}

impl Check {
    /// Whether all claims hold.
    pub fn holds(&self) -> bool {
        self.hardness_costs && self.claims.iter().all(Claim::holds)
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = |claim: &Claim| {
            vec![
                claim.theta.name().to_owned(),
                claim.point.alpha.to_string(),
                claim.point.beta.to_string(),
                claim.point.num_negatives.to_string(),
                format!("{:.1}", claim.expected),
                format!("{:.1}", claim.found),
                format!("{:+.1} %", 100.0 * (claim.found / claim.expected - 1.0)),
                if claim.holds() { "holds" } else { "FAILS" }.to_owned(),
            ]
        };
        let numbers = ["alpha", "beta", "N", "expected", "found", "off by", "within 15 %"];
        let columns = Column::list(["estimator"], numbers);
        Table::new(columns, self.claims.iter().map(row)).fmt(f)?;
        let verdict = if self.hardness_costs { "holds" } else { "FAILS" };
        writeln!(
            f,
            "At beta 0.7 the Bayesian estimate is worse than the debiased one: {verdict}."
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_of_the_released_experiment_are_found_again() {
        let check = check(Seed(2301));
        assert!(check.holds(), "{check}");
        assert_eq!(check.claims.len(), 14);
    }

    #[test]
    fn a_figure_that_has_drifted_is_noticed() {
        let claim = |found| Claim {
            point: SimulationConfig::default(),
            theta: Theta::Biased,
            expected: 719.0,
            found,
        };
        assert!(claim(615.0).holds() && claim(820.0).holds());
        assert!(!claim(600.0).holds() && !claim(830.0).holds() && !claim(f64::NAN).holds());
    }
}
