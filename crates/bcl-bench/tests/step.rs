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
    let losses: Vec<_> = measurements.iter().map(|m| m["name"].as_str().expect("a name")).collect();
    assert_eq!(losses, ["info_nce", "ring"]);
    for measurement in measurements {
        assert_eq!(measurement["repetitions"], 6);
        let parts = measurement["parts"].as_array().expect("a list");
        let names: Vec<_> = parts.iter().map(|part| part["name"].as_str().expect("a name")).collect();
        assert_eq!(names, ["data", "forward", "loss", "backward", "optimizer", "loss alone"]);
        for part in parts {
            let seconds = part["seconds"]["median"].as_f64();
            assert!(seconds.is_some_and(|seconds| seconds > 0.0), "{part}");
        }
        assert!(measurement["gflops"].as_f64().is_some_and(|rate| rate > 0.0), "{measurement}");
    }
    assert!(text.contains("ResNet-18 of width 2, CIFAR stem in bf16"), "{text}");
}

#[test]
fn the_step_of_every_method_is_measured_from_its_recipe() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_str().expect("a plain path");
    let output = bench(&[
        "--recipe",
        "quickstart-methods",
        "--set",
        "encoder.trunk.width=2",
        "--set",
        "training.batch_size=16",
        "--images",
        "20",
        "--rounds",
        "1",
        "--steps",
        "2",
        "--save",
        "methods",
        "--results",
        path,
    ]);
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{text}{errors}");

    let saved = std::fs::read(folder.path().join("step/methods.json")).expect("the file");
    let benchmark: Value = serde_json::from_slice(&saved).expect("JSON");
    let measurements = benchmark["measurements"].as_array().expect("a list");
    assert_eq!(measurements.len(), 13);
    for measurement in measurements {
        assert_eq!(measurement["repetitions"], 2);
        let recipe = &benchmark["settings"][measurement["name"].as_str().expect("a name")];
        assert_eq!(recipe["training"]["batch_size"], 16);
        assert!(
            measurement["seconds"]["least"].as_f64().is_some_and(|seconds| seconds > 0.0),
            "{measurement}"
        );
    }
    assert!(
        text.contains("quickstart-methods/cmc: ResNet-18 of width 2, ImageNet stem, 32 x 32 pixels, 16 images with 1 view each."),
        "{text}"
    );
}

#[test]
fn a_step_by_gradient_caching_is_measured_too_in_parts_or_whole() {
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
    for (whole, part) in [(&[][..], "backward"), (&["--whole"], "without data")] {
        let output = bench(&[&cached, whole].concat());
        let text = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{text}{errors}");
        assert!(text.contains("6 images with 2 views each, encoded 3 at a time"), "{text}");
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn a_depth_loss_precision_or_recipe_that_does_not_exist_and_a_loss_that_needs_classes_are_bad_input() {
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
    for arguments in [
        &["--recipe", "no-such-recipe"][..],
        &["--recipe", "quickstart"],
        &["--recipe", "quickstart-methods/byol", "quickstart-methods"],
        &["--recipe", "quickstart-methods", "--width", "4"],
        &["--recipe", "quickstart-methods", "--set", "training.batch_size=0"],
        &["--set", "training.batch_size=8"],
        &["--images", "1"],
    ] {
        assert_eq!(bench(arguments).status.code(), Some(2), "{arguments:?}");
    }
}
