//! Ctrl-C and the other signals that ask a process to end. SIGINT, SIGTERM and SIGHUP are treated alike.

use super::Stop;
use crate::{
    error::Error,
    processes::{self, OnSignal},
};
use bcl_files::{finish_critical_sections, notice, remove_temporary_files};
use std::{
    fmt::Display,
    process,
    sync::{Arc, OnceLock},
    thread,
    time::{Duration, Instant},
};

/// Time that registered work has to save itself after the signal.
const GRACE: Duration = Duration::from_millis(1500);

/// Time that several processes have to agree on a last step and to write a checkpoint, after the signal that asks all of them to stop.
/// Schedulers such as Slurm send it as early as they are told to.
const SHARED_GRACE: Duration = Duration::from_secs(100);

/// A signal this soon after the first is the same request: GNU `timeout` and shells signal both the process and its group.
const SAME_REQUEST: Duration = Duration::from_millis(300);

/// How often to look whether registered work has saved itself.
const CHECKED_EVERY: Duration = Duration::from_millis(50);

/// The exit code of an interrupted command.
const INTERRUPTED: i32 = 130;

/// Ends the process within about two seconds after SIGINT (Ctrl-C), SIGTERM or SIGHUP, with exit code 130. The program listens to them: `listen`
/// calls its argument at each of them.
///
/// The first signal requests the returned [`Stop`]. Training ends after the current step, with a checkpoint. Work that is not
/// [registered](Stop::register), such as loading data, fitting a baseline or evaluating features, has nothing to save
/// and ends at once. So does a step of more than 1.5 seconds; its run can continue from the last checkpoint. Files that are
/// being written are completed first, or removed if they are written piece by piece. A second signal, at least 0.3 seconds after the first, ends the process immediately.
///
/// Processes that were started together also listen to SIGUSR1, which asks all of them to stop. Their step and checkpoint may take 100 seconds,
/// because no process can end without the others.
///
/// # Errors
/// Returns an error if the signal handler cannot be installed.
pub fn stop_on_signals<E: Display>(listen: impl FnOnce(OnSignal) -> Result<(), E>) -> Result<Stop, Error> {
    let stop = Stop::new();
    let requests = Arc::new(Requests {
        stop: stop.clone(),
        first: OnceLock::new(),
    });
    let shared = Arc::clone(&requests);
    listen(Box::new(move || requests.note(GRACE)))
        .map_err(|error| Error::Training(format!("cannot listen for signals: {error}")))?;
    processes::on_stop_signal(move || shared.note(SHARED_GRACE));
    Ok(stop)
}

/// The signals so far.
struct Requests {
    stop: Stop,
    first: OnceLock<Instant>,
}

impl Requests {
    fn note(&self, grace: Duration) {
        let now = Instant::now();
        if self.first.set(now).is_err() {
            if self
                .first
                .get()
                .is_some_and(|first| now.duration_since(*first) > SAME_REQUEST)
            {
                exit();
            }
            return;
        }
        let stop = self.stop.clone();
        // Runs on its own thread, because the next signal is only delivered once this handler has returned.
        thread::spawn(move || end(&stop, grace));
    }
}

/// Ends the process, unless registered work does so first.
fn end(stop: &Stop, grace: Duration) {
    let registered = stop.has_registered_work();
    stop.request();
    if registered {
        notice::status("stopping after this step; press Ctrl-C again to stop immediately");
        let begin = Instant::now();
        while stop.has_registered_work() && begin.elapsed() < grace {
            thread::sleep(CHECKED_EVERY);
        }
        // The work is saved or given up, and `main` is about to end.
        let spent = if grace > GRACE { Duration::ZERO } else { begin.elapsed() };
        thread::sleep(GRACE.saturating_sub(spent));
    }
    finish_critical_sections();
    // Work that is no longer registered has saved itself.
    let lost = if stop.has_registered_work() {
        format!(
            "; the current step takes more than {:.1} s and is not saved",
            grace.as_secs_f64()
        )
    } else {
        String::new()
    };
    let advice = stop.advice().map(|advice| format!("; {advice}")).unwrap_or_default();
    notice::error(format_args!("interrupted{lost}{advice}"));
    exit();
}

/// Ends the process. No value is dropped, so files that are not complete are removed here.
fn exit() -> ! {
    remove_temporary_files();
    process::exit(INTERRUPTED);
}
