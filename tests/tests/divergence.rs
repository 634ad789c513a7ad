//! Training that diverges ends with an error that says where, keeps a post-mortem of the step, and leaves other runs alone.

use std::{fs, path::Path, process::Output};
use whole_program_tests::{PLANTED_IMAGES, bcl_bench, bcl_train, shown, small_image_recipe, small_recipe};

/// With a single step per epoch, dot products overflow after it, and no later loss of the epoch can reveal it.
const DIVERGES: &str = "[optimizer]\nlearning_rate = 1e38\n";
const ONE_STEP: [&str; 4] = ["--set", "training.batch_size=100000", "--set", "encoder.similarity=dot"];

fn assert_diverged(output: &Output) {
    assert_eq!(output.status.code(), Some(1), "{}", shown(output));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(!message.contains("panicked"), "{}", shown(output));
    for words in [
        "at the end of epoch 1",
        "the scores of the positives are not",
        "lower optimizer.learning_rate",
    ] {
        assert!(message.contains(words), "`{words}` is missing\n{}", shown(output));
    }
}

#[test]
fn divergence_in_the_last_step_of_an_epoch_is_an_error_and_so_is_its_resume() {
    let folder = tempfile::tempdir().expect("a folder");
    let recipe = small_recipe(folder.path(), DIVERGES);
    let runs = folder.path().join("runs");
    let mut command = bcl_train();
    command.arg(&recipe).arg("--out").arg(&runs).args(ONE_STEP);
    assert_diverged(&command.output().expect("it starts"));
    let kept = runs.join("small-0/diverged");
    for name in ["batch", "scores", "weights"] {
        assert!(kept.join(name).with_extension("safetensors").is_file(), "{name}");
    }
    let recorded = fs::read_to_string(runs.join("small-0/metrics.jsonl")).expect("a run has metrics");
    assert_eq!(recorded, "", "the epoch was not completed");

    let mut command = bcl_train();
    command.arg("--resume").arg(runs.join("small-0"));
    assert_diverged(&command.output().expect("it starts"));
}

/// Writes a folder with one recipe that diverges and one that does not.
fn one_of_two(folder: &Path) {
    fs::create_dir(folder.join("recipes")).expect("writable");
    for (name, more) in [("a-bad", DIVERGES), ("b-good", "")] {
        let text = format!("{}{more}", whole_program_tests::SMALL_RECIPE).replace("\"small\"", &format!("\"{name}\""));
        fs::write(folder.join("recipes").join(name).with_extension("toml"), text).expect("writable");
    }
}

#[test]
fn a_run_that_diverges_leaves_the_others_to_be_trained_and_the_table_names_it() {
    let folder = tempfile::tempdir().expect("a folder");
    one_of_two(folder.path());
    let runs = folder.path().join("runs");
    let mut command = bcl_train();
    command
        .arg(folder.path().join("recipes"))
        .arg("--out")
        .arg(&runs)
        .arg("--quiet");
    command.args(["--seeds", "0,1"]);
    let output = command.output().expect("it starts");
    assert_eq!(output.status.code(), Some(1), "{}", shown(&output));
    let [table, errors] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
    assert!(table.contains("b-good") && table.contains("a-bad-0 failed"), "{table}");
    assert!(errors.contains("2 of 4 runs failed"), "{errors}");
    for seed in [0, 1] {
        assert!(runs.join(format!("b-good-{seed}/result.json")).is_file());
        assert!(!runs.join(format!("a-bad-{seed}/result.json")).exists());
    }
    assert!(runs.join("report.html").is_file(), "the finished runs have their report");
}

#[test]
fn a_row_that_diverges_leaves_the_other_rows_of_a_table() {
    let folder = tempfile::tempdir().expect("a folder");
    one_of_two(folder.path());
    let out = folder.path().join("table");
    let mut command = bcl_bench();
    command.arg("table").arg(folder.path().join("recipes")).arg("--out").arg(&out);
    command.args(["--quiet", "--budget", "0", "--seeds", "2"]);
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{}", shown(&output));
    let table: serde_json::Value =
        serde_json::from_slice(&fs::read(out.join("table.json")).expect("a table is kept")).expect("JSON");
    let of = |name: &str| {
        let rows = table["rows"].as_array().expect("rows");
        rows.iter().find(|row| row["name"] == name).expect("both rows").clone()
    };
    assert_eq!(of("a-bad")["failed"].as_object().map(serde_json::Map::len), Some(2));
    assert_eq!(of("b-good")["failed"].as_object().map(serde_json::Map::len), Some(0));
}

#[test]
fn a_learning_rate_above_one_warms_up_and_decays() {
    let folder = tempfile::tempdir().expect("a folder");
    let rates = "[optimizer]\nkind = 'lars'\nlearning_rate = 4.8\nwarmup_epochs = 1\nschedule = 'cosine'\n";
    let recipe = small_image_recipe(folder.path(), &format!("{PLANTED_IMAGES}{rates}"));
    let mut command = bcl_train();
    command
        .arg(&recipe)
        .arg("--out")
        .arg(folder.path().join("runs"))
        .args(["--epochs", "3", "--quiet"]);
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{}", shown(&output));
}
