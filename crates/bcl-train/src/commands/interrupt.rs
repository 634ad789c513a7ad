//! Ctrl-C and the other signals that ask a process to end. SIGINT, SIGTERM and SIGHUP are treated alike.

use crate::{error::Error, training::Stop};
use bcl_report::{files::finish_critical_sections, notice};
use std::{
    process,
    sync::OnceLock,
    thread,
    time::{Duration, Instant},
};

/// Time that registered work has to save itself after the signal.
const GRACE: Duration = Duration::from_millis(1500);

/// A signal this soon after the first is the same request: GNU `timeout` and shells signal both the process and its group.
const SAME_REQUEST: Duration = Duration::from_millis(300);

/// The exit code of an interrupted command.
const INTERRUPTED: i32 = 130;

/// Listens for SIGINT (Ctrl-C), SIGTERM and SIGHUP. After a signal, the process ends within about two seconds, with exit code
/// 130.
///
/// The first signal requests the returned [`Stop`]. Training ends after the current step, with a checkpoint. Work that is not
/// [registered](Stop::register), such as loading data, fitting a baseline or evaluating features, has nothing to save
/// and ends at once. So does a step of more than 1.5 seconds; its run can continue from the last checkpoint. Files that are
/// being written are completed first. A second signal, at least 0.3 seconds after the first, ends the process immediately.
///
/// # Errors
/// Returns an error if the signal handler cannot be installed.
pub fn stop_on_signals() -> Result<Stop, Error> {
    let stop = Stop::new();
    let handle = stop.clone();
    let first = OnceLock::new();
    ctrlc::set_handler(move || {
        let now = Instant::now();
        if first.set(now).is_err() {
            if first.get().is_some_and(|first| now.duration_since(*first) > SAME_REQUEST) {
                process::exit(INTERRUPTED);
            }
            return;
        }
        let stop = handle.clone();
        // Runs on its own thread, because the next signal is only delivered once this handler has returned.
        thread::spawn(move || end(&stop));
    })
    .map_err(|error| Error::Training(format!("cannot listen for signals: {error}")))?;
    Ok(stop)
}

/// Ends the process, unless registered work does so first.
fn end(stop: &Stop) {
    let registered = stop.has_registered_work();
    stop.request();
    if registered {
        notice::status("stopping after this step; press Ctrl-C again to stop immediately");
        thread::sleep(GRACE);
    }
    finish_critical_sections();
    // Work that is no longer registered has saved itself.
    let lost = if stop.has_registered_work() {
        format!(
            "; the current step takes more than {:.1} s and is not saved",
            GRACE.as_secs_f64()
        )
    } else {
        String::new()
    };
    let advice = stop.advice().map(|advice| format!("; {advice}")).unwrap_or_default();
    eprintln!("error: interrupted{lost}{advice}");
    process::exit(INTERRUPTED);
}
