//! Ctrl-C.

use crate::{error::Error, training::Stop};

/// Listens for Ctrl-C: the first ends the runs under way after their steps, with checkpoints; the second ends the process.
///
/// # Errors
/// When the system does not let us.
pub fn stop_on_ctrl_c() -> Result<Stop, Error> {
    let stop = Stop::new();
    let handle = stop.clone();
    ctrlc::set_handler(move || {
        if handle.should_stop() {
            std::process::exit(130);
        }
        eprintln!("stopping after this step; once more to stop at once");
        handle.stop(Some("Ctrl-C"));
    })
    .map_err(|error| Error::Training(format!("cannot listen for Ctrl-C: {error}")))?;
    Ok(stop)
}
