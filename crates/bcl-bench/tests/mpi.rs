//! Tables whose runs several processes share out, as a user starts them. Needs the feature `mpi`, and `mpirun` of the MPI library that the test was
//! built with.
#![cfg(target_os = "linux")]

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

/// A table of the built-in recipes of `quickstart`, with two trials each of one seed, and two test seeds.
const TABLE: &[&str] = &[
    "table",
    "quickstart",
    "--budget",
    "2",
    "--tuning-seeds",
    "1",
    "--seeds",
    "2",
    "--jobs",
    "1",
    "--set",
    "data.planted.num_users=120",
    "--set",
    "data.planted.num_items=160",
    "--set",
    "data.planted.interactions_per_user=5",
    "--set",
    "training.epochs=3",
];

fn table(folder: &Path, out: &str, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bcl-bench"));
    command.args(TABLE);
    command
        .args(["--out", out])
        .args(more)
        .current_dir(folder)
        .stdin(Stdio::null());
    command
}

fn finished(mut command: Command) -> Output {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", shown(&output));
    output
}

fn shown(output: &Output) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    format!("{}\n{}\n{}", output.status, text(&output.stdout), text(&output.stderr))
}

/// The files of a folder and of those in it.
fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(path.strip_prefix(folder).unwrap().to_path_buf());
            }
        }
    }
    found
}

#[test]
fn processes_make_the_table_of_one_and_print_it_once() {
    let folder = tempfile::tempdir().unwrap();
    let alone = finished(table(folder.path(), "alone", &["--quiet"]));
    let together = finished(table(folder.path(), "together", &["--quiet", "--processes", "2"]));
    let [expected, found] = ["alone", "together"].map(|out| folder.path().join(out));
    assert_eq!(files(&found), files(&expected));
    assert_eq!(without_threads(&found), without_threads(&expected));
    assert_eq!(
        String::from_utf8_lossy(&together.stdout).replace('\r', ""),
        String::from_utf8_lossy(&alone.stdout)
    );
}

/// The table without the number of threads per run, which depends on the number of cores per process.
fn without_threads(folder: &Path) -> serde_json::Value {
    let text = fs::read(folder.join("table.json")).unwrap();
    let mut table: serde_json::Value = serde_json::from_slice(&text).unwrap();
    table["environment"].as_object_mut().unwrap().remove("threads");
    table
}

#[test]
fn a_process_that_fails_alone_ends_all_with_its_error_and_another_run_continues() {
    let folder = tempfile::tempdir().unwrap();
    let expected = folder.path().join("alone");
    finished(table(folder.path(), "alone", &["--quiet"]));
    // A file is where process 1 needs the folder of a trial.
    let tuning = folder.path().join("together/tuning");
    let name = fs::read_dir(expected.join("tuning"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = name.collect();
    names.sort();
    fs::create_dir_all(&tuning).unwrap();
    let obstacle = tuning.join(&names[1]);
    fs::write(&obstacle, "").unwrap();
    let begin = Instant::now();
    let output = table(folder.path(), "together", &["--processes", "2"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", shown(&output));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(errors.matches("error: process 1: ").count(), 1, "{}", shown(&output));
    assert!(begin.elapsed().as_secs() < 60, "it nearly hangs");
    fs::remove_file(obstacle).unwrap();
    finished(table(folder.path(), "together", &["--quiet", "--processes", "3"]));
    assert_eq!(without_threads(&folder.path().join("together")), without_threads(&expected));
}

#[test]
fn the_first_signal_stops_all_and_the_same_command_continues() {
    let folder = tempfile::tempdir().unwrap();
    finished(table(folder.path(), "alone", &["--quiet"]));
    let mut command = table(folder.path(), "together", &["--processes", "2"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let [expected, found] = ["alone", "together"].map(|out| folder.path().join(out));
    let begin = Instant::now();
    while !has_begun(&found) {
        assert!(
            begin.elapsed().as_secs() < 60 && child.try_wait().unwrap().is_none(),
            "no run begins"
        );
        thread::sleep(Duration::from_millis(2));
    }
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", shown(&output));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(errors.matches("error: interrupted").count(), 1, "{}", shown(&output));
    assert!(!found.join("table.json").exists());
    finished(table(folder.path(), "together", &["--quiet"]));
    assert_eq!(without_threads(&found), without_threads(&expected));
}

/// Whether a trial has recorded an epoch.
fn has_begun(out: &Path) -> bool {
    let trials = fs::read_dir(out.join("tuning")).into_iter().flatten().flatten();
    trials.into_iter().any(|trial| trial.path().join("metrics.jsonl").exists())
}
