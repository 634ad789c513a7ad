//! Project chores: `cargo xtask ci`, `cargo xtask tidy`, `cargo xtask gpu`.
//!
//! Written in Rust, so that they run wherever the project builds. Of the workspace, this crate depends only on
//! [`bcl_data`], without its downloads: it must build quickly, without Burn and without a TLS stack.

mod ci;
mod gpu;
mod root;
mod tidy;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "xtask", bin_name = "cargo xtask", about = "Project chores")]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Runs the CI checks in order until one fails.
    Ci(ci::Options),
    /// Checks what the compiler does not: dependencies between crates, module docs, machine-specific paths and more.
    Tidy,
    /// Tests and measures on a GPU: parity, timings of kernels, losses and steps, short trainings. Writes one table and one file.
    Gpu(gpu::Options),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().chore {
        Chore::Ci(options) => ci::run(&options),
        Chore::Tidy => tidy::run(),
        Chore::Gpu(options) => return gpu::run(&options),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("error: {}", bcl_data::printable_lines(format!("{error:#}")));
        ExitCode::FAILURE
    })
}
