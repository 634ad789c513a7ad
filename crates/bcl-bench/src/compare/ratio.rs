//! One time relative to another, and what can be said of it.

use crate::{Spread, results::Case};
use serde::Serialize;
use std::fmt;

/// From this many rounds on, each is compared with the one of the same number: all of five ratios lie on one side of the true one once in
/// sixteen times.
pub(super) const PAIRED_ROUNDS: usize = 5;

/// A smaller difference is never called one: so much comes and goes with the place of code and data in memory.
const NOISE: f64 = 0.02;

/// How many times as long the new one takes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Ratio {
    /// New relative to old; above 1 is slower.
    pub ratio: f64,
    /// Where it may lie, as far as the measurements tell; `None` where they are single numbers.
    pub interval: Option<[f64; 2]>,
}

/// What a ratio says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The whole interval is below 1.
    Faster,
    /// The whole interval is above 1.
    Slower,
    /// It contains 1, or comes within 2 % of it.
    Same,
    /// There is no interval to judge by.
    Unknown,
}

impl Ratio {
    /// Compares rounds in pairs where both have as many, and five; otherwise the ends of both intervals, which is further apart.
    ///
    /// # Panics
    /// When a case has no round.
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

    /// The least that it may be; the ratio itself where nothing tells.
    pub fn least(&self) -> f64 {
        self.interval.map_or(self.ratio, |[least, _]| least)
    }

    /// What it says.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn case(rounds: &[[f64; 3]]) -> Case {
        let spread = |&[least, median, most]: &[f64; 3]| Spread { median, least, most };
        Case {
            name: "it".to_owned(),
            seconds: rounds.iter().map(spread).collect(),
        }
    }

    fn points(seconds: &[f64]) -> Case {
        case(&seconds.iter().map(|&s| [s; 3]).collect::<Vec<_>>())
    }

    #[test]
    fn intervals_that_do_not_touch_tell_faster_from_slower() {
        let (quick, slow) = (case(&[[0.9, 1.0, 1.1]]), case(&[[1.9, 2.0, 2.2]]));
        let slower = Ratio::of(&quick, &slow);
        assert_eq!(slower.ratio, 2.0);
        assert_eq!(slower.interval, Some([1.9 / 1.1, 2.2 / 0.9]));
        assert_eq!(slower.verdict(), Verdict::Slower);
        assert_eq!(Ratio::of(&slow, &quick).verdict(), Verdict::Faster);
    }

    #[test]
    fn intervals_that_touch_and_differences_of_a_percent_are_noise() {
        assert_eq!(
            Ratio::of(&case(&[[0.9, 1.0, 1.6]]), &case(&[[1.5, 2.0, 2.2]])).verdict(),
            Verdict::Same
        );
        let percent = Ratio::of(&case(&[[0.999, 1.0, 1.001]]), &case(&[[1.012, 1.013, 1.014]]));
        assert!(percent.least() > 1.0);
        assert_eq!(percent.verdict(), Verdict::Same);
    }

    #[test]
    fn single_numbers_have_a_ratio_and_no_verdict() {
        let ratio = Ratio::of(&points(&[1.0]), &points(&[3.0]));
        assert_eq!((ratio.ratio, ratio.interval, ratio.least()), (3.0, None, 3.0));
        assert_eq!(ratio.verdict(), Verdict::Unknown);
        // One side alone says nothing of the noise of the other.
        assert_eq!(Ratio::of(&points(&[1.0]), &case(&[[2.0, 3.0, 4.0]])).interval, None);
    }

    #[test]
    fn five_rounds_in_turns_see_through_a_machine_that_slows_down() {
        let old = points(&[1.0, 10.0, 2.0, 4.0, 1.0]);
        let new = points(&[1.5, 15.0, 3.0, 6.0, 1.6]);
        let ratio = Ratio::of(&old, &new);
        assert_eq!((ratio.ratio, ratio.verdict()), (1.5, Verdict::Slower));
        // Four rounds are too few to go by pairs.
        let few = |case: &Case| Case {
            seconds: case.seconds[..4].to_vec(),
            ..case.clone()
        };
        assert_eq!(Ratio::of(&few(&old), &few(&new)).verdict(), Verdict::Same);
    }
}
