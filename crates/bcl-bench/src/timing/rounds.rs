//! Times of one measurement or of several, gathered as rounds.

use super::{Benchmark, Environment, Spread, duration, median};
use bcl_report::{Column, Table};
use serde::Serialize;
use std::{collections::BTreeMap, fmt};

/// Times with their environment.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rounds {
    /// What measured: a verb, or `criterion`.
    pub kind: String,
    /// Machine and build.
    pub environment: Environment,
    /// Sizes that all cases share and that their names do not mention.
    pub settings: BTreeMap<String, serde_json::Value>,
    /// The measured cases, in the order of the file.
    pub cases: Vec<Case>,
}

/// The times of one case.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Case {
    /// Name of the case, or of the case and a part of it.
    pub name: String,
    /// Seconds per round. Median, least and most are equal if the round is a single number.
    pub seconds: Vec<Spread>,
}

/// Times with the rounds of all sources, and warnings about them.
#[derive(Debug, Clone, PartialEq)]
pub struct Gathered {
    /// The cases that are in every source.
    pub rounds: Rounds,
    /// Differences between the sources.
    pub warnings: Vec<String>,
}

impl Case {
    pub(super) fn new(name: String, seconds: Spread) -> Self {
        let seconds = vec![seconds];
        Self { name, seconds }
    }

    /// The median of the rounds in seconds.
    pub fn median(&self) -> f64 {
        median(self.seconds.iter().map(|round| round.median).collect())
    }

    /// The smallest and the largest time of all rounds in seconds; `None` if there is only one number.
    pub fn interval(&self) -> Option<[f64; 2]> {
        let least = self.seconds.iter().map(|round| round.least).fold(f64::INFINITY, f64::min);
        let most = self.seconds.iter().map(|round| round.most).fold(0.0, f64::max);
        (self.seconds.len() > 1 || least < most).then_some([least, most])
    }
}

impl From<Benchmark> for Rounds {
    fn from(benchmark: Benchmark) -> Self {
        let cases = benchmark.measurements.into_iter().flat_map(|measurement| {
            let name = measurement.name;
            let parts = measurement
                .parts
                .into_iter()
                .map(|part| Case::new(format!("{name}: {}", part.name), part.seconds))
                .collect::<Vec<_>>();
            let whole = measurement.seconds.map(|seconds| Case::new(name, seconds));
            whole.into_iter().chain(parts)
        });
        Self {
            kind: benchmark.verb,
            environment: benchmark.environment,
            settings: benchmark.settings,
            cases: cases.collect(),
        }
    }
}

impl Rounds {
    /// The case of a given name.
    pub fn case(&self, name: &str) -> Option<&Case> {
        self.cases.iter().find(|case| case.name == name)
    }

    /// What measured, for messages.
    pub fn source(&self) -> String {
        source(&self.kind)
    }

    /// Checks that there are cases and that all times are above 0, as ratios need.
    pub(super) fn checked(self, place: &str) -> Result<Self, String> {
        if self.cases.is_empty() {
            return Err(format!("{place} contains no measurements"));
        }
        let times = |case: &Case| {
            case.seconds
                .iter()
                .flat_map(|round| [round.median, round.least, round.most])
                .collect::<Vec<_>>()
        };
        for case in &self.cases {
            if let Some(seconds) = times(case).iter().find(|seconds| !(seconds.is_finite() && **seconds > 0.0)) {
                let name = &case.name;
                return Err(format!(
                    "{place}: the time of {name} is {seconds} s, which is impossible; measure again"
                ));
            }
        }
        Ok(self)
    }

    /// Checks that both measured the same sizes; the places are for the message.
    pub(super) fn check_same(&self, place: &str, other: &Self, other_place: &str) -> Result<(), String> {
        for name in self.settings.keys().chain(other.settings.keys()) {
            let values = [self, other].map(|rounds| rounds.settings.get(name));
            if values[0] != values[1] {
                let [value, other] = values.map(|value| value.map_or_else(|| "not set".to_owned(), ToString::to_string));
                return Err(format!(
                    "{name} is {value} in {place}, but {other} in {other_place}: they measured different things"
                ));
            }
        }
        Ok(())
    }

