//! The bound of Theorem 3 of *Bayesian data augmentation* (its appendix D) in numbers.
//!
//! With probability `1 - δ`, the encoder with the least loss on n samples is worse than the best encoder of its class by at most
//!
//! ```text
//! 32 k κ e^(4/t) R + (4 k κ² / t + 2 e^(2/t)) (sqrt(4 log(2/δ) / n) + δ/2)
//! ```
//!
//! for k outputs of at most κ and a Rademacher complexity R. Unit vectors have `k κ² >= 1`. With `k κ² = 1` and R = 0, which no class of encoders
//! reaches, the second term is a lower bound of the bound; beside it stands the largest possible difference of two losses.

use super::drawing::bound;
use bcl_report::{Column, Table};
use serde::Serialize;
use std::fmt;

const TEMPERATURES: [f64; 3] = [1.0, 0.5, 0.1];
/// The sizes of CIFAR-10 and `ImageNet`, and a number that no data set has.
const SAMPLES: [f64; 3] = [5e4, 1.28e6, 1e9];
const DELTA: f64 = 0.05;

/// The bound for one temperature and number of samples, in nats.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Generalisation {
    /// Temperature t.
    pub temperature: f64,
    /// Number of samples n.
    pub num_samples: f64,
    /// The bound without its first term.
    pub at_least: f64,
    /// The largest loss less the smallest one.
    pub range: f64,
}

pub(super) fn generalisation() -> Vec<Generalisation> {
    let each = TEMPERATURES
        .into_iter()
        .flat_map(|temperature| SAMPLES.map(|num_samples| (temperature, num_samples)));
    each.map(|(temperature, num_samples)| Generalisation {
        temperature,
        num_samples,
        at_least: (4.0 / temperature + 2.0 * (2.0 / temperature).exp())
            * ((4.0 * (2.0 / DELTA).ln() / num_samples).sqrt() + DELTA / 2.0),
        range: 2.0 / temperature + (2.0 / temperature).exp(),
    })
    .collect()
}

/// The bounds as a table.
pub(super) struct Listed<'a>(pub(super) &'a [Generalisation]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = |found: &Generalisation| {
            [
                found.temperature.to_string(),
                format!("{:.1e}", found.num_samples),
                bound(found.at_least, 2),
                bound(found.range, 2),
            ]
        };
        let columns = ["t", "n", "bound, at least", "largest possible difference"].map(Column::number);
        Table::new(columns, self.0.iter().map(row)).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_that_of_the_paper() {
        let found = generalisation();
        // (8 + 2 e^4) (sqrt(4 log 40 / 50,000) + 0.025)
        assert!((found[3].at_least - 117.196_300 * 0.042_179).abs() < 1e-2, "{:?}", found[3]);
        assert!(
            found
                .windows(2)
                .all(|pair| pair[0].temperature != pair[1].temperature || pair[1].at_least < pair[0].at_least)
        );
    }
}
