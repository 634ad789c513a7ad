//! Runs the step benchmark as a program. This checks that everything is measured, not how fast it is.

use serde_json::Value;
use std::process::{Command, Output};

fn bench(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_bcl-bench"))
        .arg("step")
        .args(arguments)
        .output()
        .expect("the program starts")
}

#[test]
fn every_part_is_measured_with_every_loss() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_str().expect("a plain path");
    let output = bench(&[
        "--width",
        "2",
        "--side",
        "16",
        "--batch",
        "4",
        "--rounds",
        "2",
        "--steps",
        "3",
        "--threads",
        "1",
        "--precision",
        "bf16",
        "--loss",
        "info_nce",
        "ring",
        "--save",
        "a",
        "--results",
        path,
    ]);
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{text}{errors}");

    let benchmark: Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("step/a.json")).expect("the file")).expect("JSON");
    let measurements = benchmark["measurements"].as_array().expect("a list");
    let losses: Vec<_> = measurements.iter().map(|m| m["loss"].as_str().expect("a name")).collect();
    assert_eq!(losses, ["info_nce", "ring"]);
    for measurement in measurements {
        assert_eq!(measurement["repetitions"], 6);
        for part in ["data", "forward", "loss", "backward", "optimizer"] {
            let seconds = measurement["seconds"][part].as_f64();
            assert!(seconds.is_some_and(|seconds| seconds > 0.0), "{part}: {measurement}");
        }
        assert!(
            measurement["loss_share"].as_f64().is_some_and(|share| share > 0.0),
            "{measurement}"
        );
    }
    assert!(text.contains("ResNet-18 of width 2, CIFAR stem in bf16"), "{text}");
}

#[test]
fn a_step_by_gradient_caching_is_measured_too() {
    let cached = [
        "--width",
        "2",
        "--side",
        "16",
        "--batch",
        "6",
        "--gradient-cache",
        "3",
        "--rounds",
        "1",
        "--steps",
        "1",
    ];
    let output = bench(&cached);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(text.contains("6 images with 2 views each, encoded 3 at a time"), "{text}");
}

#[test]
fn a_depth_loss_or_precision_that_does_not_exist_and_a_loss_that_needs_classes_are_bad_input() {
    for arguments in [
        ["--depth", "20"],
        ["--loss", "triplet"],
        ["--precision", "f64"],
        ["--loss", "supervised"],
        ["--batch", "1"],
        ["--gradient-cache", "257"],
    ] {
        assert_eq!(bench(&arguments).status.code(), Some(2), "{arguments:?}");
    }
}
