//! Tests of pairs, limits and errors.

use super::*;
use crate::Spread;
use std::collections::BTreeMap;

fn results(cases: &[(&str, f64)]) -> Results {
    let case = |&(name, seconds): &(&str, f64)| Case {
        name: name.to_owned(),
        seconds: vec![Spread {
            median: seconds,
            least: 0.99 * seconds,
            most: 1.01 * seconds,
        }],
    };
    Results {
        kind: Kind::Criterion,
        environment: Environment::read(1),
        settings: BTreeMap::new(),
        cases: cases.iter().map(case).collect(),
    }
}

fn compare(old: &Results, new: &Results) -> Result<Comparison, ResultsError> {
    Comparison::new(["old.json", "new.json"].map(Path::new), old, new)
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
    let error = compare(&old, &wide).expect_err("another size").to_string();
    assert!(error.contains("dim is not set in old.json, but 64 in new.json"), "{error}");

    let error = compare(&old, &results(&[("b", 1.0)])).expect_err("nothing").to_string();
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
