//! How many trials are trained for how many epochs.

use serde::{Deserialize, Serialize};

/// How settings are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Search {
    /// Train every trial to its end.
    Random,
    /// Successive halving: train all trials for a few epochs, the better half of them for twice as many, and so on down to two
    /// trials. Costs about log2(budget) full trainings.
    Halving,
}

/// Trials that are trained for the same number of epochs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rung {
    /// Number of trials.
    pub trials: usize,
    /// Maximum number of epochs.
    pub epochs: usize,
}

impl Search {
    /// The rungs for `budget` trials of at most `epochs` epochs. The best trial of the last rung wins.
    ///
    /// ```
    /// use bcl_bench::tables::{Rung, Search};
    ///
    /// let rung = |trials, epochs| Rung { trials, epochs };
    /// assert_eq!(Search::Halving.rungs(16, 40), [rung(16, 5), rung(8, 10), rung(4, 20), rung(2, 40)]);
    /// assert_eq!(Search::Random.rungs(16, 40), [rung(16, 40)]);
    /// assert_eq!(Search::Random.rungs(0, 40), []);
    /// ```
    pub fn rungs(self, budget: usize, epochs: usize) -> Vec<Rung> {
        if budget == 0 {
            return Vec::new();
        }
        let steps = match self {
            Self::Random => 0,
            // Stop at two trials, because one would leave no choice.
            Self::Halving => budget.ilog2().saturating_sub(1),
        };
        let rung = |step: u32| Rung {
            trials: budget >> step,
            epochs: (epochs >> (steps - step)).max(1),
        };
        (0..=steps).map(rung).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_rung_is_trained_to_the_end_and_has_a_choice() {
        for budget in 1..70 {
            let rungs = Search::Halving.rungs(budget, 64);
            assert_eq!(rungs[0].trials, budget);
            let last = rungs.last().unwrap();
            assert_eq!(last.epochs, 64);
            assert!(last.trials >= 2 || budget == 1, "{budget}: {last:?}");
            assert!(rungs.is_sorted_by(|a, b| a.trials > b.trials && a.epochs <= b.epochs));
        }
    }

    #[test]
    fn short_trainings_have_one_epoch_at_least() {
        assert!(Search::Halving.rungs(64, 3).iter().all(|rung| rung.epochs >= 1));
    }
}
