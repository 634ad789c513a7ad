//! A new time relative to an old one, with an interval and a verdict.

use crate::{Spread, results::Case};
use serde::Serialize;
use std::fmt;

/// From this many rounds on, rounds are compared in pairs. All of five ratios are on one side of the true ratio by chance once
/// in sixteen times.
pub(super) const PAIRED_ROUNDS: usize = 5;

/// Smaller differences are never reported: the placement of code and data in memory alone causes as much.
const NOISE: f64 = 0.02;

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
    fn intervals_that_do_not_overlap_are_faster_or_slower() {
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
        // One measured side says nothing about the noise of the other.
        assert_eq!(Ratio::of(&points(&[1.0]), &case(&[[2.0, 3.0, 4.0]])).interval, None);
    }

    #[test]
    fn alternating_rounds_cancel_a_machine_that_slows_down() {
        let old = points(&[1.0, 10.0, 2.0, 4.0, 1.0]);
        let new = points(&[1.5, 15.0, 3.0, 6.0, 1.6]);
        let ratio = Ratio::of(&old, &new);
        assert_eq!((ratio.ratio, ratio.verdict()), (1.5, Verdict::Slower));
        // Four rounds are too few to compare in pairs.
        let few = |case: &Case| Case {
            seconds: case.seconds[..4].to_vec(),
            ..case.clone()
        };
        assert_eq!(Ratio::of(&few(&old), &few(&new)).verdict(), Verdict::Same);
    }
}
