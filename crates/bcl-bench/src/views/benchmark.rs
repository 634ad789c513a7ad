//! View rates as a table and as JSON.

use super::ViewsPlan;
use crate::{
    environment::Environment,
    spread::{Spread, median},
};
use bcl_report::{Column, Table};
use serde::{Deserialize, Serialize};
use std::fmt;

/// All measurements of a run.
#[derive(Debug, Serialize, Deserialize)]
pub struct ViewsBenchmark {
    /// Machine and build; the number of threads is the largest one used.
    pub environment: Environment,
    /// Images per batch.
    pub batch_size: usize,
    /// Number of rounds.
    pub rounds: usize,
    /// One entry per size and number of threads.
    pub measurements: Vec<ViewsMeasurement>,
}

/// The rate of one size with one number of threads.
#[derive(Debug, Serialize, Deserialize)]
pub struct ViewsMeasurement {
    /// Height and width of a view.
    pub side: usize,
    /// Number of threads.
    pub threads: usize,
    /// Views per second, over the rounds.
    pub views_per_second: Spread,
    /// Images per second in training with two views each: half of the median above.
    pub pairs_per_second: f64,
    /// The rate relative to that of the first number of threads in the same round: the median over rounds.
    pub speed_up: f64,
}

impl ViewsBenchmark {
    pub(super) fn new(plan: &ViewsPlan, environment: Environment) -> Self {
        Self {
            environment,
            batch_size: plan.batch_size,
            rounds: plan.rounds,
            measurements: Vec::new(),
        }
    }

    /// Adds the rates of a size: one per round for each number of threads.
    pub(super) fn add(&mut self, side: usize, threads: &[usize], rates: &[Vec<f64>]) {
        for (&threads, of_rounds) in threads.iter().zip(rates) {
            let views_per_second = Spread::of(of_rounds);
            let ratios = of_rounds.iter().zip(&rates[0]).map(|(rate, first)| rate / first);
            self.measurements.push(ViewsMeasurement {
                side,
                threads,
                views_per_second,
                pairs_per_second: views_per_second.median / 2.0,
                speed_up: median(ratios.collect()),
            });
        }
    }
}

impl fmt::Display for ViewsBenchmark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header = [
            "pixels",
            "threads",
            "views/s",
            "least",
            "most",
            "images/s (2 views)",
            "speed-up",
        ];
        Table::new(
            header.map(Column::number),
            self.measurements.iter().map(ViewsMeasurement::cells),
        )
        .fmt(f)?;
        writeln!(f)?;
        write!(
            f,
            "Random views of planted images, {} images per batch, {} rounds, {}.",
            self.batch_size, self.rounds, self.environment
        )
    }
}

impl ViewsMeasurement {
    fn cells(&self) -> Vec<String> {
        let Spread { median, least, most } = self.views_per_second;
        let rates = [median, least, most, self.pairs_per_second];
        let side = format!("{0} x {0}", self.side);
        [side, self.threads.to_string()]
            .into_iter()
            .chain(rates.map(|rate| format!("{rate:.0}")))
            .chain([format!("{:.2}", self.speed_up)])
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_that_slows_down_between_rounds_does_not_move_the_speed_up() {
        let plan = ViewsPlan {
            sides: Vec::new(),
            threads: Vec::new(),
            batch_size: 4,
            rounds: 3,
            seconds: 0.0,
        };
        let mut benchmark = ViewsBenchmark::new(&plan, Environment::read(1));
        benchmark.add(32, &[1, 2], &[vec![100.0, 10.0, 60.0], vec![180.0, 18.0, 108.0]]);
        let [one, two] = &benchmark.measurements[..] else {
            panic!("two numbers of threads")
        };
        assert_eq!((one.speed_up, one.pairs_per_second), (1.0, 30.0));
        assert!((two.speed_up - 1.8).abs() < 1e-12);
        assert_eq!(two.views_per_second.most, 180.0);
        assert!(benchmark.to_string().contains("32 x 32"), "{benchmark}");
    }
}
