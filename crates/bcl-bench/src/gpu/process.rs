//! Runs a program with a time limit.

use bcl_train::error::Error;
use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Polling interval.
const PULSE: Duration = Duration::from_millis(50);

/// Time a program gets to save its results after SIGTERM, before SIGKILL.
const GRACE: Duration = Duration::from_secs(10);

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// From now on, Ctrl-C stops the running part and skips the rest.
pub(super) fn listen_for_interrupts() -> Result<(), Error> {
    let set = ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::Relaxed));
    set.map_err(|error| Error::Training(format!("cannot listen for Ctrl-C: {error}")))
}

/// Whether the user has pressed Ctrl-C.
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// It ended by itself; `None` if a signal killed it.
    Exited(Option<i32>),
    /// It was stopped, at the deadline or on Ctrl-C.
    Stopped,
}

/// Runs a program until it ends, the deadline passes or the user presses Ctrl-C; its output goes to two files.
pub(super) fn run_until(command: &mut Command, deadline: Instant, stdout: &Path, stderr: &Path) -> io::Result<End> {
    run_unless(|| Instant::now() >= deadline || interrupted(), command, stdout, stderr)
}

/// Runs a program until it ends or `is_over` returns true.
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
    /// Asks it to end; a training run then writes a checkpoint.
    Please,
    Now,
}

/// Benchmarks start processes of their own. A process group ends these together with the benchmark, so that they do not disturb the next part.
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
    // This fails only if the group has already ended.
    let _ = killpg(Pid::from_raw(child.id() as i32), signal);
}

#[cfg(not(unix))]
fn in_group_of_its_own(_: &mut Command) {}

/// Without signals, the only way to end a program is to kill it.
#[cfg(not(unix))]
fn signal(child: &mut Child, _: Urgency) {
    let _ = child.kill();
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;

    /// Runs a script and stops it once it has created the file `ready`. Returns how it ended, its output and its errors.
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

    /// The child of the script keeps the write end of a pipe open, so the pipe closes when the child ends.
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
        assert_eq!(words, "", "a child process outlived the program");
    }

    #[test]
    fn a_stopped_program_may_clean_up() {
        let (end, out, _) = run("trap 'echo kept; exit 130' TERM; touch ready; while :; do sleep 0.1; done");
        assert_eq!((end, out.trim()), (End::Stopped, "kept"));
    }
}
