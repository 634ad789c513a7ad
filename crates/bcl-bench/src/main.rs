//! The `bcl-bench` program. The library lists its verbs.
//!
//! Exit codes: 0 success, 1 a comparison or a measurement failed, 2 bad input, 130 interrupted (to continue a `table`, run the
//! same command again).

mod device_arguments;
mod explore_verb;
mod gpu_verb;
mod input;
mod kernels_verb;
mod loss_verb;
mod output;
mod papers_verb;
mod parity_verb;
mod report_verb;
mod results_verb;
mod scale_verb;
mod search_verb;
mod simulate_verb;
mod step_verb;
mod table_verb;
mod timing_verb;

use bcl_backend::{device_failures, exit, prepare_process};
use bcl_files::{notice, refuse_full_output};
use clap::{Parser, Subcommand};
use std::{error::Error, fmt::Display, process::ExitCode};

/// How a verb ends: with an exit code, or with bad input, whose exit code is 2.
type Done = Result<ExitCode, Box<dyn Error>>;

/// Run the papers' experiments, compare with reference values, and measure speed.
#[derive(Parser)]
#[command(name = "bcl-bench", version)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Compare losses, gradients and weights with a file of reference values.
    Parity(parity_verb::Arguments),
    /// Measure the time of each kernel, compared with the same function composed of tensor operations.
    Kernels(kernels_verb::Arguments),
    /// Measure time and memory of every loss, forward and backward.
    Loss(loss_verb::Arguments),
    /// Measure the parts of an image encoder's training step, and the share of the loss.
    Step(Box<step_verb::Arguments>),
    /// Measure exact search among random vectors: neighbours and near-duplicates, beside a plain loop.
    Search(search_verb::Arguments),
    /// Measure the parts of a recommender's training step, and its evaluation, on generated interactions of any size.
    Scale(Box<scale_verb::Arguments>),
    /// Test and measure on a GPU within a time limit: parity, the quickstart, times of losses and steps (beside PyTorch, if it is installed),
    /// a profile by kernel, short trainings. Prints each part as soon as it ends, and writes one file.
    Gpu(gpu_verb::Arguments),
    /// Tune every estimator with the same budget, train it with several seeds, and compare: the papers' tables, or your own.
    Table(Box<table_verb::Arguments>),
    /// List every table and figure of the papers: the command that makes it, what it needs, and what was run.
    Papers(papers_verb::Arguments),
    /// Simulate the paper's numerical experiment: print tables, and write figures with their data.
    Simulate(Box<simulate_verb::Arguments>),
    /// Write a page with sliders that shows what the parameters of the Bayesian weights do.
    Explore(explore_verb::Arguments),
    /// Write all results in a folder to one self-contained HTML page.
    Report(report_verb::Arguments),
    /// List the times that other verbs (`--save`) and `cargo bench` saved, and compare old ones with new ones.
    Results(results_verb::Arguments),
}

fn main() -> ExitCode {
    // If the reader of standard output goes away, end quietly, as Unix programs do.
    sigpipe::reset();
    refuse_full_output();
    prepare_process();
    let verb = Arguments::try_parse().unwrap_or_else(|error| exit(&error)).verb;
    let end = |message: &dyn Display, code| {
        notice::error(message);
        ExitCode::from(code)
    };
    match device_failures(|| run(verb)) {
        Ok(done) => done.unwrap_or_else(|error| end(&error, 2)),
        Err(failure) => end(&failure, failure.exit_code()),
    }
}

fn run(verb: Verb) -> Done {
    match verb {
        Verb::Parity(arguments) => parity_verb::run(&arguments),
        Verb::Kernels(arguments) => kernels_verb::run(&arguments),
        Verb::Loss(arguments) => loss_verb::run(&arguments),
        Verb::Step(arguments) => step_verb::run(&arguments),
        Verb::Search(arguments) => search_verb::run(&arguments),
        Verb::Scale(arguments) => scale_verb::run(&arguments),
        Verb::Gpu(arguments) => gpu_verb::run(arguments),
        Verb::Table(arguments) => Ok(table_verb::run(&arguments)),
        Verb::Papers(arguments) => Ok(papers_verb::run(&arguments)),
        Verb::Simulate(arguments) => simulate_verb::run(&arguments),
        Verb::Explore(arguments) => explore_verb::run(&arguments),
        Verb::Report(arguments) => report_verb::run(&arguments),
        Verb::Results(arguments) => results_verb::run(&arguments),
    }
}
