//! Standard output that takes no more.

use std::{panic, process};

/// Ends the program with one line and exit code 2 where a full disk takes no more of standard output; `println!` panics there.
pub fn refuse_full_output() {
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |info| match info.payload_as_str() {
        Some(text) if text.starts_with("failed printing to stdout") => {
            eprintln!("error: {text}; free some space, or send the output elsewhere");
            process::exit(2);
        }
        _ => report(info),
    }));
}
