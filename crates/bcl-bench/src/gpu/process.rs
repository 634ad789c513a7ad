//! Runs a program with a time limit.

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

/// Until when programs may run. The time is shared by weight, and what one does not use goes to the later ones.
#[derive(Debug, Clone)]
pub(super) struct Limits<'a> {
    end: Instant,
    weights_to_come: f64,
    interrupted: &'a AtomicBool,
}

impl<'a> Limits<'a> {
    pub(super) fn new(end: Instant, interrupted: &'a AtomicBool) -> Self {
        Self {
            end,
            weights_to_come: 0.0,
            interrupted,
        }
    }

    /// Shares the time among weights that sum to `weights`.
    pub(super) fn share_among(&mut self, weights: f64) {
        self.weights_to_come = weights;
    }

    /// The limits of the next program, which has the given weight.
    pub(super) fn share(&mut self, weight: f64) -> Self {
        let now = Instant::now();
        let left = self.end.saturating_duration_since(now);
        let share = if self.weights_to_come > weight {
            left.mul_f64(weight / self.weights_to_come)
        } else {
            left
        };
        self.weights_to_come -= weight;
        Self::new(now + share, self.interrupted)
    }

    /// Seconds left.
    pub(super) fn seconds(&self) -> f64 {
        self.end.saturating_duration_since(Instant::now()).as_secs_f64()
    }

    /// Whether the user has pressed Ctrl-C.
    pub(super) fn interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// It ended by itself; `None` if a signal killed it.
    Exited(Option<i32>),
    /// It was stopped, at the deadline or on Ctrl-C.
    Stopped,
}

/// Runs a program until it ends, its time runs out or the user presses Ctrl-C; its output goes to two files.
pub(super) fn run(command: &mut Command, limits: &Limits<'_>, stdout: &Path, stderr: &Path) -> io::Result<End> {
    run_unless(|| limits.seconds() <= 0.0 || limits.interrupted(), command, stdout, stderr)
}

/// Runs a program until it ends or `is_over` returns true.
fn run_unless(is_over: impl Fn() -> bool, command: &mut Command, stdout: &Path, stderr: &Path) -> io::Result<End> {
    command
        .stdin(Stdio::null())
        .stdout(File::create(stdout)?)
        .stderr(File::create(stderr)?);
    in_group_of_its_own(command);
    let mut child = command.spawn()?;
    if let Some(status) = wait_unless(is_over, &mut child)? {
        return Ok(End::Exited(status.code()));
    }
    stop(&mut child)?;
    Ok(End::Stopped)
}

fn stop(child: &mut Child) -> io::Result<()> {
    signal(child, Urgency::Please);
    let end = Instant::now() + GRACE;
    if wait_unless(|| Instant::now() >= end, child)?.is_none() {
        signal(child, Urgency::Now);
        child.wait()?;
    }
    Ok(())
}

/// Waits until a program ends; `None` if `is_over` returns true before that.
fn wait_unless(is_over: impl Fn() -> bool, child: &mut Child) -> io::Result<Option<ExitStatus>> {
    loop {
        let status = child.try_wait()?;
        if status.is_some() || is_over() {
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
mod tests;
