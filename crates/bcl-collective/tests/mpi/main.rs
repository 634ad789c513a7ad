//! Processes under `mpirun`: this test starts itself again as the processes of each scenario.
//!
//! Needs the feature `mpi`, and `mpirun` of the MPI library that the test was built with.

mod calls;
mod scenario;

use bcl_collective::Threads;
use calls::{all_calls, results_of};
use scenario::{Outcome, mpirun};
use std::time::Duration;

/// Runs as one process of a scenario; started by the other tests only.
#[test]
#[ignore = "runs as a process that the other tests start"]
fn process() {
    scenario::run_as_process();
}

#[test]
fn every_operation_gives_the_bytes_that_threads_get() {
    for size in [1, 2, 3] {
        // With and without messages that are split; 7 bytes are less than one element for every process.
        for largest_message in [usize::MAX, 1000, 7] {
            let folder = tempfile::tempdir().unwrap();
            let outcome = mpirun(
                size,
                "all_calls",
                &[folder.path().to_str().unwrap(), &largest_message.to_string()],
            );
            assert_eq!(outcome.code, Some(0), "{outcome:?}");
            let expected = Threads::run(size, |collective| all_calls(&*collective));
            for (process, expected) in expected.into_iter().enumerate() {
                let found = results_of(folder.path(), process);
                assert!(
                    found == expected,
                    "process {process} of {size}, messages of at most {largest_message} bytes"
                );
            }
        }
    }
}

#[test]
fn a_killed_process_ends_all() {
    for size in [2, 3] {
        let outcome = mpirun(size, "process_1_is_killed", &[]);
        assert_eq!(outcome.code, Some(137), "{outcome:?}");
        assert_ended_early(&outcome);
    }
}

#[test]
fn abort_ends_all_with_its_exit_code() {
    for scenario in ["process_1_aborts", "process_1_aborts_while_another_of_its_threads_waits"] {
        for size in [2, 3] {
            let outcome = mpirun(size, scenario, &[]);
            assert_eq!(outcome.code, Some(7), "{scenario}: {outcome:?}");
            assert_ended_early(&outcome);
        }
    }
}

#[test]
fn a_process_that_ends_alone_ends_all_with_its_exit_code() {
    let outcome = mpirun(3, "process_1_fails_alone", &[]);
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    assert_ended_early(&outcome);
}

#[test]
fn a_process_that_returns_from_main_ends_all() {
    let outcome = mpirun(2, "process_1_returns", &[]);
    assert_ne!(outcome.code, Some(0), "{outcome:?}");
    assert_ended_early(&outcome);
}

#[test]
fn a_process_that_panics_ends_all() {
    let outcome = mpirun(2, "process_1_panics", &[]);
    assert_eq!(outcome.code, Some(101), "{outcome:?}");
    assert!(outcome.output.contains("out of luck"), "{outcome:?}");
    assert_ended_early(&outcome);
}

#[test]
fn processes_that_end_together_know_each_others_exit_codes() {
    let folder = tempfile::tempdir().unwrap();
    let outcome = mpirun(3, "all_end", &[folder.path().to_str().unwrap()]);
    assert_eq!(outcome.code, Some(130), "{outcome:?}");
    assert_eq!([0, 1, 2].map(|process| results_of(folder.path(), process)), [[130; 3]; 3]);
}

#[test]
fn different_calls_are_found() {
    let outcome = mpirun(2, "process_1_leaves_a_call_out", &[]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    let message = "the processes make different calls: process 0: broadcast as call 2, process 1: barrier as call 2";
    assert!(outcome.output.contains(message), "{outcome:?}");
    assert_ended_early(&outcome);
}

/// A scenario in which processes wait for ever ends by a time limit of a minute.
fn assert_ended_early(outcome: &Outcome) {
    assert!(outcome.time < Duration::from_secs(30), "{outcome:?}");
    assert!(!outcome.output.contains("reached the end"), "{outcome:?}");
}
