//! Encoders of images with few labels: linear probes on a fraction of the training labels.

use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Output,
};
use whole_program_tests::{
    PLANTED_IMAGES, assert_refused,
    pictures::{cats_and_dogs, write},
    run_in, shown, small_image_recipe, small_recipe, succeeds_in, text,
};

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}\n{}", shown(output)))
}

fn read_json(file: &Path) -> Value {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    serde_json::from_str(&text).expect("JSON")
}

/// A folder with a run on planted images that trained for one epoch.
fn trained(settings: &[&str]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let recipe = small_image_recipe(folder.path(), PLANTED_IMAGES);
    let settings: Vec<&str> = settings.iter().flat_map(|setting| ["--set", setting]).collect();
    succeeds_in(
        folder.path(),
        &[&[text(&recipe), "--epochs", "1", "--quiet"], &settings[..]].concat(),
    );
    let run = folder.path().join("runs/small-images-0");
    (folder, run)
}

#[test]
fn probes_on_few_labels_stand_in_the_result_beside_the_same_ones_of_the_baselines() {
    let (folder, run) = trained(&["evaluation.label_fractions=[0.5, 0.1]"]);
    let result = read_json(&run.join("result.json"));
    let metrics = &result["validation"]["metrics"];
    for of in [
        metrics,
        &result["baselines"]["raw_pixels"],
        &result["baselines"]["random_encoder"],
    ] {
        for name in ["probe_10%_top1", "probe_50%_top1", "probe_10%_top5", "probe_top1"] {
            assert!(of[name].is_number(), "{name} is missing: {of}");
        }
    }
    let page = fs::read_to_string(run.join("report.html")).expect("a report");
    assert!(page.contains("linear probe, 10 % of the labels") && page.contains("probe_50%_top1"));

    let printed = succeeds_in(folder.path(), &["report", text(&run), "--out", "page.html"]);
    assert!(shown(&printed).contains("probe_10%_top1"), "{}", shown(&printed));

    // `evaluate` measures what the recipe asks for, or the flag.
    let again = json(&succeeds_in(folder.path(), &["evaluate", text(&run), "--json"]));
    assert_eq!(again["metrics"]["probe_10%_top1"], metrics["probe_10%_top1"]);
    let other = json(&succeeds_in(
        folder.path(),
        &["evaluate", text(&run), "--json", "--label-fractions", "0.1, 0.25"],
    ));
    assert_eq!(other["metrics"]["probe_10%_top1"], metrics["probe_10%_top1"]);
    assert!(other["metrics"]["probe_25%_top1"].is_number() && other["metrics"]["probe_50%_top1"].is_null());
}

#[test]
fn few_labels_are_refused_where_there_is_nothing_to_probe() {
    let folder = tempfile::tempdir().expect("a folder");
    let recommender = small_recipe(folder.path(), "");
    let fractions = ["--set", "evaluation.label_fractions=[0.1]"];
    assert_refused(
        &run_in(folder.path(), &[&[text(&recommender)], &fractions[..]].concat()),
        &["evaluation.label_fractions", "interactions", "remove it"],
    );
    succeeds_in(folder.path(), &[text(&recommender), "--epochs", "1", "--quiet"]);
    assert_refused(
        &run_in(folder.path(), &["evaluate", "runs/small-0", "--label-fractions", "0.1"]),
        &["--label-fractions", "runs/small-0", "no encoder of images"],
    );
    write(folder.path(), &cats_and_dogs(16, 4));
    fs::remove_dir_all(folder.path().join("pictures/test")).expect("it was there");
    let images = small_image_recipe(folder.path(), "[data]\nimages = 'pictures'\n");
    assert_refused(
        &run_in(folder.path(), &[&[text(&images)], &fractions[..]].concat()),
        &["evaluation.label_fractions", "labelled test images", "test/CLASS/"],
    );
}
