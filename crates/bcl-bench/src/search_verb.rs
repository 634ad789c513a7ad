//! The verb `bcl-bench search`: times exact search among vectors.

use crate::{bad_input, output::Output};
use bcl_bench::search::{self, SearchPlan};
use std::{process::ExitCode, thread};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Numbers of vectors, from 100 to 10000000.
    #[arg(long, value_name = "N", num_args = 1.., default_value = "100000", value_parser = clap::value_parser!(u32).range(100..=10_000_000))]
    rows: Vec<u32>,
    /// Numbers of values per vector, from 1 to 4096.
    #[arg(long, value_name = "N", num_args = 1.., default_values_t = [64, 512], value_parser = clap::value_parser!(u32).range(1..=4096))]
    dim: Vec<u32>,
    /// Cosine from which two vectors are near-duplicates, above 0 and at most 1.
    #[arg(long, default_value_t = 0.98, value_parser = cosine)]
    threshold: f32,
    /// Number of rounds, from 1 to 100.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,
    /// Number of threads, from 1 to 1024 [default: all cores].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1024))]
    threads: Option<u32>,
    #[command(flatten)]
    output: Output,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    if let Err(code) = arguments.output.prepare() {
        return code;
    }
    let all_cores = || thread::available_parallelism().map_or(1, usize::from);
    let threads = arguments.threads.map_or_else(all_cores, |threads| threads as usize);
    if let Err(error) = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global() {
        return bad_input(&format!("cannot start {threads} threads: {error}"));
    }
    let sizes = |sizes: &[u32]| sizes.iter().map(|&size| size as usize).collect();
    let plan = SearchPlan {
        rows: sizes(&arguments.rows),
        dims: sizes(&arguments.dim),
        threshold: arguments.threshold,
        rounds: arguments.rounds as usize,
        threads,
    };
    arguments.output.write(&search::run(&plan, |next| eprintln!("{next}")))
}

fn cosine(text: &str) -> Result<f32, String> {
    let is_valid = |value: &f32| *value > 0.0 && *value <= 1.0;
    let valid = text.parse().ok().filter(is_valid);
    valid.ok_or_else(|| "it must be a number above 0 and at most 1, such as 0.98".to_owned())
}
