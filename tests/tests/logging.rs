//! What a run logs beside `metrics.jsonl`: `steps.jsonl`, and event files of TensorBoard.
//!
//! Whether TensorBoard reads the files is checked with its Python package, which need not be there:
//! `BCL_PYTHON=venv/bin/python cargo test -p whole-program-tests --test logging -- --ignored --nocapture`.

use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};
use whole_program_tests::{PLANTED_IMAGES, assert_refused, bcl_train, lasting_figures, shown, small_image_recipe, small_recipe};

const LOGGING: &str = "[logging]\nevery = 5\ntensorboard = true\n";

/// Trains a recipe into a folder and returns the run's folder.
fn trained(recipe: &Path, out: &Path, name: &str) -> PathBuf {
    let mut command = bcl_train();
    command.arg(recipe).arg("--out").arg(out).args(["--quiet", "--epochs", "3"]);
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{}", shown(&output));
    out.join(name)
}

fn lines(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).expect("readable");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn logging_adds_files_and_changes_no_result() {
    let folder = tempfile::tempdir().expect("a folder");
    let plain = trained(&small_recipe(folder.path(), ""), &folder.path().join("plain"), "small-0");
    assert!(!plain.join("steps.jsonl").exists() && !plain.join("tensorboard").exists());

    let logged = trained(
        &small_recipe(folder.path(), LOGGING),
        &folder.path().join("logged"),
        "small-0",
    );
    let steps = lines(&logged.join("steps.jsonl"));
    assert!(steps.len() > 4, "{steps:?}");
    assert!(
        steps
            .iter()
            .all(|step| step["step"].as_u64().is_some_and(|step| step % 5 == 0))
    );
    assert!(steps[0]["loss"].as_f64() > steps.last().expect("a step")["loss"].as_f64());
    for phase in ["selection", "refit"] {
        let file = logged.join(format!("tensorboard/{phase}/events.out.tfevents.0000000001.bcl"));
        assert!(
            fs::read(&file)
                .expect("an event file")
                .starts_with(b"\x18\0\0\0\0\0\0\0\xa3\x7f\x4b\x22")
        );
    }
    let figures = |run: &Path| {
        let mut figures = lasting_figures(run);
        figures["result"]["recipe"]["logging"] = Value::Null;
        figures["steps"] = Value::Null;
        figures
    };
    assert_eq!(figures(&plain), figures(&logged));
}

#[test]
fn a_folder_that_cannot_hold_the_events_ends_the_run_with_its_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let recipe = small_recipe(folder.path(), LOGGING);
    let run = trained(&recipe, &folder.path().join("runs"), "small-0");
    for file in ["tensorboard", "checkpoints"] {
        fs::remove_dir_all(run.join(file)).expect("writable");
    }
    fs::write(run.join("tensorboard"), "a file").expect("writable");
    fs::remove_file(run.join("result.json")).expect("writable");
    let output = bcl_train().arg("--resume").arg(&run).output().expect("it starts");
    assert_refused(&output, &["logging failed", "tensorboard", "--resume"]);
}

/// Prints the points of a folder of event files: scalars by tag, and the size of the picture.
const READER: &str = r#"
import json, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0, "images": 0, "tensors": 0})
events.Reload()
tags = events.Tags()
print(json.dumps({
    "scalars": {tag: [[e.step, e.value] for e in events.Scalars(tag)] for tag in tags["scalars"]},
    "images": {tag: [[i.width, i.height, i.encoded_image_string[1:4].decode()] for i in events.Images(tag)] for tag in tags["images"]},
    "texts": {tag: events.Tensors(tag)[0].tensor_proto.string_val[0].decode() for tag in tags["tensors"]},
}))
"#;

/// The points that TensorBoard's own reader finds; `None` if it is not installed.
fn read_by_tensorboard(folder: &Path) -> Option<Value> {
    let python = std::env::var("BCL_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let is_there = Command::new(&python).args(["-c", "import tensorboard"]).output();
    if !is_there.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: {python} has no package tensorboard; name another Python with BCL_PYTHON");
        return None;
    }
    let output = Command::new(python)
        .args(["-c", READER])
        .arg(folder)
        .output()
        .expect("it starts");
    assert!(output.status.success(), "{}", shown(&output));
    Some(serde_json::from_slice(&output.stdout).expect("JSON"))
}

/// The steps of a tag, and how far its values are from the expected ones at most.
fn compare(found: &Value, tag: &str, expected: &[(u64, f64)]) -> f64 {
    let points = found["scalars"][tag]
        .as_array()
        .unwrap_or_else(|| panic!("{tag} is missing in {found}"));
    assert_eq!(points.len(), expected.len(), "{tag}");
    let distances = points.iter().zip(expected).map(|(point, &(step, value))| {
        assert_eq!(point[0].as_u64(), Some(step), "{tag}");
        (point[1].as_f64().expect("a number") - value).abs()
    });
    distances.fold(0.0, f64::max)
}

#[test]
#[ignore = "needs Python with the package tensorboard"]
fn tensorboard_reads_the_points_of_a_run_that_was_resumed() {
    let folder = tempfile::tempdir().expect("a folder");
    let recipe = small_image_recipe(folder.path(), &format!("{PLANTED_IMAGES}{LOGGING}"));
    let run = trained(&recipe, &folder.path().join("runs"), "small-images-0");
    // As if the process had been killed behind the second of three checkpoints.
    let checkpoints = run.join("checkpoints/training");
    for entry in fs::read_dir(&checkpoints).expect("checkpoints") {
        let path = entry.expect("an entry").path();
        if path.to_string_lossy().contains("12") {
            fs::remove_file(path).expect("writable");
        }
    }
    fs::remove_file(run.join("result.json")).expect("writable");
    let output = bcl_train().arg("--resume").arg(&run).output().expect("it starts");
    assert!(output.status.success(), "{}", shown(&output));

    let Some(found) = read_by_tensorboard(&run.join("tensorboard/training")) else {
        return;
    };
    let steps = lines(&run.join("steps.jsonl"));
    let steps: Vec<(u64, f64)> = steps
        .iter()
        .map(|line| (line["step"].as_u64().expect("a step"), line["loss"].as_f64().expect("a loss")))
        .collect();
    let epochs = lines(&run.join("metrics.jsonl"));
    let epochs: Vec<(u64, f64)> = (1..)
        .zip(&epochs)
        .map(|(epoch, line)| (4 * epoch, line["loss"].as_f64().expect("a loss")))
        .collect();
    assert_eq!((steps.len(), epochs.len()), (2, 3));
    let distances = [compare(&found, "step/loss", &steps), compare(&found, "epoch/loss", &epochs)];
    eprintln!(
        "largest difference of a step {:e}, of an epoch {:e}",
        distances[0], distances[1]
    );
    assert!(distances.iter().all(|&distance| distance < 1e-6), "{distances:?}");
    let picture = &found["images"]["views"][0];
    assert!(picture[2] == "PNG" && picture[0].as_u64() > Some(40), "{picture}");
    assert!(
        found["texts"]["recipe"]
            .as_str()
            .is_some_and(|text| text.contains("name = \"small-images\"")),
        "{found}"
    );
}
