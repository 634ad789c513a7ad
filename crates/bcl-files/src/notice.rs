//! Messages to the user other than results and errors: warnings, notes and status lines, all on stderr.
//!
//! | to say | call | it prints |
//! | --- | --- | --- |
//! | that a result may not be what the user expects | [`warn`] | `warning: …`, once per text and process |
//! | that something was skipped or chosen | [`note`] | `note: …`, once per text and process |
//! | what is being done | [`status`] | the text, unchanged |
//! | an error | [`error`] | `error: …`, also when silent |
//! | anything else that is never silent | [`line()`] | the text, unchanged |
//! | that long work is still alive | [`working`] | the text every ten seconds |
//!
//! `--quiet` silences all of them through [`set_quiet`]; errors are printed by `main` and never silenced. Control characters in
//! a text are escaped, so that ids from data files cannot send commands to the terminal. Put the decision whether to warn into
//! a function that returns the text, so that a test can check it; only the caller of that function calls [`warn`].
//!
//! ```
//! use bcl_files::notice;
//!
//! notice::warn("training.precision is \"f16\", which is slow on the CPU; set it to \"f32\"");
//! ```

mod working;

pub use working::{Working, working, working_with_updates};

use crate::printable_lines;
use std::{
    collections::BTreeSet,
    fmt::Display,
    io::{self, Write},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

static QUIET: AtomicBool = AtomicBool::new(false);

/// Warnings and notes printed so far. Without this, the runs of one command would repeat them.
static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Silences or restores everything in this module, for the whole process.
pub fn set_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

/// Whether [`set_quiet`] silenced this module.
pub fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Prints `warning: TEXT`, unless this process has already printed it. The text names the setting, the consequence and the
/// remedy.
pub fn warn(text: impl Display) {
    once(format!("warning: {text}"));
}

/// Prints `note: TEXT`, unless this process has already printed it.
pub fn note(text: impl Display) {
    once(format!("note: {text}"));
}

/// Prints a line unchanged, on every call.
pub fn status(text: impl Display) {
    if !is_quiet() {
        line(printable_lines(text));
    }
}

/// Prints `error: TEXT`, even if this module is silent.
pub fn error(text: impl Display) {
    line(printable_lines(format_args!("error: {text}")));
}

/// Prints a line to standard error, even if this module is silent. If it cannot be written, because a disk is full or a terminal has gone,
/// the program goes on, where `eprintln!` would panic.
pub fn line(text: impl Display) {
    // Whoever could read about it is not there.
    let _ = writeln!(io::stderr(), "{text}");
}

fn once(text: String) {
    if !is_quiet() && SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(text.clone()) {
        line(printable_lines(&text));
    }
}
