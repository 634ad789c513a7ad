//! A program that a launcher started several times must not do the same work several times.

use std::time::Instant;
use whole_program_tests::{assert_refused, bcl_train, shown};

/// Runs the program as one of the processes that a launcher started.
fn launched(rank: &str, arguments: &[&str]) -> std::process::Output {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = bcl_train();
    command.args(arguments).current_dir(folder.path());
    command.env("OMPI_COMM_WORLD_SIZE", "2").env("OMPI_COMM_WORLD_RANK", rank);
    let output = command.output().expect("it starts");
    let left = std::fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(left, 0, "it wrote something\n{}", shown(&output));
    output
}

#[test]
fn training_as_several_processes_needs_mpi_and_rank_0_says_so() {
    let first = launched("0", &["quickstart"]);
    assert_refused(
        &first,
        &[
            "started as 2 processes (OMPI_COMM_WORLD_SIZE=2)",
            "without MPI",
            "--processes 2",
        ],
    );
    let begin = Instant::now();
    let second = launched("1", &["quickstart"]);
    assert_eq!(second.status.code(), Some(2), "{}", shown(&second));
    assert!(second.stderr.is_empty() && second.stdout.is_empty(), "{}", shown(&second));
    // It waits for rank 0, because a launcher ends all processes at the first exit.
    assert!(begin.elapsed().as_secs_f64() > 0.9);
}

#[test]
fn other_verbs_run_once() {
    let output = launched("0", &["recipes"]);
    assert_refused(&output, &["started as 2 processes", "only training runs on several"]);
    assert!(output.stdout.is_empty(), "{}", shown(&output));
    let output = launched("0", &["quickstart", "--print-recipe"]);
    assert_refused(&output, &["--print-recipe and --dump-views train nothing"]);
}

#[test]
fn one_process_of_a_launcher_trains_as_without_it() {
    let mut command = bcl_train();
    command
        .arg("recipes")
        .env("OMPI_COMM_WORLD_SIZE", "1")
        .env("SLURM_NTASKS", "4");
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{}", shown(&output));
}

#[test]
fn processes_need_a_number_that_makes_sense() {
    for number in ["0", "1025", "two"] {
        let output = bcl_train()
            .args(["quickstart", "--processes", number])
            .output()
            .expect("it starts");
        assert_refused(&output, &["--processes", number]);
    }
}
