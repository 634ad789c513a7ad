//! The verb `bcl-bench kernels`: times kernels and their portable implementations.

use crate::{bad_input, input::at_least_one, output::Save};
use bcl_bench::{
    DeviceArguments,
    kernels::{self, KernelBenchmark, KernelPlan},
};
use clap::builder::PossibleValuesParser;
use std::{process::ExitCode, thread};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Kernels to measure [default: all].
    #[arg(long, value_name = "NAME", num_args = 1.., value_parser = PossibleValuesParser::new(kernels::names()))]
    kernel: Vec<String>,
    /// Number of threads for kernels on the CPU [default: all cores].
    #[arg(long, value_parser = at_least_one)]
    threads: Option<usize>,
    /// Seconds per kernel and size; measures at least one round.
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
    #[command(flatten)]
    device: DeviceArguments,
    #[command(flatten)]
    save: Save,
}

pub(crate) fn run(arguments: Arguments) -> ExitCode {
    if let Err(code) = arguments.save.prepare::<KernelBenchmark>() {
        return code;
    }
    let all_cores = || thread::available_parallelism().map_or(1, usize::from);
    let plan = KernelPlan {
        kernels: arguments.kernel,
        threads: arguments.threads.unwrap_or_else(all_cores),
        seconds: arguments.seconds,
    };
    if let Err(error) = rayon::ThreadPoolBuilder::new().num_threads(plan.threads).build_global() {
        return bad_input(&format!("cannot start {} threads: {error}", plan.threads));
    }
    let backend = match arguments.device.open() {
        Ok(backend) => backend,
        Err(error) => return bad_input(&error.to_string()),
    };
    let save = &arguments.save;
    let benchmark = kernels::run(&plan, &backend, |next| eprintln!("{next}"), |so_far| save.keep(so_far));
    save.write(&benchmark)
}
