//! Parts whose program is a script.

use super::{job::JobKind, *};
use crate::timing::{Benchmark, Plan, measure};
use bcl_backend::BackendChoice;
use std::{fs, process::Command};

/// Creates a program as a shell script.
fn program(folder: &Path, script: &str) -> PathBuf {
    let path = folder.join("program");
    // A shell writes it: what this process has open for writing, a program that another test starts at that moment inherits,
    // and until that ends the file cannot be run.
    let text = format!("#!/bin/sh\n{script}\n");
    let write = ["-c", "printf %s \"$1\" > \"$0\" && chmod 755 \"$0\""];
    let written = Command::new("sh").args(write).arg(&path).arg(text).status().unwrap();
    assert!(written.success());
    path
}

/// Runs a part of two jobs with the given arguments.
fn run(script: &str, words: [&str; 2], kind: JobKind, seconds: f64) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let program = program(folder.path(), script);
    let job = |words: &str| Job::new(&program, words, kind).words(words);
    let part = Part {
        name: "trial",
        minutes: 1.0,
        jobs: Ok(words.map(job).into()),
    };
    let job_folder = JobFolder::beside(&folder.path().join("out.json")).unwrap();
    let interrupted = AtomicBool::new(false);
    let mut limits = Limits::new(Instant::now() + Duration::from_secs_f64(seconds), &interrupted);
    limits.share_among(1.0);
    part.run(&job_folder, &mut limits)
}

/// Seconds for two commands, of which the first hangs and is stopped after half of them. The rest suffices for the second on a busy machine.
const ONE_HANGS: f64 = 20.0;

fn texts(outcome: &Outcome) -> Vec<&str> {
    outcome.jobs.iter().map(|job| &*job.text).collect()
}

#[test]
fn the_next_command_runs_after_one_that_fails() {
    let script = "[ $1 = bad ] && { echo 'error: it is broken' >&2; exit 2; }; echo fine";
    let outcome = run(script, ["bad", "good"], JobKind::Printed, 60.0);
    assert_eq!(outcome.state, State::Failed("it is broken".to_owned()));
    assert_eq!(texts(&outcome), ["", "fine"]);
    assert_eq!(outcome.jobs[0].exit_code, Some(2));
    assert_eq!(outcome.jobs[1].command, "program good");
}

#[test]
fn a_stopped_part_keeps_what_was_saved_and_leaves_time_to_its_next_command() {
    let backend = Backend::open(BackendChoice::Flex, None).unwrap();
    let mut saved = Benchmark::new("kernels", 1, &backend);
    let plan = Plan {
        rounds: 1,
        turns: 1,
        seconds: 0.0,
    };
    saved.measurements = measure(vec![crate::timing::Case::new("mass [2]", || ())], &plan, &backend);
    let saved = serde_json::to_string(&saved).unwrap();
    let script = format!("mkdir -p \"$5/kernels\"; echo '{saved}' > \"$5/kernels/$3.json\"; [ $1 = slow ] && sleep 600; exit 0");
    let outcome = run(&script, ["slow", "quick"], JobKind::Saved("kernels"), ONE_HANGS);
    assert_eq!(outcome.state, State::Stopped);
    assert!(texts(&outcome).iter().all(|text| text.contains("mass [2]")), "{outcome}");
    assert!(outcome.jobs[0].stopped && !outcome.jobs[1].stopped);
    assert!(outcome.seconds < 60.0, "{}", outcome.seconds);
}

#[test]
fn epochs_of_runs_are_read_also_if_the_last_is_cut_off() {
    let script = "for word; do out=$word; done; mkdir -p $out/test/bayesian-0; \
        epoch='{\"phase\": \"training\", \"epoch\": 1, \"loss\": 1.0, \"omega_quantiles\": [], \"train_seconds\": 2.0, \"evaluation_seconds\": 0.0}'; \
        printf '%s\\n%s\\n{\"ep' \"$epoch\" \"$epoch\" > $out/test/bayesian-0/metrics.jsonl; echo table";
    let outcome = run(script, ["1", "2"], JobKind::Training, 60.0);
    let text = "bayesian-0: first epoch 2.00 s (compiles or loads kernels), median of the other 1: 2.00 s\ntable";
    assert_eq!(texts(&outcome), [text, text]);
}

#[test]
fn the_log_of_a_profile_is_written_in_a_folder_with_its_settings() {
    let script = "grep -q prof.log cubecl.toml && echo '| 1.5ms      | Adam_0badf00d' > prof.log";
    let outcome = run(script, ["1", "2"], JobKind::Profile, 60.0);
    assert_eq!(outcome.state, State::Done);
    assert!(
        texts(&outcome)[0].ends_with("in all of it 1 launches, 1.5 ms in kernels."),
        "{outcome}"
    );
    assert!(outcome.jobs[0].command.starts_with("cd /"), "{}", outcome.jobs[0].command);
    assert_eq!(
        texts(&run("true", ["1", "2"], JobKind::Profile, 60.0))[0],
        "it left no result"
    );
}

#[test]
fn trouble_in_pytorch_is_no_failure() {
    let script = "echo '{\"batch_size\": 8, \"median_ms\": 2}'; [ $1 = slow ] && sleep 600; exit 1";
    let outcome = run(script, ["slow", "quick"], JobKind::Torch, ONE_HANGS);
    assert_eq!(outcome.state, State::Done);
    assert_eq!(
        texts(&outcome),
        ["B = 8: 2.00 ms\nstopped: time ran out", "B = 8: 2.00 ms\nexit code 1"]
    );
}

#[test]
fn a_part_that_cannot_run_is_skipped_and_needs_no_time() {
    let folder = tempfile::tempdir().unwrap();
    let part = Part {
        name: "trial",
        minutes: 3.0,
        jobs: Err("no data".to_owned()),
    };
    assert_eq!(part.weight(), 0.0);
    let job_folder = JobFolder::beside(&folder.path().join("out.json")).unwrap();
    let interrupted = AtomicBool::new(false);
    let outcome = part.run(&job_folder, &mut Limits::new(Instant::now(), &interrupted));
    assert_eq!(outcome.state, State::Skipped("no data".to_owned()));
    assert!(fs::read_dir(folder.path().join("out.parts")).unwrap().next().is_none());
}
