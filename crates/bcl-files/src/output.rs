//! Handles a full disk behind standard output.

use crate::notice;
use std::{panic, process};

/// Makes the program end with a one-line error and exit code 2 if standard output cannot be written, where `println!` panics.
pub fn refuse_full_output() {
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |info| match info.payload_as_str() {
        Some(text) if text.starts_with("failed printing to stdout") => {
            notice::error(format_args!("{text}; free some space, or redirect the output elsewhere"));
            process::exit(2);
        }
        _ => report(info),
    }));
}
