//! Runs the loss benchmark as a program. This checks that everything is measured, not how fast it is.

use serde_json::Value;
use std::process::Command;

fn bench(arguments: &[&str]) -> std::process::Output {
    Command::new(env!("CARGO_BIN_EXE_bcl-bench"))
        .arg("loss")
        .args(arguments)
        .output()
        .expect("the program starts")
}

#[test]
fn every_loss_is_measured_at_every_batch_size() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_str().expect("a plain path");
    let output = bench(&[
        "--batch",
        "4",
        "8",
        "--dim",
        "4",
        "--threads",
        "1",
        "--seconds",
        "0",
        "--save",
        "a",
        "--results",
        path,
    ]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );

    let benchmark: Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("loss/a.json")).expect("the file")).expect("JSON");
    let measurements = benchmark["measurements"].as_array().expect("a list");
    assert_eq!(measurements.len(), 2 * 16);
    for measurement in measurements {
        let seconds = measurement["seconds"]["median"].as_f64();
        assert!(seconds.is_some_and(|seconds| seconds > 0.0), "{measurement}");
        assert_eq!(measurement["repetitions"], 5);
    }
    assert_eq!(measurements[0]["name"], "info_nce batch 4");
    assert_eq!(measurements[0]["ratio"]["median"], 1.0);
    assert_eq!(benchmark["environment"]["threads"], 1);
    assert!(text.contains("bayesian_scores"), "{text}");
}

#[test]
fn a_batch_without_negatives_and_an_unwritable_file_are_bad_input() {
    assert_eq!(bench(&["--batch", "1"]).status.code(), Some(2));
    assert_eq!(bench(&["--dim", "9223372036854775807"]).status.code(), Some(2));
    let output = bench(&["--batch", "4", "--seconds", "0", "--save", "a", "--results", "/dev/null"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("/dev/null/loss"));
    assert_eq!(bench(&["--batch", "4", "--save", "../a"]).status.code(), Some(2));
}

#[test]
fn losses_and_rounds_can_be_chosen() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_str().expect("a plain path");
    let chosen = ["--loss", "hard", "bayesian", "--rounds", "2", "--batch", "4", "--dim", "4"];
    let output = bench(&[&chosen[..], &["--seconds", "0", "--save", "a", "--results", path]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));

    let benchmark: Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("loss/a.json")).expect("the file")).expect("JSON");
    let measured: Vec<_> = benchmark["measurements"].as_array().expect("a list").iter().collect();
    let losses: Vec<_> = measured.iter().map(|m| m["name"].as_str().expect("a name")).collect();
    // In the order of the command line.
    assert_eq!(losses, ["hard batch 4", "bayesian batch 4"]);
    assert!(measured.iter().all(|m| m["repetitions"] == 2));
    assert_eq!(measured[0]["ratio"]["median"], 1.0);

    assert_eq!(bench(&["--loss", "triplet"]).status.code(), Some(2));
}
