//! The end of a command: all processes end together, or one of them ends all.

use super::collective;
use crate::error::Error;
use bcl_collective::Launched;
use bcl_files::notice;
use std::{process::ExitCode, thread, time::Duration};

/// The exit code of a panic.
const PANICKED: i32 = 101;

/// How long to wait with a launcher that ends all processes once one has failed: the first must have printed its error by then.
const FIRST_PRINTS: Duration = Duration::from_secs(1);

/// Prints the error that ended a command, and ends with the other processes, if there are any. Returns the exit code.
///
/// All processes mostly fail alike, such as with a misspelt key, so process 0 speaks for all. A process that fails alone says so, and ends the
/// others, which would wait for it for ever.
pub fn end(outcome: Result<(), Error>) -> ExitCode {
    end_saying(outcome, ToString::to_string)
}

/// As [`end`], with `message` in the words of the command.
pub fn end_saying(outcome: Result<(), Error>, message: impl Fn(&Error) -> String) -> ExitCode {
    let code = outcome.as_ref().map_or_else(Error::exit_code, |()| 0);
    #[cfg(feature = "mpi")]
    if let Some(mpi) = super::join::mpi() {
        together::end(mpi, &outcome, code, message);
        return ExitCode::from(code);
    }
    let Err(error) = outcome else {
        return ExitCode::SUCCESS;
    };
    if Launched::from_environment().is_none_or(|launched| launched.is_first()) {
        notice::error(message(&error));
    } else {
        thread::sleep(FIRST_PRINTS);
    }
    ExitCode::from(code)
}

#[cfg(feature = "mpi")]
mod together {
    use super::{Duration, Error, notice};
    use bcl_collective::{Collective, Mpi};
    use std::process;

    /// How long a process that failed waits for the others to fail, too.
    const FAIL_ALIKE: Duration = Duration::from_secs(5);
    /// How long a process that is interrupted, or follows process 0, waits for the others: process 0 may still write the checkpoint.
    const CHECKPOINT: Duration = Duration::from_mins(2);

    pub(super) fn end(mpi: &Mpi, outcome: &Result<(), Error>, code: u8, message: impl Fn(&Error) -> String) {
        let patience = match outcome {
            Ok(()) => None,
            Err(Error::Interrupted(_) | Error::OfFirstProcess { .. }) => Some(CHECKPOINT),
            Err(_) => Some(FAIL_ALIKE),
        };
        if let (Err(error), 0) = (outcome, mpi.index()) {
            notice::error(message(error));
        }
        let codes = mpi.end(code, patience);
        let first_failed = codes.as_ref().is_some_and(|codes| codes[0] != 0);
        if let (Err(error), false, 1..) = (outcome, first_failed, mpi.index()) {
            notice::error(format_args!("process {}: {}", mpi.index(), message(error)));
        }
        if codes.is_none() {
            process::exit(code.into());
        }
    }
}

/// Ends all processes if the thread that holds it panics.
#[derive(Debug)]
#[must_use = "it guards only while it lives"]
pub struct AbortOnPanic;

impl Drop for AbortOnPanic {
    fn drop(&mut self) {
        let collective = collective();
        if thread::panicking() && collective.size() > 1 {
            notice::error(format_args!(
                "process {} has panicked, which ends all {}",
                collective.index(),
                collective.size()
            ));
            collective.abort(PANICKED);
        }
    }
}
