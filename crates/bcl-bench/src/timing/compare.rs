//! Compares times with earlier ones: what became faster, what became slower, and what is noise.
//!
//! Times of two runs differ even if the code does not, because of other work on the machine. So measure both sides several times in alternation and
//! gather the results ([`Rounds::gather`]). A single run of criterion only knows the noise within itself.

use super::{
    Environment, Spread, duration,
    rounds::{Case, Rounds},
};
use bcl_report::{Column, Table};
use serde::Serialize;
use std::fmt;

/// From this many rounds on, rounds are compared in pairs. All of five ratios are on one side of the true ratio by chance once in sixteen times.
const PAIRED_ROUNDS: usize = 5;

/// Smaller differences are never reported: the placement of code and data in memory alone causes as much.
const NOISE: f64 = 0.02;

/// Two results side by side.
#[derive(Debug, Serialize)]
pub struct Comparison {
    /// What measured both: a verb, or `criterion`.
    pub kind: String,
    /// The environment of the old measurement.
    pub old: Environment,
    /// The environment of the new measurement.
    pub new: Environment,
    /// Differences between the two environments, except for the revision.
    pub differences: Vec<String>,
    /// The smallest number of rounds of any pair, old and new.
    pub rounds: [usize; 2],
    /// The cases in both results, in the order of the old one.
    pub pairs: Vec<Pair>,
    /// The cases in the old result only.
    pub only_old: Vec<String>,
    /// The cases in the new result only.
    pub only_new: Vec<String>,
}

/// One case, measured twice.
#[derive(Debug, Serialize)]
pub struct Pair {
    /// Name of the case.
    pub name: String,
    /// Old time in seconds.
    pub old_seconds: f64,
    /// New time in seconds.
    pub new_seconds: f64,
    /// New time relative to the old one.
    #[serde(flatten)]
    pub ratio: Ratio,
    /// Whether that is faster, slower or noise.
    pub verdict: Verdict,
}

/// The new time as a multiple of the old one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Ratio {
    /// New time over old time; above 1 is slower.
    pub ratio: f64,
    /// The interval of the ratio; `None` if both measurements are single numbers.
    pub interval: Option<[f64; 2]>,
}

/// The conclusion from a ratio and its interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The whole interval is below 1, by more than the noise.
    Faster,
    /// The whole interval is above 1, by more than the noise.
    Slower,
    /// The interval contains 1 or comes within 2 % of it.
    Same,
    /// There is no interval.
    Unknown,
}

impl Comparison {
    /// Compares the times of each verb that both sides have. The names of the sides are for messages.
    ///
    /// # Errors
    /// Returns an error if no verb has times of both, or they measured different things.
    pub fn of_each([old_name, new_name]: [&str; 2], old: &[Rounds], new: &[Rounds]) -> Result<Vec<Self>, String> {
        let pairs = old
            .iter()
            .flat_map(|old| new.iter().filter(|new| new.kind == old.kind).map(move |new| (old, new)));
        let comparisons = pairs
            .map(|(old, new)| Self::new([old_name, new_name], old, new))
            .collect::<Result<Vec<_>, _>>()?;
        if comparisons.is_empty() {
            return Err(format!("{old_name} and {new_name} have no measurement in common"));
        }
        Ok(comparisons)
    }

    /// Compares all cases that are in both results of one verb. The names are for messages.
    ///
    /// # Errors
    /// Returns an error if the results measure different things or have no case in common.
    pub fn new([old_name, new_name]: [&str; 2], old: &Rounds, new: &Rounds) -> Result<Self, String> {
        old.check_same(old_name, new, new_name)?;
        let both = old.cases.iter().filter_map(|case| Some([case, new.case(&case.name)?]));
        let both: Vec<[&Case; 2]> = both.collect();
        if both.is_empty() {
            return Err(format!("{old_name} and {new_name} have no measurement in common"));
        }
        let lone = |of: &Rounds, other: &Rounds| {
            let names = of.cases.iter().map(|case| &case.name);
            names.filter(|name| other.case(name).is_none()).cloned().collect()
        };
        Ok(Self {
            kind: old.kind.clone(),
            old: old.environment.clone(),
            new: new.environment.clone(),
            differences: old.environment.differences(&new.environment),
            rounds: [0, 1].map(|side| both.iter().map(|pair| pair[side].seconds.len()).min().unwrap_or(0)),
            pairs: both.into_iter().map(|[old, new]| Pair::new(old, new)).collect(),
            only_old: lone(old, new),
            only_new: lone(new, old),
        })
    }

