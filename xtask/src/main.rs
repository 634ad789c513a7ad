//! Project chores: `cargo xtask ci`, `cargo xtask tidy`, `cargo xtask wasm`.
//!
//! Written in Rust, so that they run wherever the project builds. It must build quickly, so the only other crate of the
//! workspace it depends on is `fake-vulkan`, on Linux.

mod ci;
mod root;
mod tidy;
mod wasm;

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
    /// Compiles the weights explorer to WebAssembly, into the file that `bcl-bench` embeds.
    Wasm,
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().chore {
        Chore::Ci(options) => ci::run(&options),
        Chore::Tidy => tidy::run(),
        Chore::Wasm => wasm::run(),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}
