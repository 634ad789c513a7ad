//! Ctrl-C and the other signals that ask a process to end: SIGINT, SIGTERM and SIGHUP, all alike.

use crate::{error::Error, notice, training::Stop};
use bcl_report::files::close;
use std::{
    process,
    sync::OnceLock,
    thread,
    time::{Duration, Instant},
};

/// How long attended work has to save itself, from the signal on.
const GRACE: Duration = Duration::from_millis(1500);

/// Signals this close to the first are the same request: GNU `timeout` and shells signal both the process and its group.
const SAME_REQUEST: Duration = Duration::from_millis(300);

/// The exit code of an interrupted command.
const INTERRUPTED: i32 = 130;

/// Listens for SIGINT (Ctrl-C), SIGTERM and SIGHUP; the process ends within about two seconds, with exit code 130.
///
/// The first signal requests the returned [`Stop`]. Training ends after the step under way, with a checkpoint. Work that does not
/// [attend](Stop::attend) to the handle, such as loading data, fitting a baseline or judging features, has nothing to save and ends at
/// once; so does a step that takes longer than a second and a half, whose run goes on from its last checkpoint. Files that are being written are
/// completed before the process ends. A second signal, a third of a second later or more, ends it without any
/// waiting.
///
/// # Errors
/// When the system does not let the process listen.
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
        // In a thread of its own, since the next signal is only delivered once this handler has returned.
        thread::spawn(move || end(&stop));
    })
    .map_err(|error| Error::Training(format!("cannot listen for signals: {error}")))?;
    Ok(stop)
}

/// Ends the process, unless attended work does so first.
fn end(stop: &Stop) {
    let attended = stop.is_attended();
    stop.request();
    if attended {
        notice::status("stopping after this step; once more to stop at once");
        thread::sleep(GRACE);
    }
    close();
    // Work that has ended its attention since then has saved itself.
    let lost = if stop.is_attended() {
        format!(
            "; the step under way takes more than {:.1} s and is not saved",
            GRACE.as_secs_f64()
        )
    } else {
        String::new()
    };
    let advice = stop.advice().map(|advice| format!("; {advice}")).unwrap_or_default();
    eprintln!("error: interrupted{lost}{advice}");
    process::exit(INTERRUPTED);
}
