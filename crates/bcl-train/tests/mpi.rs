//! Training in several processes, as a user starts it. Needs the feature `mpi`, and `mpirun` of the MPI library that the test was built with.
#![cfg(target_os = "linux")]

use serde_json::Value;
use std::{
    fs,
    os::unix::process::ExitStatusExt,
    path::PathBuf,
    process::{Child, Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

/// Trains for a second or two: enough epochs to be interrupted in.
const RECIPE: &str = r#"
name = "shared"

[data]
dataset = "planted"

[data.planted]
num_users = 200
num_items = 240
num_communities = 4
interactions_per_user = 12

[encoder]
kind = "mf"
dim = 16

[negatives]
kind = "uniform"
count = 16

[loss]
kind = "bayesian"
temperature = 0.3
tau_plus = 0.1

[training]
batch_size = 128
epochs = 12
patience = 12
"#;

/// A folder with the recipe and the runs.
struct Sandbox(tempfile::TempDir);

impl Sandbox {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("shared.toml"), RECIPE).unwrap();
        Self(folder)
    }

    /// Trains, or continues, with this number of processes.
    fn command(&self, processes: usize) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bcl-train"));
        command.current_dir(self.0.path());
        command.args([
            "shared.toml",
            "--resume",
            "--out",
            "runs",
            "--processes",
            &processes.to_string(),
        ]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self) -> PathBuf {
        self.0.path().join("runs/shared-0")
    }

    /// A file of the run.
    fn json(&self, name: &str) -> Value {
        serde_json::from_slice(&fs::read(self.run().join(name)).unwrap()).unwrap()
    }

    /// The records of all epochs, without times, memory and places.
    fn records(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.run().join("metrics.jsonl")).unwrap();
        text.lines()
            .map(|line| without_machine(serde_json::from_str(line).unwrap()))
            .collect()
    }
}

/// A record without what depends on the machine.
fn without_machine(mut record: Value) -> Value {
    let fields = record.as_object_mut().unwrap();
    fields.retain(|name, _| {
        !["seconds", "memory", "per_second", "time"]
            .iter()
            .any(|part| name.contains(part))
    });
    record
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

/// Asserts that numbers agree up to rounding, and all else exactly.
fn assert_close(a: &Value, b: &Value, place: &str) {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            assert!((a - b).abs() <= 1e-3 * (1.0 + a.abs()), "{place}: {a} and {b}");
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (i, (a, b)) in a.iter().zip(b).enumerate() {
                assert_close(a, b, &format!("{place}[{i}]"));
            }
        }
        (Value::Object(a), Value::Object(b)) if a.keys().eq(b.keys()) => {
            for (name, a) in a {
                assert_close(a, &b[name], &format!("{place}.{name}"));
            }
        }
        _ => assert_eq!(a, b, "{place}"),
    }
}

#[test]
fn two_and_three_processes_train_as_one_does() {
    let alone = Sandbox::new();
    finished(alone.command(1));
    for processes in [2, 3] {
        let together = Sandbox::new();
        let output = finished(together.command(processes));
        let table = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(table.matches("shared").count(), 1, "process 0 alone prints: {table}");
        let (a, b) = (Value::from(alone.records()), Value::from(together.records()));
        assert_close(&a, &b, &format!("{processes} processes"));
        assert_eq!(fs::read_dir(together.0.path().join("runs")).unwrap().count(), 1, "one folder");
        assert_eq!(together.json("run.json")["processes"], processes);
        assert_eq!(together.json("result.json")["environment"]["processes"], processes);
        let report = fs::read_to_string(together.run().join("report.html")).unwrap();
        assert!(report.contains(&format!("in each of {processes} processes")), "{report}");
    }
}

#[test]
fn mpirun_starts_it_directly() {
    let sandbox = Sandbox::new();
    let mut command = mpirun(2);
    command
        .current_dir(sandbox.0.path())
        .args(["shared.toml", "--out", "runs", "--epochs", "1"]);
    finished(command);
    assert!(sandbox.run().join("result.json").is_file());
}

