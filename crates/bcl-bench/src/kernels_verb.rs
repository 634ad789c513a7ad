//! The verb `bcl-bench kernels`: times kernels and their portable implementations.

use crate::{Done, device_arguments::DeviceArguments, timing_verb};
use bcl_bench::{kernels, timing::Plan};
use clap::builder::PossibleValuesParser;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Kernels to measure [default: all].
    #[arg(long, value_name = "NAME", num_args = 1.., value_parser = PossibleValuesParser::new(kernels::names()))]
    kernel: Vec<String>,
    /// Measure only sizes that contain this text, such as `[64, 64, 3, 3]`.
    #[arg(long, value_name = "TEXT")]
    size: Option<String>,
    /// Seconds per implementation and size, over five rounds.
    #[arg(long, default_value_t = 0.5)]
    seconds: f64,
    #[command(flatten)]
    device: DeviceArguments,
    #[command(flatten)]
    timing: timing_verb::Arguments,
}

pub(crate) fn run(arguments: &Arguments) -> Done {
    let mut session = arguments.timing.start("kernels", &arguments.device)?;
    let plan = Plan::of_seconds(5, arguments.seconds);
    let device = session.backend.training_device();
    let mut cases = kernels::cases();
    cases.retain(|case| arguments.kernel.is_empty() || arguments.kernel.iter().any(|name| name == case.kernel));
    cases.retain(|case| arguments.size.as_ref().is_none_or(|size| case.size.contains(size)));
    if cases.iter().any(|case| case.operations.is_some()) {
        session.add(vec![kernels::matrix_product(&device)], &plan);
        let note =
            "Rates count operations as defined, so an algorithm with fewer multiplications exceeds what the device can do.";
        session.benchmark.notes.push(note.to_owned());
    }
    for case in cases {
        session.add(case.group(&device), &plan);
    }
    session.finish()
}
