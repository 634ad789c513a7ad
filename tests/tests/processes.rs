//! A program that a launcher started several times must not do the same work several times.

use std::{path::Path, process::Command, time::Instant};
use whole_program_tests::{assert_refused, bcl_bench, bcl_train, shown};

/// Runs the program as one of the processes that a launcher started.
fn launched(process: &str, arguments: &[&str]) -> std::process::Output {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = bcl_train();
    command.args(arguments).current_dir(folder.path());
    command.env("OMPI_COMM_WORLD_SIZE", "2").env("OMPI_COMM_WORLD_RANK", process);
    let output = command.output().expect("it starts");
    let left = std::fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(left, 0, "it wrote something\n{}", shown(&output));
    output
}

#[test]
fn training_as_several_processes_needs_mpi_and_process_0_says_so() {
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
    // It waits for process 0, because a launcher ends all processes at the first exit.
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

/// Runs a program as `cargo run` does, on a machine whose `PATH` has no MPI library.
fn without_mpi(mut program: Command, package: &str, arguments: &[&str]) -> std::process::Output {
    let folder = tempfile::tempdir().expect("a folder");
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the root of the workspace");
    program.args(arguments).current_dir(folder.path());
    program.env_remove("MPICC").env("PATH", folder.path());
    program.env("CARGO", "/no/cargo/is/needed").env("CARGO_PKG_NAME", package);
    program.env("CARGO_MANIFEST_DIR", workspace.join("crates").join(package));
    let output = program.output().expect("it starts");
    assert_eq!(
        std::fs::read_dir(folder.path()).expect("a folder").count(),
        0,
        "nothing is written"
    );
    output
}

#[test]
fn a_machine_without_an_mpi_library_is_one_line_with_the_packages_to_install() {
    for (program, package, arguments) in [
        (bcl_train(), "bcl-train", &["quickstart", "--processes", "2"][..]),
        (bcl_bench(), "bcl-bench", &["table", "quickstart", "--processes", "2"]),
    ] {
        let output = without_mpi(program, package, arguments);
        let packages = "apt-get install libopenmpi-dev openmpi-bin libclang-dev";
        assert_refused(
            &output,
            &["--processes needs an MPI library, and mpicc does not run", packages],
        );
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(message.lines().count(), 1, "{}", shown(&output));
        assert!(output.stdout.is_empty(), "{}", shown(&output));
    }
    // All else works as before.
    let output = without_mpi(bcl_train(), "bcl-train", &["recipes"]);
    assert!(output.status.success(), "{}", shown(&output));
}

#[test]
fn a_table_as_several_processes_needs_mpi() {
    let mut command = bcl_bench();
    command.args(["table", "quickstart"]);
    let output = command.env("OMPI_COMM_WORLD_SIZE", "2").output().expect("it starts");
    assert_refused(
        &output,
        &["started as 2 processes", "cargo build -p bcl-bench --features mpi"],
    );
}