#[test]
fn other_verbs_and_other_numbers_are_refused_once() {
    for (arguments, words) in [
        (&["recipes"][..], "only training runs on several"),
        (&["quickstart", "--processes", "3"], "--processes 3 is another number"),
        (&["no-such-recipe"], "no-such-recipe"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut command = mpirun(2);
        let output = command.current_dir(folder.path()).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", shown(&output));
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(errors.matches(words).count(), 1, "{}", shown(&output));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is written");
    }
}

/// `mpirun` of this program.
fn mpirun(processes: usize) -> Command {
    let mut command = Command::new("mpirun");
    command.args([
        "--quiet",
        "--oversubscribe",
        "--bind-to",
        "none",
        "-n",
        &processes.to_string(),
    ]);
    command.arg(env!("CARGO_BIN_EXE_bcl-train")).stdin(Stdio::null());
    for (name, value) in [
        ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
        ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
        ("OMPI_MCA_mpi_yield_when_idle", "1"),
    ] {
        command.env(name, value);
    }
    command
}

#[test]
fn a_run_survives_killed_processes_and_resumes_with_any_number() {
    let whole = Sandbox::new();
    let begin = Instant::now();
    finished(whole.command(2));
    let time = begin.elapsed();

    let mut killed = 0;
    for seed in 0..2_u64 {
        let sandbox = Sandbox::new();
        let mut random = Random(seed);
        let mut kills = 0;
        // After three kills, the run goes on to its end.
        for attempt in 0.. {
            let processes = [2, 3, 1][attempt % 3];
            let child = sandbox.command(processes).spawn().unwrap();
            if kills < 3 {
                thread::sleep(time.mul_f64(random.next()));
                let processes = processes_of(&child);
                if let Some(process) = processes.get((random.next() * processes.len() as f64) as usize) {
                    signal("-KILL", *process);
                    kills += 1;
                }
            }
            let output = ended(child);
            if output.status.success() {
                break;
            }
            // A launcher reports the signal as an exit code.
            let is_killed = output.status.signal() == Some(9) || output.status.code() == Some(137);
            assert!(is_killed, "seed {seed}: {}", shown(&output));
            killed += 1;
            assert!(attempt < 20, "the run never ends");
        }
        assert_close(
            &Value::from(whole.records()),
            &Value::from(sandbox.records()),
            &format!("seed {seed}"),
        );
    }
    assert!(killed > 0, "no signal came in time");
}

/// Ten runs on two processes, of which one is killed at a moment between the first file of the run and its end. Prints how long all took to end.
#[test]
fn at_ten_killed_processes_all_end_within_seconds_and_resume_with_the_same_bits() {
    const PROCESSES: usize = 2;
    /// The time from the first file of a run to its end.
    fn begun(sandbox: &Sandbox) -> Instant {
        let recipe = sandbox.run().join("recipe.toml");
        until("a run begins", || recipe.is_file());
        Instant::now()
    }
    let whole = Sandbox::new();
    let child = whole.command(PROCESSES).spawn().unwrap();
    let begin = begun(&whole);
    let output = ended(child);
    let time = begin.elapsed();
    assert!(output.status.success(), "{}", shown(&output));

    let mut random = Random(17);
    let mut killed = 0;
    println!("| kill | process | after s | epochs | exit code | all ended after s |");
    for attempt in 0.. {
        assert!(attempt < 30, "most runs end before the kill");
        let sandbox = Sandbox::new();
        let mut child = sandbox.command(PROCESSES).spawn().unwrap();
        begun(&sandbox);
        let processes = processes_of(&child);
        assert_eq!(processes.len(), PROCESSES);
        let moment = time.mul_f64(random.next());
        let process = (random.next() * PROCESSES as f64) as usize;
        thread::sleep(moment);
        let epochs = fs::read_to_string(sandbox.run().join("metrics.jsonl")).map_or(0, |text| text.lines().count());
        if child.try_wait().unwrap().is_some() {
            continue;
        }
        let kill = Instant::now();
        signal("-KILL", processes[process]);
        let output = ended(child);
        if output.status.success() {
            continue;
        }
        until("the other processes end", || {
            !processes.iter().any(|process| is_alive(*process))
        });
        let seconds = kill.elapsed().as_secs_f64();
        killed += 1;
        println!(
            "| {killed} | {process} | {:.2} | {epochs} | {} | {seconds:.2} |",
            moment.as_secs_f64(),
            output.status.code().unwrap_or_default()
        );
        assert!(seconds < 30.0, "{seconds} s");
        assert_eq!(output.status.code(), Some(137), "{}", shown(&output));

        finished(sandbox.command(PROCESSES));
        assert_eq!(whole.records(), sandbox.records());
        if killed == 10 {
            return;
        }
    }
}

#[test]
fn the_first_signal_saves_and_the_run_resumes_with_the_same_bits() {
    let whole = Sandbox::new();
    finished(whole.command(2));
    let sandbox = Sandbox::new();
    let mut interrupted = 0;
    for attempt in 0.. {
        let child = sandbox.command(2).spawn().unwrap();
        if interrupted < 2 {
            let metrics = sandbox.run().join("metrics.jsonl");
            let epochs = || fs::read_to_string(&metrics).map_or(0, |text| text.lines().count());
            let before = epochs();
            let begin = Instant::now();
            while epochs() == before && begin.elapsed() < Duration::from_mins(1) {
                thread::sleep(Duration::from_millis(2));
            }
            signal("-INT", child.id());
        }
        let output = ended(child);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() {
            break;
        }
        assert_eq!(output.status.code(), Some(130), "{}", shown(&output));
        assert_eq!(errors.matches("interrupted").count(), 1, "{errors}");
        interrupted += 1;
        assert!(attempt < 20, "the run never ends");
    }
    assert!(interrupted > 0, "no signal came in time");
    assert_eq!(whole.records(), sandbox.records());
}

/// The processes that the `mpirun` of a program has started; of a single process, itself.
fn processes_of(child: &Child) -> Vec<u32> {
    let launchers = children_of(child.id());
    if launchers.is_empty() {
        return vec![child.id()];
    }
    launchers.into_iter().flat_map(children_of).collect()
}

fn children_of(parent: u32) -> Vec<u32> {
    let processes = fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let is_child = |process: &u32| {
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        status
            .lines()
            .any(|line| line.strip_prefix("PPid:").is_some_and(|id| id.trim() == parent.to_string()))
    };
    processes.filter(is_child).collect()
}

fn signal(flag: &str, process: u32) {
    // The process may have ended by itself.
    let _ = Command::new("kill")
        .args([flag, &process.to_string()])
        .stderr(Stdio::null())
        .status();
}

/// Whether a process computes: one that has ended may wait for its parent to notice.
fn is_alive(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let state = status.lines().find_map(|line| line.strip_prefix("State:"));
    state.is_some_and(|state| !state.trim_start().starts_with(['Z', 'X']))
}

fn until(what: &str, is_so: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_mins(1), "never: {what}");
        thread::sleep(Duration::from_millis(2));
    }
}

/// Waits for a program, which must end within a minute.
fn ended(mut child: Child) -> Output {
    let begin = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begin.elapsed() > Duration::from_mins(1) {
            signal("-KILL", child.id());
            panic!("it hangs: {}", shown(&child.wait_with_output().unwrap()));
        }
        thread::sleep(Duration::from_millis(20));
    }
    child.wait_with_output().unwrap()
}

/// Numbers between 0 and 1.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}
