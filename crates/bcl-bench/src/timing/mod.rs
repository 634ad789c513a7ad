//! The harness of all timings: cases that take turns, one form of results, one table, one comparison.
//!
//! Cases of a group run alternately in rounds, so that other work on the machine affects all of them alike. Times are medians over all turns. A ratio
//! compares a case with the first of its group, within each round. Before the rounds, each case runs once: that compiles kernels and shows
//! how much memory the case needs.

mod benchmark;
mod clock;
mod compare;
mod criterion;
mod environment;
mod memory;
mod rounds;
mod saved;
mod spread;

pub use benchmark::{Benchmark, Measurement, Part, duration};
pub use compare::{Comparison, Pair, Ratio, Verdict};
pub use environment::Environment;
pub use rounds::{Case as SavedCase, Gathered, Rounds};
pub use saved::{ResultsFolder, Saved};
pub use spread::Spread;

pub(crate) use clock::Clock;
pub(crate) use spread::median;

use bcl_backend::Backend;
use memory::Meter;
use std::time::Instant;

/// Share of the available memory that a case may need.
const MEMORY_SHARE: f64 = 0.8;

/// Rounds stop after this multiple of the planned time, so that a slow case cannot run forever.
const PATIENCE: f64 = 4.0;

/// One turn of a case.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Turn {
    /// Its time.
    pub seconds: f64,
    /// Times of its parts, or of related work that does not count.
    pub parts: Vec<(&'static str, f64)>,
}

impl Turn {
    /// A turn that takes as long as its parts together.
    pub(crate) fn of(parts: Vec<(&'static str, f64)>) -> Self {
        let seconds = parts.iter().map(|(_, seconds)| seconds).sum();
        Self { seconds, parts }
    }
}

/// Something to time. It makes its inputs on its first turn, which is not counted.
pub struct Case<'a> {
    /// The name.
    pub name: String,
    operations: Option<f64>,
    mib: f64,
    scale: f64,
    run: Box<dyn FnMut() -> Turn + 'a>,
}

/// How often cases run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// Number of rounds; every case runs in each.
    pub rounds: usize,
    /// The fewest turns of a case per round.
    pub turns: usize,
    /// Seconds per case over all rounds, if more turns than the fewest fit into them.
    pub seconds: f64,
}

impl Plan {
    /// The number of turns does not depend on time.
    pub fn of_turns(rounds: usize, turns: usize) -> Self {
        let seconds = 0.0;
        Self { rounds, turns, seconds }
    }

    /// Turns fill these seconds, with at least one per round.
    pub fn of_seconds(rounds: usize, seconds: f64) -> Self {
        let turns = 1;
        Self { rounds, turns, seconds }
    }
}

impl<'a> Case<'a> {
    /// A case that is timed as a whole. It returns when the device is done.
    pub fn new(name: impl Into<String>, mut run: impl FnMut() + 'a) -> Self {
        Self::in_parts(name, move || {
            let start = Instant::now();
            run();
            Turn {
                seconds: start.elapsed().as_secs_f64(),
                parts: Vec::new(),
            }
        })
    }

    /// A case that times itself.
    pub fn in_parts(name: impl Into<String>, run: impl FnMut() -> Turn + 'a) -> Self {
        Self {
            name: name.into(),
            operations: None,
            mib: 0.0,
            scale: 1.0,
            run: Box::new(run),
        }
    }

    /// Counts its floating-point operations, for a rate.
    #[must_use]
    pub fn with_operations(self, operations: f64) -> Self {
        let operations = Some(operations);
        Self { operations, ..self }
    }

    /// Skips the case if it may need more memory than there is, in MiB.
    #[must_use]
    pub fn needing(self, mib: f64) -> Self {
        Self { mib, ..self }
    }

    /// Multiplies its times, because it does only a part of the work.
    #[must_use]
    pub fn scaled(self, scale: f64) -> Self {
        Self { scale, ..self }
    }
}

