//! A part: related commands that share a time budget.

use super::job::{Job, JobFolder, JobRecord};
use super::outcome::{Outcome, State};
use super::process;
use super::share::{Shares, seconds_until};
use std::time::Instant;

/// Commands that answer one question.
pub(super) struct Part {
    pub(super) name: &'static str,
    /// Its share of the time, in minutes out of ten.
    pub(super) minutes: f64,
    /// Its jobs, or why it cannot run.
    pub(super) jobs: Result<Vec<Job>, String>,
}

impl Part {
    /// The weight of its share; 0 if it cannot run.
    pub(super) fn weight(&self) -> f64 {
        if self.jobs.is_ok() { self.minutes } else { 0.0 }
    }

    /// Runs its commands one after the other, each with a share of the part's time.
    pub(super) fn run(self, job_folder: &JobFolder, deadline: Instant) -> Outcome {
        let jobs = match self.jobs {
            Ok(jobs) => jobs,
            Err(why) => return Outcome::of_nothing(self.name, State::Skipped(why)),
        };
        let mut shares = Shares::new(deadline, jobs.iter().map(Job::weight).sum());
        let mut records: Vec<JobRecord> = Vec::new();
        for job in jobs {
            let deadline = shares.next(Instant::now(), job.weight());
            let name = format!("{} {}", self.name, job.label());
            eprintln!("gpu: {} ({:.0} s at most) ...", name.trim_end(), seconds_until(deadline));
            if !process::interrupted() {
                records.push(job.run(self.name, job_folder, deadline, records.last()));
            }
        }
        Outcome::of(self.name, records)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::super::report::ReportKind;
    use super::*;
    use std::path::{Path, PathBuf};
    use std::process::Command;
    use std::time::Duration;

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

    /// A result of `parity`, and the finding in it.
    const PARITY: &str = r#"{"file": "a", "backend": "flex", "device": "d", "passed": true, "estimators": [], "failures": [], "rounded": [],
        "weights": [{"precision": "f64", "column": "ecdf", "tolerance": 1, "rows": 4, "failed": 0, "worst": 0}]}"#;
    const FOUND: &str = "f64: 0 cases and 4 rows of weights, 0 out of tolerance";

    /// Runs a part of two jobs with the given arguments.
    fn run(script: &str, words: [&str; 2], kind: ReportKind, seconds: f64) -> Outcome {
        let folder = tempfile::tempdir().unwrap();
        let program = program(folder.path(), script);
        let job = |words: &str| Job::new(&program, words, kind).words(words);
        let part = Part {
            name: "trial",
            minutes: 1.0,
            jobs: Ok(words.map(job).into()),
        };
        let job_folder = JobFolder::beside(&folder.path().join("out.json")).unwrap();
        part.run(&job_folder, Instant::now() + Duration::from_secs_f64(seconds))
    }

    #[test]
    fn printed_results_are_read() {
        let script = format!("echo '{PARITY}'");
        let outcome = run(&script, ["1", "2"], ReportKind::Parity, 60.0);
        assert_eq!(outcome.state, State::Done);
        assert_eq!(outcome.findings(), [format!("1: {FOUND}"), format!("2: {FOUND}")]);
        assert_eq!(outcome.jobs[0].command, "program 1 --json");
    }

    #[test]
    fn the_next_command_runs_after_one_that_fails() {
        let script = format!("[ $1 = bad ] && {{ echo 'error: it is broken' >&2; exit 2; }}; echo '{PARITY}'");
        let outcome = run(&script, ["bad", "good"], ReportKind::Parity, 60.0);
        assert_eq!(outcome.state, State::Failed("it is broken".to_owned()));
        assert_eq!(outcome.findings(), [format!("good: {FOUND}")]);
        assert_eq!(outcome.jobs[0].exit_code, Some(2));
    }

    #[test]
    fn a_stopped_part_keeps_what_was_saved_and_leaves_time_to_its_next_command() {
        let environment = serde_json::to_string(&crate::Environment::read(1)).unwrap();
        let spread = r#"{"median": 3, "least": 3, "most": 3}"#;
        let saved = format!(
            r#"{{"environment": {environment}, "measurements": [{{"kernel": "mass", "size": "[2]", "pass": "forward", "kernel_ms": {spread},
            "portable_ms": {spread}, "ratio": {spread}, "rounds": 1, "repetitions": 1, "note": null}}]}}"#
        );
        let script =
            format!("mkdir -p \"$5/kernels\"; echo '{saved}' > \"$5/kernels/$3.json\"; [ $1 = slow ] && sleep 30; exit 0");
        let outcome = run(&script, ["slow", "quick"], ReportKind::Kernels, 2.0);
        assert_eq!(outcome.state, State::Stopped);
        let found = "mass: 3.000 ms at [2]; Burn's own operations take 3.0 to 3.0 times as long";
        assert_eq!(outcome.findings(), [format!("slow: {found}"), format!("quick: {found}")]);
        assert!(outcome.jobs[0].stopped && !outcome.jobs[1].stopped);
        assert!(outcome.seconds < 5.0, "{}", outcome.seconds);
    }

    #[test]
    fn the_log_of_a_profile_is_written_in_a_folder_with_its_settings() {
        let script = "grep -q prof.log cubecl.toml && echo '| 1.5ms      | Adam_0badf00d' > prof.log";
        let outcome = run(script, ["1", "2"], ReportKind::Profile, 60.0);
        assert_eq!(outcome.state, State::Done);
        let line = "no step repeats at the end of the log; in all of it 1 launches, 1.5 ms in kernels";
        assert_eq!(outcome.findings()[0], format!("1: {line}"));
        assert!(outcome.jobs[0].command.starts_with("cd /"), "{}", outcome.jobs[0].command);

        let outcome = run("true", ["1", "2"], ReportKind::Profile, 60.0);
        assert_eq!(
            (outcome.state, &*outcome.jobs[0].findings),
            (State::Done, &["it left no result".to_owned()][..])
        );
    }

    #[test]
    fn trouble_in_pytorch_is_no_failure() {
        let script = "echo '{\"batch_size\": 8, \"median_ms\": 2}'; [ $1 = slow ] && sleep 30; exit 1";
        let outcome = run(script, ["quick", "slow"], ReportKind::Torch, 2.0);
        assert_eq!(outcome.state, State::Done);
        assert_eq!(
            outcome.findings(),
            [
                "quick: B = 8: 2.00 ms",
                "quick: exit code 1",
                "slow: B = 8: 2.00 ms",
                "slow: stopped: time ran out"
            ]
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
        assert_eq!(
            part.run(&job_folder, Instant::now()).state,
            State::Skipped("no data".to_owned())
        );
    }
}
