//! Tests of pairs, limits and errors.

use super::*;
use std::collections::BTreeMap;

fn results(cases: &[(&str, f64)]) -> Rounds {
    let case = |&(name, seconds): &(&str, f64)| Case {
        name: name.to_owned(),
        seconds: vec![Spread {
            median: seconds,
            least: 0.99 * seconds,
            most: 1.01 * seconds,
        }],
    };
    Rounds {
        kind: "criterion".to_owned(),
        environment: Environment::read(1),
        settings: BTreeMap::new(),
        cases: cases.iter().map(case).collect(),
    }
}

fn compare(old: &Rounds, new: &Rounds) -> Result<Comparison, String> {
    Comparison::new(["old.json", "new.json"], old, new)
}

#[test]
fn pairs_are_those_of_one_name_and_the_others_are_listed() {
    let old = results(&[("a", 1.0), ("b", 2.0), ("gone", 1.0)]);
    let new = results(&[("new", 1.0), ("b", 1.0), ("a", 1.5)]);
    let comparison = compare(&old, &new).expect("two in common");
    let pairs: Vec<_> = comparison
        .pairs
        .iter()
        .map(|pair| (pair.name.as_str(), pair.ratio.ratio, pair.verdict))
        .collect();
    assert_eq!(pairs, [("a", 1.5, Verdict::Slower), ("b", 0.5, Verdict::Faster)]);
    assert_eq!(
        (comparison.only_old, comparison.only_new),
        (vec!["gone".to_owned()], vec!["new".to_owned()])
    );
}

#[test]
fn only_ratios_surely_above_the_factor_fail() {
    let comparison = compare(&results(&[("a", 1.0), ("b", 1.0)]), &results(&[("a", 1.21), ("b", 1.3)])).expect("both");
    let names = |factor| -> Vec<_> { comparison.above(factor).iter().map(|pair| pair.name.as_str()).collect() };
    // The interval of 1.21 reaches down to 1.21 x 0.99 / 1.01 = 1.186.
    assert_eq!(names(1.2), ["b"]);
    assert_eq!(names(1.1), ["a", "b"]);
}

#[test]
fn results_of_other_sizes_and_things_are_not_compared() {
    let old = results(&[("a", 1.0)]);
    let mut wide = old.clone();
    wide.settings.insert("dim".to_owned(), 64.into());
    let error = compare(&old, &wide).expect_err("another size");
    assert!(error.contains("dim is not set in old.json, but 64 in new.json"), "{error}");

    let error = compare(&old, &results(&[("b", 1.0)])).expect_err("nothing");
    assert_eq!(error, "old.json and new.json have no measurement in common");
}

#[test]
fn the_table_shows_ratio_interval_and_verdict() {
    let text = compare(&results(&[("a", 1e-3)]), &results(&[("a", 2e-3), ("c", 1.0)]))
        .expect("one")
        .to_string();
    let row = text
        .lines()
        .nth(1)
        .expect("a row")
        .split("  ")
        .filter(|cell| !cell.is_empty());
    let cells: Vec<_> = row.map(str::trim).collect();
    assert_eq!(cells, ["a", "1.00 ms", "2.00 ms", "2.00", "1.96 to 2.04", "slower"], "{text}");
    assert!(text.contains("Only in the new result: c."), "{text}");
    assert!(text.contains("fewer than 5 rounds"), "{text}");
}

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
