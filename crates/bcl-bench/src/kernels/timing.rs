//! Times two implementations in alternation.

use super::case::Implementations;
use crate::spread::{Spread, median};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// Number of rounds; both implementations run in each.
const ROUNDS: usize = 5;

/// Rounds stop after this multiple of the planned time, so that a slow implementation cannot run forever.
const PATIENCE: f64 = 4.0;

/// The time of a kernel, compared with its portable implementation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Time of the kernel in milliseconds, over all runs.
    pub kernel_ms: Spread,
    /// Time of the portable implementation in milliseconds, over all runs.
    pub portable_ms: Spread,
    /// Time of the portable implementation divided by the kernel's time, over rounds.
    pub ratio: Spread,
    /// Number of rounds measured.
    pub rounds: usize,
    /// Number of times the kernel ran.
    pub repetitions: usize,
}

/// Times of one round in milliseconds.
#[derive(Debug, Clone, Default, PartialEq)]
struct Round {
    kernel: Vec<f64>,
    portable: Vec<f64>,
}

impl Timing {
    /// Times both for about `seconds` in total, after one warm-up run each, which compiles what is compiled on first use.
    pub(super) fn of(implementations: &Implementations, seconds: f64) -> Self {
        (implementations.kernel)();
        (implementations.portable)();
        let start = Instant::now();
        let turn = seconds / (2 * ROUNDS) as f64;
        let mut rounds = Vec::new();
        while rounds.len() < ROUNDS && (rounds.is_empty() || start.elapsed().as_secs_f64() < PATIENCE * seconds) {
            rounds.push(Round {
                kernel: repeat(&implementations.kernel, turn),
                portable: repeat(&implementations.portable, turn),
            });
        }
        Self::over(&rounds)
    }

    fn over(rounds: &[Round]) -> Self {
        let all = |times: fn(&Round) -> &Vec<f64>| rounds.iter().flat_map(times).copied().collect::<Vec<f64>>();
        let ratio = |round: &Round| median(round.portable.clone()) / median(round.kernel.clone());
        let kernel = all(|round| &round.kernel);
        Self {
            repetitions: kernel.len(),
            kernel_ms: Spread::of(&kernel),
            portable_ms: Spread::of(&all(|round| &round.portable)),
            ratio: Spread::of(&rounds.iter().map(ratio).collect::<Vec<_>>()),
            rounds: rounds.len(),
        }
    }
}

/// The time of each run in milliseconds: at least one run, until `seconds` have passed.
fn repeat(run: &dyn Fn(), seconds: f64) -> Vec<f64> {
    let mut times = Vec::new();
    while times.is_empty() || times.iter().sum::<f64>() < 1e3 * seconds {
        let start = Instant::now();
        run();
        times.push(1e3 * start.elapsed().as_secs_f64());
    }
    times
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{cell::RefCell, rc::Rc};

    #[test]
    fn a_machine_that_slows_down_between_rounds_does_not_move_the_ratio() {
        let round = |slower: f64| Round {
            kernel: vec![slower],
            portable: vec![3.0 * slower],
        };
        let timing = Timing::over(&[round(1.0), round(10.0), round(2.0)]);
        let medians = [timing.kernel_ms, timing.portable_ms, timing.ratio].map(|spread| spread.median);
        assert_eq!(medians, [2.0, 6.0, 3.0]);
        assert_eq!(
            (timing.ratio.least, timing.ratio.most, timing.kernel_ms.most),
            (3.0, 3.0, 10.0)
        );
        assert_eq!((timing.rounds, timing.repetitions), (3, 3));
    }

    #[test]
    fn both_take_turns_after_a_run_that_is_not_counted() {
        let log = Rc::new(RefCell::new(String::new()));
        let contestant = |name: char| {
            let log = log.clone();
            Box::new(move || log.borrow_mut().push(name))
        };
        let implementations = Implementations {
            kernel: contestant('k'),
            portable: contestant('p'),
        };
        let timing = Timing::of(&implementations, 1e-9);
        // Even in next to no time, one round is measured.
        assert_eq!(log.borrow().len(), 2 * (1 + timing.rounds));
        assert!(log.borrow().starts_with("kpkp"));
    }
}