    /// Combines sources in order; each contributes its rounds. The places are for messages.
    ///
    /// Cases that are not in every source are left out, so that rounds of the same number come from the same source.
    ///
    /// # Errors
    /// Returns an error if the sources measured different things or have no case in common.
    ///
    /// # Panics
    /// Panics if there is no source.
    pub fn gather(sources: Vec<(String, Self)>) -> Result<Gathered, String> {
        let mut sources = sources.into_iter();
        let (first_place, mut rounds) = sources.next().expect("at least one source");
        let mut warnings = Vec::new();
        for (place, next) in sources {
            rounds.check_same(&first_place, &next, &place)?;
            if rounds.environment.revision != next.environment.revision {
                warnings.push(format!("{place} has another revision than {first_place}"));
            }
            for difference in rounds.environment.differences(&next.environment) {
                warnings.push(format!("{place}: {difference}"));
            }
            let lone = |case: &&Case| next.case(&case.name).is_none();
            let others = next.cases.iter().filter(|case| rounds.case(&case.name).is_none());
            for case in rounds.cases.iter().filter(lone).chain(others) {
                warnings.push(format!("{} is not in every source, so it is left out", case.name));
            }
            rounds.cases.retain_mut(|case| {
                let more = next.case(&case.name);
                case.seconds.extend(more.iter().flat_map(|case| &case.seconds));
                more.is_some()
            });
            if rounds.cases.is_empty() {
                return Err(format!("{first_place} and {place} have no measurement in common"));
            }
        }
        Ok(Gathered { rounds, warnings })
    }
}

/// What measured, for messages.
pub(super) fn source(kind: &str) -> String {
    match kind {
        "criterion" => "`cargo bench`".to_owned(),
        verb => format!("`bcl-bench {verb}`"),
    }
}

impl fmt::Display for Rounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = Column::list(["name"], ["median", "least", "most", "rounds"]);
        let rows = self.cases.iter().map(|case| {
            let [least, most] = case
                .interval()
                .map_or(["-", "-"].map(str::to_owned), |ends| ends.map(duration));
            [
                case.name.clone(),
                duration(case.median()),
                least,
                most,
                case.seconds.len().to_string(),
            ]
        });
        Table::new(columns, rows).fmt(f)?;
        let environment = &self.environment;
        write!(
            f,
            "\nTimes of {}, {}, {environment}, {} threads.",
            self.source(),
            environment.backend,
            environment.threads
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(cases: &[(&str, f64)]) -> Rounds {
        let case = |&(name, seconds): &(&str, f64)| Case::new(name.to_owned(), Spread::of(&[seconds]));
        Rounds {
            kind: "loss".to_owned(),
            environment: Environment::read(1),
            settings: BTreeMap::new(),
            cases: cases.iter().map(case).collect(),
        }
    }

    #[test]
    fn rounds_come_from_all_sources_in_their_order() {
        let sources = [[("a", 3.0), ("b", 1.0)], [("a", 1.0), ("c", 1.0)], [("a", 2.0), ("b", 2.0)]];
        let sources = sources.iter().zip(["1", "2", "3"]);
        let sources = sources.map(|(cases, place)| (place.to_owned(), rounds(cases))).collect();
        let Gathered { rounds, warnings } = Rounds::gather(sources).expect("one in common");
        let [a] = &rounds.cases[..] else {
            panic!("b and c are not everywhere: {rounds:?}")
        };
        let medians: Vec<f64> = a.seconds.iter().map(|round| round.median).collect();
        assert_eq!(medians, [3.0, 1.0, 2.0]);
        assert_eq!((a.median(), a.interval()), (2.0, Some([1.0, 3.0])));
        for name in ["b", "c"] {
            assert!(
                warnings.contains(&format!("{name} is not in every source, so it is left out")),
                "{warnings:?}"
            );
        }
    }

    #[test]
    fn sources_of_other_revisions_and_machines_are_gathered_with_a_warning() {
        let first = rounds(&[("a", 1.0)]);
        let mut second = first.clone();
        second.environment.revision = Some("another".to_owned());
        second.environment.threads = 5;
        let gathered = Rounds::gather(vec![("1".into(), first), ("2".into(), second)]).expect("one case");
        assert_eq!(
            gathered.warnings,
            ["2 has another revision than 1", "2: threads was 1 and is 5"]
        );
    }

    #[test]
    fn sources_without_a_common_case_are_refused() {
        let sources = vec![("1".into(), rounds(&[("a", 1.0)])), ("2".into(), rounds(&[("b", 1.0)]))];
        assert_eq!(Rounds::gather(sources).unwrap_err(), "1 and 2 have no measurement in common");
    }
}
