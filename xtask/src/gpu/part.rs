//! A part: related commands that share a time budget.

use super::job::{Job, JobFolder};
use super::outcome::{Outcome, State};
use super::process;
use super::share::{Shares, seconds_until};
use std::time::Instant;

/// Commands that answer one question.
pub(super) struct Part {
    pub(super) name: &'static str,
    /// Its share of the time, in minutes out of twenty.
    pub(super) minutes: f64,
    /// Its jobs, or why it cannot run.
    pub(super) jobs: Result<Vec<Job>, String>,
}

impl Part {
    /// The weight of its share; 0 if it cannot run.
    pub(super) fn weight(&self) -> f64 {
        if self.jobs.is_ok() { self.minutes } else { 0.0 }
    }

    /// Runs its commands one after the other, each with an equal share of the part's time.
    pub(super) fn run(self, job_folder: &JobFolder, deadline: Instant) -> Outcome {
        let jobs = match self.jobs {
            Ok(jobs) => jobs,
            Err(why) => return Outcome::of_nothing(self.name, State::Skipped(why)),
        };
        let mut shares = Shares::new(deadline, jobs.len() as f64);
        let mut records = Vec::new();
        for job in jobs {
            let deadline = shares.next(Instant::now(), 1.0);
            let name = format!("{} {}", self.name, job.label());
            eprintln!("gpu: {} ({:.0} s at most) ...", name.trim_end(), seconds_until(deadline));
            if !process::interrupted() {
                records.push(job.run(self.name, job_folder, deadline));
            }
        }
        Outcome::of(self.name, records)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::super::job::ReportSource;
    use super::super::programs::{Program, Programs};
    use super::*;
    use serde_json::Value;
    use std::path::Path;
    use std::process::Command;
    use std::time::Duration;

    /// Creates both programs as shell scripts.
    fn programs(folder: &Path, script: &str) -> Programs {
        for name in ["bcl-train", "bcl-bench"] {
            let path = folder.join(name);
            // A shell writes it: what this process has open for writing, a program that another test starts at that moment inherits,
            // and until that ends the file cannot be run.
            let text = format!("#!/bin/sh\n{script}\n");
            let write = ["-c", "printf %s \"$1\" > \"$0\" && chmod 755 \"$0\""];
            assert!(
                Command::new("sh")
                    .args(write)
                    .arg(&path)
                    .arg(text)
                    .status()
                    .unwrap()
                    .success()
            );
        }
        Programs::find(folder).unwrap()
    }

    fn value(report: &Value) -> Vec<String> {
        vec![format!("found {}", report["value"])]
    }

    /// Runs a part of two jobs with the given arguments.
    fn run(script: &str, words: [&str; 2], source: ReportSource, seconds: f64) -> Outcome {
        let folder = tempfile::tempdir().unwrap();
        let programs = programs(folder.path(), script);
        let job = |words: &str| Job::new(&programs, Program::Bench, words, source, value).words(words);
        let part = Part {
            name: "trial",
            minutes: 1.0,
            jobs: Ok(words.map(job).into()),
        };
        let job_folder = JobFolder::beside(&folder.path().join("out.json")).unwrap();
        part.run(&job_folder, Instant::now() + Duration::from_secs_f64(seconds))
    }

    #[test]
    fn reports_on_stdout_are_read() {
        let outcome = run("echo \"{\\\"value\\\": $1}\"", ["1", "2"], ReportSource::Printed, 60.0);
        assert_eq!(outcome.state, State::Done);
        assert_eq!(outcome.findings(), ["1: found 1", "2: found 2"]);
        assert_eq!(outcome.jobs[0].command, "bcl-bench 1 --json");
    }

    #[test]
    fn a_command_that_fails_does_not_keep_the_next_from_running() {
        let script = "[ $1 = bad ] && { echo 'error: it is broken' >&2; exit 2; }; echo '{\"value\": 7}'";
        let outcome = run(script, ["bad", "good"], ReportSource::Printed, 60.0);
        assert_eq!(outcome.state, State::Failed("it is broken".to_owned()));
        assert_eq!(outcome.findings(), ["good: found 7"]);
        assert_eq!(outcome.jobs[0].exit_code, Some(2));
    }

    #[test]
    fn a_stopped_command_keeps_its_results_and_leaves_time_for_the_next() {
        let script = "echo '{\"value\": 3}' > $3; [ $1 = slow ] && sleep 30; exit 0";
        let outcome = run(script, ["slow", "quick"], ReportSource::Written, 2.0);
        assert_eq!(outcome.state, State::Stopped);
        assert_eq!(outcome.findings(), ["slow: found 3", "quick: found 3"]);
        assert!(outcome.jobs[0].stopped && !outcome.jobs[1].stopped);
        assert!(outcome.seconds < 5.0, "{}", outcome.seconds);
    }

    #[test]
    fn a_part_that_cannot_run_is_skipped_and_takes_no_time() {
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
