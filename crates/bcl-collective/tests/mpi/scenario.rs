//! What processes do, and how they are started.

use crate::calls::{all_calls, is_saved, save};
use bcl_collective::{Checked, Collective, Mpi};
use std::{
    env,
    path::Path,
    process::{self, Command, Stdio},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

/// The scenario and its arguments, separated by spaces.
const SCENARIO: &str = "BCL_MPI_SCENARIO";

/// How a scenario ended.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) code: Option<i32>,
    pub(super) time: Duration,
    /// stdout and stderr.
    pub(super) output: String,
}

/// Starts processes of a scenario.
pub(super) fn mpirun(size: usize, scenario: &str, arguments: &[&str]) -> Outcome {
    // Scenarios that start at the same moment would create Open MPI's folder for its sessions together, in which one of them may fail.
    let sessions = tempfile::tempdir().expect("a folder");
    let begin = Instant::now();
    // `timeout` ends a scenario that hangs, which then fails.
    let output = Command::new("timeout")
        .args([
            "--kill-after=5",
            "60",
            "mpirun",
            "--quiet",
            "--oversubscribe",
            "--bind-to",
            "none",
        ])
        .args(["-n", &size.to_string()])
        .arg(env::current_exe().unwrap())
        .args(["--exact", "process", "--ignored", "--nocapture"])
        .env(SCENARIO, [&[scenario], arguments].concat().join(" "))
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .env("OMPI_MCA_mpi_yield_when_idle", "1")
        .env("OMPI_MCA_orte_tmpdir_base", sessions.path())
        .stdin(Stdio::null())
        .output()
        .expect("mpirun is installed");
    Outcome {
        code: output.status.code(),
        time: begin.elapsed(),
        output: String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned(),
    }
}

/// Runs as a process of the scenario that the environment names.
pub(super) fn run_as_process() {
    let text = env::var(SCENARIO).expect("the other tests set it");
    let words: Vec<&str> = text.split(' ').collect();
    let mpi = Arc::new(match words.get(2) {
        Some(bytes) => Mpi::start_with_largest_message(bytes.parse().unwrap()).unwrap(),
        None => Mpi::start().unwrap(),
    });
    let collective: Arc<dyn Collective> = mpi.clone();
    let is_one = collective.index() == 1;
    let wait_for_ever = || {
        collective.barrier();
        println!("reached the end");
    };
    assert_eq!(mpi.neighbours().process, mpi.index(), "all processes are on this machine");
    assert_eq!(mpi.neighbours().size, mpi.size());
    match words[0] {
        "all_calls" => {
            save(Path::new(words[1]), collective.index(), &all_calls(&*collective));
            mpi.end(0, None);
            process::exit(0);
        }
        "process_1_is_killed" if is_one => {
            let _ = Command::new("kill").args(["-KILL", &process::id().to_string()]).status();
        }
        "process_1_aborts" if is_one => collective.abort(7),
        "process_1_aborts_while_another_of_its_threads_waits" if is_one => {
            let other = Arc::clone(&collective);
            thread::spawn(move || other.all_gather(vec![1]));
            thread::sleep(Duration::from_millis(300));
            collective.abort(7);
        }
        "process_1_fails_alone" if is_one => {
            assert_eq!(mpi.end(2, Some(Duration::from_millis(500))), None);
            process::exit(2);
        }
        "process_1_returns" if is_one => process::exit(0),
        "process_1_panics" if is_one => {
            // As in a program: a panic of one process becomes an abort.
            let panic = thread::spawn(|| panic!("out of luck")).join();
            assert!(panic.is_err());
            collective.abort(101);
        }
        "all_end" => {
            // Not all at once.
            thread::sleep(Duration::from_millis(100 * collective.index() as u64));
            let codes = mpi.end(130, Some(Duration::from_secs(30)));
            let folder = Path::new(words[1]);
            save(folder, collective.index(), &codes.unwrap());
            // The first exit code other than 0 makes `mpirun` kill the others.
            while !(0..collective.size()).all(|process| is_saved(folder, process)) {
                thread::sleep(Duration::from_millis(5));
            }
            process::exit(130);
        }
        "process_1_leaves_a_call_out" => {
            let checked = Checked::new(Arc::clone(&collective));
            checked.all_gather(vec![3]);
            if !is_one {
                checked.broadcast(vec![1]);
            }
            checked.barrier();
        }
        // In all other scenarios, the other processes wait for process 1.
        _ => {}
    }
    wait_for_ever();
}
