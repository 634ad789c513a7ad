//! Runs the numerical experiment as a program: its files, flags and exit codes. Its numbers are tested where they are computed.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn simulate(threads: usize, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_bcl-bench"))
        .arg("simulate")
        .args(arguments)
        .env("RAYON_NUM_THREADS", threads.to_string())
        .output()
        .expect("the program starts")
}

const SMALL: [&str; 6] = ["--num-anchors", "4", "--repetitions", "2", "--num-negatives", "8"];

/// Name and content of every file, by name.
fn files(folder: &Path) -> Vec<(String, String)> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut files: Vec<(String, String)> = entries
        .map(|entry| entry.expect("an entry").path())
        .map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).expect("text"))
        })
        .collect();
    files.sort();
    files
}

/// The files whose name ends in `extension`.
fn of_kind<'a>(files: &'a [(String, String)], extension: &str) -> impl Iterator<Item = &'a (String, String)> {
    files
        .iter()
        .filter(move |(name, _)| name.rsplit('.').next() == Some(extension))
}

#[test]
fn every_figure_has_its_data_beside_it_and_threads_change_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("a plain path").to_owned();
    for threads in [1, 3] {
        let (out, json) = (path(&threads.to_string()), path("simulation.json"));
        let output = simulate(threads, &[&SMALL[..], &["--out", &out, "--json", &json]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let one = files(&folder.path().join("1"));
    assert!(one == files(&folder.path().join("3")));
    let names: Vec<&str> = one.iter().map(|(name, _)| name.as_str()).collect();
    for part in ["densities", "ecdf", "omega", "means", "mse", "calibration", "losses", "noise"] {
        assert!(names.iter().any(|name| name.starts_with(part)), "{part}");
    }
    for (name, text) in of_kind(&one, "csv") {
        assert!(
            names.contains(&name.replace(".csv", ".svg").as_str()),
            "{name} without its figure"
        );
        let columns = |line: &str| line.matches(',').count();
        let header = columns(text.lines().next().expect("a header"));
        assert!(text.lines().all(|line| columns(line) == header), "{name}");
    }
    for (name, text) in of_kind(&one, "svg") {
        assert!(
            text.contains("<title id=") && !text.contains("=\"NaN") && !text.contains(" NaN"),
            "{name}"
        );
    }

    let simulation: Value =
        serde_json::from_str(&std::fs::read_to_string(path("simulation.json")).expect("a file")).expect("JSON");
    assert_eq!(simulation["plan"]["base"]["num_anchors"], 4);
    assert_eq!(simulation["sweeps"].as_array().map(Vec::len), Some(8));
    assert_eq!(
        simulation["sweeps"][0]["points"][0]["estimates"][4]["theta"],
        "bayesian_normalised"
    );
}

#[test]
fn figures_can_be_chosen_and_have_the_same_numbers_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("a plain path").to_owned();
    for (name, only) in [("one", &["--only", "mse"][..]), ("two", &["--only", "noise", "mse"])] {
        let output = simulate(2, &[&SMALL[..], only, &["--out", &path(name)]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let one = files(&folder.path().join("one"));
    assert!(one.iter().all(|(name, _)| name.starts_with("mse-")));
    let two = files(&folder.path().join("two"));
    assert!(one.iter().all(|file| two.contains(file)) && two.len() > one.len());
}

#[test]
fn figures_at_a_high_temperature_have_points() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_str().expect("a plain path");
    // The interval of the captions would be wider than similarities can be.
    let output = simulate(
        2,
        &[&SMALL[..], &["--only", "figure9", "--temperature", "2", "--out", path]].concat(),
    );
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    for (name, text) in of_kind(&files(folder.path()), "csv") {
        assert!(text.lines().count() > 2, "{name}: {text}");
    }
}

#[test]
fn a_file_of_a_table_is_not_overwritten() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("plan.json");
    std::fs::write(&file, "{}").expect("a writable folder");
    let output = simulate(
        1,
        &[&SMALL[..], &["--only", "mse", "--json", file.to_str().expect("a plain path")]].concat(),
    );
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("--json") && errors.contains("plan.json"), "{errors}");
    assert_eq!(std::fs::read_to_string(&file).expect("the file"), "{}");
}

#[test]
fn bad_parameters_and_an_unwritable_folder_are_bad_input() {
    for (arguments, named) in [
        (&["--alpha", "0.4"][..], "alpha"),
        (&["--alpha", "1", "--beta", "1"], "alpha"),
        (&["--tau-plus", "1"], "tau_plus"),
        (&["--temperature", "0"], "temperature"),
        (&["--repetitions", "0"], "repetitions"),
        (&["--num-anchors", "9223372036854775807"], "num-anchors"),
        (&["--num-negatives", "1000001"], "num-negatives"),
        (&["--only", "figure2"], "figure2"),
        (&["--half-width", "0"], "half_width"),
        (&["--half-width", "4.1"], "half_width"),
        (&["--out", "/dev/null/figures"], "/dev/null/figures"),
    ] {
        let output = simulate(1, arguments);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains(named), "{text}");
    }
}
