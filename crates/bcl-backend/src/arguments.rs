//! Messages about the arguments of a program.

use bcl_files::{printable, printable_lines};
use std::{env, ffi::OsString, process};

/// Prints a message of clap, which is an error or the requested help, and exits with its exit code.
pub fn exit(error: &clap::Error) -> ! {
    let is_safe = |argument: OsString| printable(argument.to_string_lossy()) == argument.to_string_lossy();
    if env::args_os().all(is_safe) {
        error.exit()
    }
    // clap repeats arguments verbatim, and these would reach the terminal as control sequences.
    eprint!("{}", printable_lines(error.render()));
    process::exit(error.exit_code())
}
