//! Ctrl-C and SIGTERM end the program at any time, with exit code 130 and without half-written files.
#![cfg(target_os = "linux")]

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Child, Command, Output, Stdio},
    thread,
    time::Duration,
};
use whole_program_tests::{PLANTED_IMAGES, bcl_train, shown, small_image_recipe, small_recipe};

/// Both signals, which must have the same effect, as flag of `kill` and as number.
const SIGNALS: [(&str, u32); 2] = [("-INT", 2), ("-TERM", 15)];

fn started(command: &mut Command) -> Child {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts")
}

fn wait_until(what: &str, child: &mut Child, holds: impl Fn(&Child) -> bool) {
    while !holds(child) {
        assert!(child.try_wait().expect("it can be asked").is_none(), "it ended before {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// A field of what Linux says about a process; `None` once the process has ended.
fn status(child: &Child, field: &str) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let value = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    Some(value.trim().to_owned())
}

/// Returns whether a process has installed a handler for a signal.
fn listens(child: &Child, signal: u32) -> bool {
    let caught = status(child, "SigCgt").unwrap_or_default();
    u64::from_str_radix(&caught, 16).is_ok_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Returns whether a process has more than this much memory.
fn holds(child: &Child, kib: u64) -> bool {
    let size = status(child, "VmRSS").unwrap_or_default();
    size.trim_end_matches(" kB").parse::<u64>().is_ok_and(|found| found > kib)
}

/// Sends a signal and asserts exit code 130. A program that ignored it would end much later, with another exit code.
fn interrupted(child: Child, flag: &str) -> Output {
    let sent = Command::new("kill").args([flag, &child.id().to_string()]).status();
    assert!(sent.expect("kill runs").success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{flag}\n{}", shown(&output));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(
        message.contains("interrupted") && !message.contains("panicked"),
        "{}",
        shown(&output)
    );
    output
}

/// Asserts that no half-written file is left.
fn assert_whole(folder: &Path) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            assert_whole(&path);
        } else {
            assert!(
                path.extension().is_none_or(|extension| extension != "tmp"),
                "{}",
                path.display()
            );
        }
    }
}

#[test]
fn loading_and_fitting_ease_end_at_once() {
    for ((flag, signal), is_fitting) in SIGNALS.into_iter().flat_map(|signal| [(signal, false), (signal, true)]) {
        let folder = tempfile::tempdir().expect("a folder");
        let recipe = small_recipe(folder.path(), "");
        let mut command = bcl_train();
        // The 11,000 x 11,000 matrix takes a gigabyte, and most of a minute to invert.
        let sets = ["data.planted.num_items=11000", "evaluation.baselines=['ease']"];
        command.arg(&recipe).arg("--out").arg(folder.path().join("runs"));
        command.args(sets.iter().flat_map(|set| ["--set", set]));
        let mut child = started(&mut command);
        wait_until("it listened", &mut child, |child| listens(child, signal));
        if is_fitting {
            wait_until("it had the matrix", &mut child, |child| holds(child, 400_000));
        }
        interrupted(child, flag);
        assert!(
            !folder.path().join("runs").exists(),
            "nothing had begun that could be resumed"
        );
    }
}

#[test]
fn a_slow_step_is_ended_and_the_message_says_how_to_resume() {
    for (flag, _) in SIGNALS {
        let folder = tempfile::tempdir().expect("a folder");
        let recipe = small_recipe(folder.path(), "");
        let mut command = bcl_train();
        let sets = [
            "data.planted={num_users=2000, num_items=2000, interactions_per_user=80}",
            "encoder={kind='light_gcn', layers=100, dim=4096}",
            "training.batch_size=100000",
            "evaluation.baselines=[]",
        ];
        command.arg(&recipe).arg("--out").arg(folder.path().join("runs"));
        command.args(sets.iter().flat_map(|set| ["--set", set]));
        let mut child = started(&mut command);
        // Wait for the line that is printed before the first step.
        let mut stderr = BufReader::new(child.stderr.take().expect("piped"));
        let mut line = String::new();
        while !line.contains("starting to train") {
            line.clear();
            assert!(
                stderr.read_line(&mut line).expect("text") > 0,
                "it ended before its first step"
            );
        }
        let sent = Command::new("kill").args([flag, &child.id().to_string()]).status();
        assert!(sent.expect("kill runs").success());
        let mut rest = String::new();
        stderr.read_to_string(&mut rest).expect("text");
        assert_eq!(child.wait().expect("it ends").code(), Some(130), "{flag}\n{rest}");
        assert!(rest.contains("--resume") && rest.contains("small-0"), "{rest}");
        assert_whole(folder.path());
    }
}

#[test]
fn the_final_probe_ends_without_a_result() {
    for (flag, _) in SIGNALS {
        let folder = tempfile::tempdir().expect("a folder");
        let recipe = small_image_recipe(folder.path(), PLANTED_IMAGES);
        let mut command = bcl_train();
        let sets = ["evaluation.probe.epochs=1000000", "training.epochs=2"];
        command.arg(&recipe).arg("--out").arg(folder.path().join("runs"));
        command.args(sets.iter().flat_map(|set| ["--set", set]));
        let run = folder.path().join("runs/small-images-0");
        let mut child = started(&mut command);
        // Training ends with the last checkpoint.
        wait_until("its last epoch", &mut child, |_| {
            run.join("checkpoints/training/progress-8.json").is_file() && run.join("model.bpk").is_file()
        });
        let output = interrupted(child, flag);
        assert!(!run.join("result.json").exists(), "{}", shown(&output));
        assert!(run.join("model.bpk").is_file() && run.join("recipe.toml").is_file());
        assert_whole(folder.path());
    }
}
