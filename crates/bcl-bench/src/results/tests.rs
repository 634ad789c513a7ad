//! Tests of reading and gathering results.

use super::*;
use std::{fs, path::PathBuf};

fn results(kind: Kind, cases: &[(&str, f64)]) -> Results {
    let case = |&(name, seconds): &(&str, f64)| Case {
        name: name.to_owned(),
        seconds: vec![Spread::of(&[seconds])],
    };
    Results {
        kind,
        environment: Environment::read(1),
        settings: BTreeMap::new(),
        cases: cases.iter().map(case).collect(),
    }
}

fn medians(case: &Case) -> Vec<f64> {
    case.seconds.iter().map(|round| round.median).collect()
}

#[test]
fn rounds_are_those_of_all_sources_in_their_order() {
    let sources = [[("a", 3.0), ("b", 1.0)], [("a", 1.0), ("c", 1.0)], [("a", 2.0), ("b", 2.0)]];
    let sources = sources.iter().zip(["1", "2", "3"]);
    let sources = sources.map(|(cases, path)| (PathBuf::from(path), results(Kind::Loss, cases)));
    let Gathered { results, warnings } = Results::gather(sources.collect()).expect("one in common");
    let [a] = &results.cases[..] else {
        panic!("b and c are not everywhere: {results:?}")
    };
    assert_eq!(medians(a), [3.0, 1.0, 2.0]);
    assert_eq!((a.median(), a.interval()), (2.0, Some([1.0, 3.0])));
    assert!(
        warnings.contains(&"b is not in every source, so it is left out".to_owned()),
        "{warnings:?}"
    );
    assert!(
        warnings.contains(&"c is not in every source, so it is left out".to_owned()),
        "{warnings:?}"
    );
}

#[test]
fn sources_of_other_revisions_and_machines_are_gathered_with_a_warning() {
    let first = results(Kind::Loss, &[("a", 1.0)]);
    let mut second = first.clone();
    second.environment.revision = Some("another".to_owned());
    second.environment.threads = 5;
    let sources = vec![("1".into(), first), ("2".into(), second)];
    let warnings = Results::gather(sources).expect("one case").warnings;
    assert_eq!(warnings, ["2 has another revision than 1", "2: threads was 1 and is 5"]);
}

#[test]
fn sources_of_other_verbs_or_without_a_common_case_are_refused() {
    let gather = |second| Results::gather(vec![("1".into(), results(Kind::Loss, &[("a", 1.0)])), ("2".into(), second)]);
    let error = gather(results(Kind::Step, &[("a", 1.0)])).expect_err("another verb");
    assert!(matches!(error, ResultsError::OtherKind { .. }), "{error}");
    let error = gather(results(Kind::Loss, &[("b", 1.0)])).expect_err("another case");
    assert!(matches!(error, ResultsError::NothingShared { .. }), "{error}");
}

#[test]
fn gathered_results_are_read_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("gathered.json");
    let written = results(Kind::Views, &[("a", 1.0), ("b", 0.1)]);
    fs::write(&path, serde_json::to_string(&written).expect("plain data")).expect("a writable folder");
    assert_eq!(Results::read(&path).expect("what was written"), written);
}

#[test]
fn rates_of_views_become_times() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("views.json");
    let written = serde_json::json!({
        "environment": Environment::read(1), "batch_size": 4, "rounds": 3,
        "measurements": [{
            "side": 32, "threads": 2, "pairs_per_second": 1.0, "speed_up": 1.0,
            "views_per_second": { "median": 2.0, "least": 1.0, "most": 4.0 },
        }],
    });
    fs::write(&path, written.to_string()).expect("a writable folder");
    let views = Results::read(&path).expect("a file of views");
    assert_eq!((views.kind, &views.settings["batch_size"]), (Kind::Views, &4.into()));
    let case = views.case("a view of 32 x 32 pixels, 2 threads").expect("the one there is");
    assert_eq!((case.median(), case.interval()), (0.5, Some([0.25, 1.0])));
}

/// Writes a benchmark as criterion does.
fn leave(folder: &Path, name: &str, baseline: &str, nanoseconds: f64) {
    // One folder for the group and one for the function, whose slashes are replaced.
    let (group, function) = name.split_once('/').expect("a group");
    let folder = folder.join(group).join(function.replace('/', "_")).join(baseline);
    fs::create_dir_all(&folder).expect("a writable folder");
    let estimate = |value: f64| {
        serde_json::json!({
            "point_estimate": value,
            "standard_error": 1.0,
            "confidence_interval": { "confidence_level": 0.95, "lower_bound": 0.9 * value, "upper_bound": 1.2 * value },
        })
    };
    let benchmark = serde_json::json!({ "group_id": "g", "function_id": "f", "full_id": name, "throughput": null });
    let estimates = serde_json::json!({ "mean": estimate(7.0), "median": estimate(nanoseconds), "slope": null });
    for (file, content) in [("benchmark.json", benchmark), ("estimates.json", estimates)] {
        fs::write(folder.join(file), content.to_string()).expect("a writable folder");
    }
}

#[test]
fn medians_of_criterion_are_read_with_their_intervals() {
    let folder = tempfile::tempdir().expect("a folder");
    leave(folder.path(), "loss/256/hard/forward", "new", 4e6);
    leave(folder.path(), "loss/256/hard/forward", "before", 2e6);
    leave(folder.path(), "ranking/popularity", "before", 1e3);

    let before = Results::of_criterion(folder.path(), "before").expect("two benchmarks");
    let names: Vec<_> = before.cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names, ["loss/256/hard/forward", "ranking/popularity"]);
    let [round] = before.cases[0].seconds[..] else {
        panic!("one round")
    };
    assert!(
        (round.median - 2e-3).abs() < 1e-12 && (round.least - 1.8e-3).abs() < 1e-12,
        "{round:?}"
    );
    assert_eq!(
        Results::of_criterion(folder.path(), "new")
            .expect("one benchmark")
            .cases
            .len(),
        1
    );

    let error = Results::of_criterion(folder.path(), "after")
        .expect_err("no such baseline")
        .to_string();
    assert!(error.contains("called `after`; --baseline can be before, new"), "{error}");
    let empty = tempfile::tempdir().expect("a folder");
    let error = Results::of_criterion(empty.path(), "new").expect_err("nothing").to_string();
    assert!(error.contains("run `cargo bench"), "{error}");
}
