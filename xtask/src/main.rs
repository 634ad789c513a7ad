//! Project chores: `cargo xtask ci`, `cargo xtask tidy`, `cargo xtask gpu`.
//!
//! Written in Rust, so that they run wherever the project builds. This crate knows [`bcl_data`] without its downloads
//! and nothing else of ours: it must never wait for Burn, nor for a TLS stack, to compile.

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
    /// Runs every check of the continuous integration, in order, until one fails.
    Ci(ci::Options),
    /// Checks what the compiler does not: arrows between crates, module docs, machine paths and more.
    Tidy,
    /// Runs everything worth doing on a GPU: parity, timings of kernels, losses and steps, short trainings; one table, one file.
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
