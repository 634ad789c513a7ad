//! Schedules of the numbers of `[loss]`, and a temperature that is learned, in runs of the program.

use std::{fs, path::Path};
use whole_program_tests::{PLANTED_IMAGES, assert_refused, bcl_train, shown, small_image_recipe, small_recipe};

/// The lines of `metrics.jsonl` of a run with some flags.
fn epochs(recipe: &Path, run: &str, set: &[&str]) -> Vec<serde_json::Value> {
    let out = recipe.with_file_name("runs");
    let mut command = bcl_train();
    command.arg(recipe).arg("--out").arg(&out).arg("--quiet");
    for flag in set {
        command.args(["--set", flag]);
    }
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{}", shown(&output));
    let lines = fs::read_to_string(out.join(run).join("metrics.jsonl")).expect("a finished run has one line per epoch");
    let page = fs::read_to_string(out.join(run).join("report.html")).expect("a finished run has a report");
    assert_eq!(
        page.contains("<h4>temperature</h4>"),
        lines.contains("\"scheduled\""),
        "the report shows the curve"
    );
    lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn temperatures(epochs: &[serde_json::Value]) -> Vec<f64> {
    let of = |epoch: &serde_json::Value| epoch["scheduled"]["temperature"].as_f64().expect("a temperature");
    epochs.iter().map(of).collect()
}

#[test]
fn every_epoch_records_the_values_of_its_schedules_and_other_runs_record_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let recipe = small_recipe(folder.path(), "");
    let steps = "loss.temperature={kind='steps',values=[0.4,0.2],epochs=[2]}";
    let found = epochs(
        &recipe,
        "small-0",
        &[steps, "loss.alpha={kind='linear',start=0.5,end=0.9,epochs=4}"],
    );
    for phase in ["selection", "refit"] {
        let of_phase: Vec<_> = found.iter().filter(|epoch| epoch["phase"] == phase).cloned().collect();
        assert_eq!(temperatures(&of_phase)[..4], [0.4, 0.4, 0.2, 0.2], "{phase}");
        for (epoch, alpha) in of_phase.iter().zip([0.5, 0.6, 0.7]) {
            assert!((epoch["alpha"].as_f64().expect("alpha") - alpha).abs() < 1e-12);
            assert_eq!(epoch["scheduled"]["alpha"], epoch["alpha"]);
        }
    }
    let constant = small_recipe(folder.path(), "");
    let found = epochs(&constant, "plain-0", &["name=plain"]);
    assert!(found.iter().all(|epoch| epoch.get("scheduled").is_none()));
}

#[test]
fn a_learned_temperature_moves_and_stays_in_its_range() {
    let folder = tempfile::tempdir().expect("a folder");
    let images = small_image_recipe(folder.path(), PLANTED_IMAGES);
    let learned = "loss.temperature={kind='learned',start=0.5}";
    let free = temperatures(&epochs(&images, "small-images-0", &[learned, "training.epochs=6"]));
    assert!((free[5] - 0.5).abs() > 1e-3, "{free:?}");
    assert!(free.windows(2).all(|pair| pair[0] != pair[1]), "{free:?}");

    // A floored loss, dot products of a table, and a correction that depends on the temperature.
    let recipe = small_recipe(folder.path(), "");
    let set = [
        "loss.temperature={kind='learned',start=0.5,least=0.48,most=0.51}",
        "loss.kind=debiased",
        "negatives={kind='in_batch'}",
    ];
    let limited = temperatures(&epochs(&recipe, "small-0", &set));
    assert!(
        limited.iter().all(|temperature| (0.4799..=0.5101).contains(temperature)),
        "{limited:?}"
    );
    assert!(
        limited.iter().any(|temperature| (temperature - 0.5).abs() > 1e-3),
        "{limited:?}"
    );
}

#[test]
fn a_schedule_out_of_range_is_refused_before_anything_is_trained() {
    let folder = tempfile::tempdir().expect("a folder");
    let recipe = small_recipe(folder.path(), "");
    let flag = "loss.temperature={kind='cosine',start=0.5,end=0,epochs=9}";
    let output = bcl_train().arg(&recipe).args(["--set", flag]).output().expect("it starts");
    assert_refused(&output, &["loss.temperature.end is 0, but must be in [1e-6, 1000000]"]);
}
