//! A program that is run for no longer than it may.

use anyhow::Context;
use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often a program is looked after.
const PULSE: Duration = Duration::from_millis(50);

/// How long a program that was asked to end may take to put away what it has.
const GRACE: Duration = Duration::from_secs(10);

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// From now on, Ctrl-C stops the part under way, and there are no further ones.
pub(super) fn listen_for_interrupts() -> anyhow::Result<()> {
    ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::Relaxed)).context("cannot listen for Ctrl-C")
}

pub(super) fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// By itself; a signal that ended it has no code.
    Exited(Option<i32>),
    /// It was stopped, because its time or our user's patience was over.
    Stopped,
}

/// Runs a program until it ends, the deadline passes or our user interrupts; its output goes to two files.
pub(super) fn run_until(command: &mut Command, deadline: Instant, stdout: &Path, stderr: &Path) -> io::Result<End> {
    run_unless(|| Instant::now() >= deadline || interrupted(), command, stdout, stderr)
}

/// Runs a program until it ends or `is_over` says that it must.
fn run_unless(is_over: impl Fn() -> bool, command: &mut Command, stdout: &Path, stderr: &Path) -> io::Result<End> {
    command
        .stdin(Stdio::null())
        .stdout(File::create(stdout)?)
        .stderr(File::create(stderr)?);
    in_group_of_its_own(command);
    let mut child = command.spawn()?;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(End::Exited(status.code()));
        }
        if is_over() {
            stop(&mut child)?;
            return Ok(End::Stopped);
        }
        std::thread::sleep(PULSE);
    }
}

fn stop(child: &mut Child) -> io::Result<()> {
    signal(child, Urgency::Please);
    if wait_for(child, GRACE)?.is_none() {
        signal(child, Urgency::Now);
        child.wait()?;
    }
    Ok(())
}

fn wait_for(child: &mut Child, patience: Duration) -> io::Result<Option<ExitStatus>> {
    let end = Instant::now() + patience;
    loop {
        let status = child.try_wait()?;
        if status.is_some() || Instant::now() >= end {
            return Ok(status);
        }
        std::thread::sleep(PULSE);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Urgency {
    /// A training then writes its checkpoint.
    Please,
    Now,
}

/// Benchmarks start processes of their own, which must end with them: otherwise they would compute beside the next part.
#[cfg(unix)]
fn in_group_of_its_own(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(unix)]
fn signal(child: &mut Child, urgency: Urgency) {
    use nix::sys::signal::{Signal, killpg};
    use nix::unistd::Pid;
    let signal = match urgency {
        Urgency::Please => Signal::SIGTERM,
        Urgency::Now => Signal::SIGKILL,
    };
    // It fails only where nobody is left to hear it.
    let _ = killpg(Pid::from_raw(child.id() as i32), signal);
}

#[cfg(not(unix))]
fn in_group_of_its_own(_: &mut Command) {}

/// Elsewhere there is only one way to end a program.
#[cfg(not(unix))]
fn signal(child: &mut Child, _: Urgency) {
    let _ = child.kill();
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;

    /// How a script ended that is stopped once the file `ready` exists in its folder, and what it wrote.
    fn run(script: &str) -> (End, String, String) {
        let folder = tempfile::tempdir().unwrap();
        let [out, log, ready] = ["out", "log", "ready"].map(|name| folder.path().join(name));
        let mut command = Command::new("sh");
        command.args(["-c", script]).current_dir(folder.path());
        let end = run_unless(|| ready.exists(), &mut command, &out, &log).unwrap();
        let text = |path| fs::read_to_string(path).unwrap();
        (end, text(out), text(log))
    }

    #[test]
    fn a_program_ends_with_its_code_and_its_words() {
        let (end, out, log) = run("echo result; echo trouble >&2; exit 3");
        assert_eq!((end, out.trim(), log.trim()), (End::Exited(Some(3)), "result", "trouble"));
    }

    #[test]
    fn a_deadline_in_the_past_stops_a_program() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name| folder.path().join(name);
        let end = run_until(Command::new("sleep").arg("600"), Instant::now(), &file("out"), &file("log"));
        assert_eq!(end.unwrap(), End::Stopped);
    }

    /// The process that the script starts holds the write end of a pipe, so the pipe ends when that process does.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_program_that_takes_too_long_is_stopped_with_all_that_it_started() {
        use std::{io::Read, os::fd::AsRawFd};
        let (mut reader, writer) = io::pipe().unwrap();
        let pipe = format!("/proc/{}/fd/{}", std::process::id(), writer.as_raw_fd());
        let (end, ..) = run(&format!("(touch ready; sleep 60; echo survived) > {pipe} & wait"));
        assert_eq!(end, End::Stopped);
        drop(writer);
        let mut words = String::new();
        reader.read_to_string(&mut words).unwrap();
        assert_eq!(words, "", "what the program started went on without it");
    }

    #[test]
    fn a_program_may_put_away_what_it_has() {
        let (end, out, _) = run("trap 'echo kept; exit 130' TERM; touch ready; while :; do sleep 0.1; done");
        assert_eq!((end, out.trim()), (End::Stopped, "kept"));
    }
}
