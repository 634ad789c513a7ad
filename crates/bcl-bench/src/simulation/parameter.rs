//! The parameters of the experiment, swept one at a time.

use bcl_core::simulation::SimulationConfig;
use bcl_report::chart::Axis;
use serde::Serialize;

/// A parameter that is swept while the others stay fixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Parameter {
    /// How well the scores separate the classes.
    Alpha,
    /// Hardness of the Bayesian weight.
    Beta,
    /// How much the score intervals of the anchors differ.
    Gamma,
    /// Prior probability of a false negative.
    TauPlus,
    /// Temperature.
    Temperature,
    /// Unlabelled scores per anchor.
    NumNegatives,
    /// Anchors per repetition.
    NumAnchors,
    /// Positive scores per anchor.
    NumPositives,
}

impl Parameter {
    /// All parameters.
    pub const ALL: [Self; 8] = [
        Self::Alpha,
        Self::Beta,
        Self::Gamma,
        Self::TauPlus,
        Self::Temperature,
        Self::NumNegatives,
        Self::NumAnchors,
        Self::NumPositives,
    ];

    /// Its name in tables and files.
    pub fn name(self) -> &'static str {
        self.words()[0]
    }

    /// Its symbol in the paper.
    pub(super) fn symbol(self) -> &'static str {
        self.words()[1]
    }

    pub(super) fn axis(self) -> Axis {
        let [_, symbol, what] = self.words();
        let label = format!("{what} {symbol}");
        match self {
            Self::Alpha | Self::Beta | Self::Gamma | Self::TauPlus => Axis::linear(&label),
            Self::NumNegatives => Axis::logarithmic(&label, 2),
            Self::Temperature | Self::NumAnchors | Self::NumPositives => Axis::logarithmic(&label, 10),
        }
    }

    /// Its name, its symbol and what it is.
    fn words(self) -> [&'static str; 3] {
        match self {
            Self::Alpha => ["alpha", "α", "separation"],
            Self::Beta => ["beta", "β", "hardness"],
            Self::Gamma => ["gamma", "γ", "variation of intervals"],
            Self::TauPlus => ["tau_plus", "τ+", "class prior"],
            Self::Temperature => ["temperature", "t", "temperature"],
            Self::NumNegatives => ["num_negatives", "N", "negatives"],
            Self::NumAnchors => ["num_anchors", "M", "anchors"],
            Self::NumPositives => ["num_positives", "K", "positives"],
        }
    }

    /// The points of its sweep: fixed values and the value in `base`, in ascending order. A sweep leaves out values that are out of range
    /// with the other parameters of `base`.
    pub(super) fn points(self, base: &SimulationConfig) -> Vec<SimulationConfig> {
        let mut values = self.values().to_vec();
        values.push(self.of(base));
        values.sort_by(f64::total_cmp);
        values.dedup();
        let points = values.into_iter().map(|value| self.set(base, value));
        points.filter(|point| point.check().is_ok()).collect()
    }

    /// Its value at a point.
    pub(super) fn of(self, point: &SimulationConfig) -> f64 {
        match self {
            Self::Alpha => point.alpha,
            Self::Beta => point.beta,
            Self::Gamma => point.gamma,
            Self::TauPlus => point.tau_plus,
            Self::Temperature => point.temperature,
            Self::NumNegatives => point.num_negatives as f64,
            Self::NumAnchors => point.num_anchors as f64,
            Self::NumPositives => point.num_positives as f64,
        }
    }

    fn set(self, base: &SimulationConfig, value: f64) -> SimulationConfig {
        let mut point = *base;
        match self {
            Self::Alpha => point.alpha = value,
            Self::Beta => point.beta = value,
            Self::Gamma => point.gamma = value,
            Self::TauPlus => point.tau_plus = value,
            Self::Temperature => point.temperature = value,
            Self::NumNegatives => point.num_negatives = value as usize,
            Self::NumAnchors => point.num_anchors = value as usize,
            Self::NumPositives => point.num_positives = value as usize,
        }
        point
    }

    fn values(self) -> &'static [f64] {
        match self {
            Self::Alpha => &[0.5, 0.6, 0.7, 0.8, 0.9, 1.0],
            Self::Beta => &[0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0],
            Self::Gamma => &[0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9],
            Self::TauPlus => &[0.01, 0.05, 0.1, 0.2, 0.3, 0.5],
            Self::Temperature => &[0.3, 0.4, 0.5, 0.7, 1.0, 2.0],
            Self::NumNegatives => &[16.0, 32.0, 64.0, 128.0, 256.0, 512.0],
            Self::NumAnchors => &[100.0, 200.0, 500.0, 1000.0, 2000.0, 5000.0],
            Self::NumPositives => &[1.0, 2.0, 5.0, 10.0, 20.0, 50.0],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sweep_holds_the_base_and_changes_one_parameter() {
        let base = SimulationConfig {
            temperature: 0.45,
            ..SimulationConfig::default()
        };
        for parameter in Parameter::ALL {
            let points = parameter.points(&base);
            assert!(points.contains(&base), "{}", parameter.name());
            for point in points {
                assert_eq!(parameter.set(&point, parameter.of(&base)), base);
            }
        }
        assert_eq!(Parameter::Temperature.points(&base).len(), 7);
    }

    #[test]
    fn values_outside_the_axis_are_left_out() {
        let base = SimulationConfig {
            beta: 1.0,
            ..SimulationConfig::default()
        };
        let alphas: Vec<f64> = Parameter::Alpha.points(&base).iter().map(|point| point.alpha).collect();
        assert_eq!(alphas, [0.5, 0.6, 0.7, 0.8, 0.9]);
    }
}