/// A case in its rounds.
struct Running<'a> {
    case: Case<'a>,
    first_seconds: f64,
    extra_mib: Option<f64>,
    rounds: Vec<Vec<Turn>>,
}

impl<'a> Running<'a> {
    /// Runs a case once, which is not counted; says why if it would not fit into memory.
    fn start(mut case: Case<'a>, backend: &Backend) -> Result<Self, String> {
        if let Some(available) = memory::of(backend.info())
            && case.mib > MEMORY_SHARE * available
        {
            return Err(format!(
                "skipped: may need {:.0} MiB, but only {available:.0} MiB are available",
                case.mib
            ));
        }
        let meter = Meter::start(backend);
        let start = Instant::now();
        (case.run)();
        Ok(Self {
            first_seconds: start.elapsed().as_secs_f64(),
            // What does a part of the work needs less than all of it.
            extra_mib: meter.extra_mib().filter(|_| case.scale == 1.0),
            rounds: Vec::new(),
            case,
        })
    }

    fn round(&mut self, plan: &Plan) {
        let start = Instant::now();
        let mut turns = Vec::new();
        while turns.len() < plan.turns || start.elapsed().as_secs_f64() < plan.seconds / plan.rounds as f64 {
            let mut turn = (self.case.run)();
            turn.seconds *= self.case.scale;
            turns.push(turn);
        }
        self.rounds.push(turns);
    }

    fn measurement(&self, name: String, reference: Option<&Self>) -> Measurement {
        let turns: Vec<&Turn> = self.rounds.iter().flatten().collect();
        let seconds = Spread::of(&turns.iter().map(|turn| turn.seconds).collect::<Vec<_>>());
        let of_part = |(index, (name, _)): (usize, &(&str, f64))| Part {
            name: (*name).to_owned(),
            seconds: Spread::of(&turns.iter().map(|turn| turn.parts[index].1).collect::<Vec<_>>()),
        };
        Measurement {
            name,
            ratio: reference.map(|reference| ratio(&self.rounds, &reference.rounds)),
            parts: turns[0].parts.iter().enumerate().map(of_part).collect(),
            gflops: self.case.operations.map(|operations| 1e-9 * operations / seconds.median),
            seconds: Some(seconds),
            first_seconds: Some(self.first_seconds),
            repetitions: turns.len(),
            extra_mib: self.extra_mib,
            note: None,
        }
    }
}

/// The time relative to a reference's in the same round.
fn ratio(rounds: &[Vec<Turn>], reference: &[Vec<Turn>]) -> Spread {
    let medians = |turns: &Vec<Turn>| median(turns.iter().map(|turn| turn.seconds).collect());
    let ratios = rounds.iter().zip(reference).map(|(own, other)| medians(own) / medians(other));
    Spread::of(&ratios.collect::<Vec<_>>())
}

/// Times the cases of a group in turns. Ratios are to the first of them.
///
/// # Panics
/// Panics if the plan has no rounds or no turns.
pub fn measure(cases: Vec<Case<'_>>, plan: &Plan, backend: &Backend) -> Vec<Measurement> {
    let names: Vec<String> = cases.iter().map(|case| case.name.clone()).collect();
    let mut running: Vec<Result<Running<'_>, String>> = cases.into_iter().map(|case| Running::start(case, backend)).collect();
    let start = Instant::now();
    let limit = PATIENCE * plan.seconds * running.len() as f64;
    for round in 0..plan.rounds {
        if round > 0 && limit > 0.0 && start.elapsed().as_secs_f64() > limit {
            break;
        }
        running.iter_mut().flatten().for_each(|case| case.round(plan));
    }
    let reference = match &running[..] {
        [Ok(first), _, ..] => Some(first),
        _ => None,
    };
    let measured = names.into_iter().zip(&running).map(|(name, case)| match case {
        Ok(case) => case.measurement(name, reference),
        Err(note) => Measurement::skipped(name, note.clone()),
    });
    measured.collect()
}

#[cfg(test)]
mod tests;
