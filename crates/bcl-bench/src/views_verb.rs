//! The verb `bcl-bench views`: measures how fast random views are made.

use crate::input::{at_least_one, image_side};
use crate::output::Output;
use bcl_bench::views::{self, ViewsPlan};
use std::process::ExitCode;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Heights and widths of images and views in pixels, from 16 to 256.
    #[arg(long, num_args = 1.., default_values_t = [32, 96], value_parser = image_side)]
    side: Vec<usize>,
    /// Numbers of threads to compare; speed-ups are relative to the first.
    #[arg(long, num_args = 1.., default_values_t = [1, 2], value_parser = at_least_one)]
    threads: Vec<usize>,
    /// Images per batch, with two views each.
    #[arg(long, default_value_t = 256, value_parser = at_least_one)]
    batch: usize,
    /// Number of rounds; every number of threads runs in each.
    #[arg(long, default_value_t = 7, value_parser = at_least_one)]
    rounds: usize,
    /// Seconds per size and number of threads, over all rounds.
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    #[command(flatten)]
    output: Output,
}

pub(crate) fn run(arguments: Arguments) -> ExitCode {
    if let Err(code) = arguments.output.prepare() {
        return code;
    }
    let plan = ViewsPlan {
        sides: arguments.side,
        threads: arguments.threads,
        batch_size: arguments.batch,
        rounds: arguments.rounds,
        seconds: arguments.seconds,
    };
    let benchmark = views::run(&plan, |next| eprintln!("{next}"));
    arguments.output.write(&benchmark)
}
