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
fn sources_without_a_common_case_are_refused() {
    let gather = |second| Results::gather(vec![("1".into(), results(Kind::Loss, &[("a", 1.0)])), ("2".into(), second)]);
    let error = gather(results(Kind::Loss, &[("b", 1.0)])).expect_err("another case");
    assert!(matches!(error, ResultsError::NothingShared { .. }), "{error}");
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

    let names: Vec<String> = Results::baselines(folder.path()).expect("a folder").into_iter().collect();
    assert_eq!(names, ["before", "new"]);
    assert!(
        Results::baselines(&folder.path().join("nothing"))
            .expect("no folder is an empty one")
            .is_empty()
    );
}

#[test]
fn names_of_all_programs_are_listed_and_gathered() {
    let folder = tempfile::tempdir().expect("a folder");
    let results = ResultsFolder::new(Some(folder.path()));
    assert!(results.list().expect("an empty folder").is_empty());
    leave(&results.criterion(), "ranking/popularity", "before", 1e3);
    leave(&results.criterion(), "ranking/popularity", "new", 1e3);
    let file = results.file(Kind::Loss, "before");
    fs::create_dir_all(file.parent().expect("a folder")).expect("writable");
    let measurement = serde_json::json!({
        "loss": "hard", "batch_size": 64, "num_negatives": 126, "median_ms": 2.0, "repetitions": 5,
        "to_info_nce": null, "extra_mib": null, "note": null, "failed": false,
    });
    let loss = serde_json::json!({ "environment": Environment::read(1), "dim": 8, "measurements": [measurement], "growth": [] });
    fs::write(&file, loss.to_string()).expect("writable");

    let listed = results.list().expect("readable");
    let listed: Vec<_> = listed
        .iter()
        .map(|saved| (saved.kind, saved.name.as_str(), saved.cases))
        .collect();
    assert_eq!(
        listed,
        [
            (Kind::Loss, "before", 1),
            (Kind::Criterion, "before", 1),
            (Kind::Criterion, "new", 1)
        ]
    );
    let kinds = |names: &[&str]| -> Result<Vec<Kind>, String> {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let gathered = results.gather(&names).map_err(|error| error.to_string())?;
        Ok(gathered.iter().map(|gathered| gathered.results.kind).collect())
    };
    assert_eq!(kinds(&["before"]), Ok(vec![Kind::Loss, Kind::Criterion]));
    assert_eq!(kinds(&["new"]), Ok(vec![Kind::Criterion]));
    assert!(
        kinds(&["before", "new"])
            .expect_err("loss has one")
            .contains("called new; there are before")
    );
    assert!(
        kinds(&["after"])
            .expect_err("none")
            .contains("called after; there are before, new")
    );
}
