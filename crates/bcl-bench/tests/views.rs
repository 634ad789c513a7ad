//! Runs the views benchmark as a program. This checks that everything is measured, not how fast it is.

use serde_json::Value;
use std::process::{Command, Output};

fn bench(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_bcl-bench"))
        .arg("views")
        .args(arguments)
        .output()
        .expect("the program starts")
}

#[test]
fn every_size_is_measured_with_every_number_of_threads() {
    let folder = tempfile::tempdir().expect("a folder");
    let json = folder.path().join("views.json");
    let path = json.to_str().expect("a plain path");
    let output = bench(&[
        "--side",
        "16",
        "24",
        "--threads",
        "1",
        "3",
        "--batch",
        "5",
        "--rounds",
        "2",
        "--seconds",
        "0",
        "--json",
        path,
    ]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}");

    let benchmark: Value = serde_json::from_slice(&std::fs::read(&json).expect("the file")).expect("JSON");
    let measurements = benchmark["measurements"].as_array().expect("a list");
    let number = |m: &Value, key: &str| m[key].as_u64().expect("a number");
    let cases: Vec<_> = measurements
        .iter()
        .map(|m| (number(m, "side"), number(m, "threads")))
        .collect();
    assert_eq!(cases, [(16, 1), (16, 3), (24, 1), (24, 3)]);
    for measurement in measurements {
        assert!(
            measurement["views_per_second"]["least"]
                .as_f64()
                .is_some_and(|rate| rate > 0.0),
            "{measurement}"
        );
    }
    assert_eq!(measurements[2]["speed_up"], 1.0);
    assert!(text.contains("24 x 24"), "{text}");
}

#[test]
fn an_image_too_small_no_thread_and_an_unwritable_file_are_bad_input() {
    for arguments in [
        &["--side", "8"][..],
        &["--threads", "0"],
        &["--batch", "9223372036854775807"],
        &["--json", "/no/such/folder/views.json"],
    ] {
        assert_eq!(bench(arguments).status.code(), Some(2), "{arguments:?}");
    }
}
