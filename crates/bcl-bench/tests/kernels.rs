//! Runs the kernel benchmark as a program. This checks that everything is measured, not how fast it is.

use serde_json::Value;
use std::process::{Command, Output};

fn bench(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_bcl-bench"))
        .arg("kernels")
        .args(arguments)
        .output()
        .expect("the program starts")
}

#[test]
fn a_kernel_is_measured_at_every_size_beside_its_portable_body() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_str().expect("a plain path");
    let output = bench(&[
        "--kernel",
        "gather_rows",
        "unit_rows",
        "--seconds",
        "0",
        "--save",
        "a",
        "--results",
        path,
    ]);
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{text}{errors}");

    let benchmark: Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("kernels/a.json")).expect("the file")).expect("JSON");
    let measurements = benchmark["measurements"].as_array().expect("a list");
    assert_eq!(measurements.len(), 2 * (2 + 12));
    for measurement in measurements {
        let positive = |key: &str| measurement[key]["least"].as_f64().is_some_and(|value| value > 0.0);
        assert!(["seconds", "ratio"].iter().all(|key| positive(key)), "{measurement}");
    }
    assert_eq!(measurements[0]["ratio"]["median"], 1.0);
    assert!(
        measurements[1]["name"]
            .as_str()
            .is_some_and(|name| name.ends_with("Burn's operations"))
    );
    assert_eq!(benchmark["environment"]["backend"], "flex");
    assert!(text.contains("1024 of [40981, 64]"), "{text}");
}

#[test]
fn a_kernel_that_does_not_exist_is_bad_input() {
    let output = bench(&["--kernel", "softmax"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("rank_weights"));
}

#[test]
fn a_size_that_does_not_exist_and_endless_measuring_are_bad_input() {
    for (arguments, named) in [
        (&["--kernel", "convolve", "--size", "nope"][..], "[16, 16, 3, 3]"),
        (&["--seconds", "1e300"], "from 0 to 3600"),
        (&["--seconds", "nan"], "from 0 to 3600"),
        (&["--seconds=-1"], "from 0 to 3600"),
    ] {
        let output = bench(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains(named), "{errors}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn a_convolution_of_one_size_is_measured_with_its_rate() {
    let output = bench(&["--kernel", "convolve", "--size", "[16, 16, 3, 3]", "--seconds", "0"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(
        text.contains("GFLOP/s") && text.contains("matrix product of size 1024"),
        "{text}"
    );
    assert_eq!(text.matches("convolve").count(), 4, "{text}");
}