    /// The pairs that became slower by more than a factor for certain: the lower end of their interval is above it.
    pub fn above(&self, factor: f64) -> Vec<&Pair> {
        self.pairs.iter().filter(|pair| pair.ratio.least() > factor).collect()
    }
}

impl Pair {
    fn new(old: &Case, new: &Case) -> Self {
        let ratio = Ratio::of(old, new);
        Self {
            name: old.name.clone(),
            old_seconds: old.median(),
            new_seconds: new.median(),
            ratio,
            verdict: ratio.verdict(),
        }
    }
}

impl Ratio {
    /// Compares rounds in pairs if both cases have the same number, at least five. Otherwise divides the ends of the two
    /// intervals, which gives a wider interval.
    ///
    /// # Panics
    /// Panics if a case has no round.
    pub fn of(old: &Case, new: &Case) -> Self {
        let [olds, news] = [old, new].map(|case| &case.seconds);
        if olds.len() == news.len() && olds.len() >= PAIRED_ROUNDS {
            let ratios: Vec<f64> = news.iter().zip(olds).map(|(new, old)| new.median / old.median).collect();
            let Spread { median, least, most } = Spread::of(&ratios);
            return Self {
                ratio: median,
                interval: Some([least, most]),
            };
        }
        let ends = old.interval().zip(new.interval());
        Self {
            ratio: new.median() / old.median(),
            interval: ends.map(|([old_least, old_most], [new_least, new_most])| [new_least / old_most, new_most / old_least]),
        }
    }

    /// The lower end of the interval, or the ratio itself if there is no interval.
    pub fn least(&self) -> f64 {
        self.interval.map_or(self.ratio, |[least, _]| least)
    }

    /// Whether the new time is faster, slower or the same.
    pub fn verdict(&self) -> Verdict {
        match self.interval {
            None => Verdict::Unknown,
            Some([least, _]) if least > 1.0 + NOISE => Verdict::Slower,
            Some([_, most]) if most < 1.0 / (1.0 + NOISE) => Verdict::Faster,
            Some(_) => Verdict::Same,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Same => "same within noise",
            Self::Unknown => "no spread to judge by",
        })
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = [
            Column::text("name"),
            Column::number("old"),
            Column::number("new"),
            Column::number("new / old"),
            Column::number("interval"),
            Column::text("verdict"),
        ];
        let rows = self.pairs.iter().map(|pair| {
            let interval = pair.ratio.interval;
            [
                pair.name.clone(),
                duration(pair.old_seconds),
                duration(pair.new_seconds),
                format!("{:.2}", pair.ratio.ratio),
                interval.map_or_else(|| "-".to_owned(), |[least, most]| format!("{least:.2} to {most:.2}")),
                pair.verdict.to_string(),
            ]
        });
        Table::new(columns, rows).fmt(f)?;
        writeln!(f)?;
        for (side, names) in [("old", &self.only_old), ("new", &self.only_new)] {
            if !names.is_empty() {
                writeln!(f, "Only in the {side} result: {}.", names.join("; "))?;
            }
        }
        let revision = |environment: &Environment| environment.revision.clone().unwrap_or("an unknown revision".to_owned());
        write!(
            f,
            "Times of {}, old: {}, new: {}. A ratio above 1 is slower.",
            super::rounds::source(&self.kind),
            revision(&self.old),
            revision(&self.new)
        )?;
        if self.rounds.iter().any(|&rounds| rounds < PAIRED_ROUNDS) {
            write!(
                f,
                " With fewer than {PAIRED_ROUNDS} rounds per side, other work on the machine may look like a change: measure both in alternation \
                 and name all rounds."
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
