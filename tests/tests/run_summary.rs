//! The messages of a run on stderr when it starts, with and without `--quiet`.

use std::process::Command;
use whole_program_tests::{PLANTED_IMAGES, bcl_train, shown, small_image_recipe, small_recipe};

/// Runs a command that must succeed and returns its stderr.
fn said(command: &mut Command) -> String {
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{}", shown(&output));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_run_says_what_it_does_and_quiet_says_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let recipe = small_recipe(folder.path(), "");
    let mut command = bcl_train();
    command.arg(&recipe).arg("--out").arg(folder.path().join("runs"));
    let summary = said(&mut command);
    for words in [
        "small, seed 0, in ",
        "120 users, 160 items",
        "mf of 8 dimensions, 2,240 parameters",
        "bayesian, temperature 0.3, 16 negatives (uniform), batches of 128",
        "at most 12, patience 3",
        "flex",
    ] {
        assert!(summary.contains(words), "`{words}` is missing\n{summary}");
    }
    assert_eq!(said(command.arg("--quiet")), "");
}

#[test]
fn a_run_on_images_says_their_size_and_warns_of_slow_precision() {
    let folder = tempfile::tempdir().expect("a folder");
    let recipe = small_image_recipe(folder.path(), PLANTED_IMAGES);
    let mut command = bcl_train();
    command
        .arg(&recipe)
        .arg("--out")
        .arg(folder.path().join("runs"))
        .args(["--epochs", "1"]);
    let summary = said(&mut command);
    for words in ["64 training and 40 test images", "16 x 16 pixels", "views of 16 x 16"] {
        assert!(summary.contains(words), "`{words}` is missing\n{summary}");
    }
    assert!(!summary.contains("warning"), "{summary}");
    let summary = said(command.args(["--set", "training.precision='f16'"]));
    assert!(summary.contains("warning: training.precision is \"f16\""), "{summary}");
}
