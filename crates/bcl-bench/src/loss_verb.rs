//! The verb `bcl-bench loss`, and the hidden verb that takes its measurements.

use crate::{
    bad_input,
    input::{at_least_one, at_least_two},
    output::{Save, failure},
};
use bcl_bench::{
    DeviceArguments,
    loss::{self, LossBenchmark, LossPlan, LossVariant, Sample},
};
use std::{process::ExitCode, thread};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Batch sizes in samples.
    #[arg(long, num_args = 1.., default_values_t = [64, 128, 256, 512, 1024, 2048, 4096], value_parser = at_least_two)]
    batch: Vec<usize>,
    /// Losses to measure [default: all].
    #[arg(long, value_name = "NAME", num_args = 1.., value_parser = variant)]
    loss: Vec<LossVariant>,
    /// Number of rounds; every loss runs in each.
    #[arg(long, default_value_t = 5, value_parser = at_least_one)]
    rounds: usize,
    /// Embedding size.
    #[arg(long, default_value_t = 128, value_parser = at_least_one)]
    dim: usize,
    /// Number of threads of a measurement [default: all cores].
    #[arg(long, value_parser = at_least_one)]
    threads: Option<usize>,
    /// Seconds per loss and batch size; measures at least one step per round.
    #[arg(long, default_value_t = 1.5)]
    seconds: f64,
    #[command(flatten)]
    device: DeviceArguments,
    #[command(flatten)]
    save: Save,
}

#[derive(clap::Args)]
pub(crate) struct SampleArguments {
    #[arg(long, value_parser = variant)]
    variant: LossVariant,
    #[arg(long, value_parser = at_least_two)]
    batch: usize,
    #[arg(long, value_parser = at_least_one)]
    dim: usize,
    #[arg(long)]
    seconds: f64,
    #[command(flatten)]
    device: DeviceArguments,
}

pub(crate) fn run(arguments: Arguments) -> ExitCode {
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => return failure(&format!("cannot find the path of this program: {error}")),
    };
    let all_cores = || thread::available_parallelism().map_or(1, usize::from);
    let plan = LossPlan {
        batch_sizes: arguments.batch,
        variants: if arguments.loss.is_empty() {
            LossVariant::all()
        } else {
            arguments.loss
        },
        rounds: arguments.rounds,
        dim: arguments.dim,
        threads: arguments.threads.unwrap_or_else(all_cores),
        seconds: arguments.seconds,
    };
    if let Err(code) = arguments.save.prepare::<LossBenchmark>() {
        return code;
    }
    let backend = match arguments.device.open() {
        Ok(backend) => backend,
        Err(error) => return bad_input(&error.to_string()),
    };
    let save = &arguments.save;
    let benchmark = loss::run(
        &plan,
        &backend,
        &program,
        |next| eprintln!("{next}"),
        |so_far| save.keep(so_far),
    );
    let written = save.write(&benchmark);
    if benchmark.failed() { ExitCode::from(1) } else { written }
}

pub(crate) fn sample(arguments: &SampleArguments) -> ExitCode {
    let backend = match arguments.device.open() {
        Ok(backend) => backend,
        Err(error) => return bad_input(&error.to_string()),
    };
    let sample = Sample::measure(
        &arguments.variant,
        arguments.batch,
        arguments.dim,
        arguments.seconds,
        &backend,
    );
    println!("{}", serde_json::to_string(&sample).expect("a sample is plain data"));
    ExitCode::SUCCESS
}

fn variant(name: &str) -> Result<LossVariant, String> {
    LossVariant::named(name).ok_or_else(|| {
        let names: Vec<_> = LossVariant::all().iter().map(LossVariant::name).collect();
        format!("must be one of {}", names.join(", "))
    })
}
