//! The verb `bcl-bench kernels`: times kernels and their portable implementations.

use crate::{Done, device_arguments::DeviceArguments, input::seconds, timing_verb};
use bcl_bench::{
    kernels::{self, KernelCase},
    timing::Plan,
};
use clap::builder::PossibleValuesParser;
use std::collections::BTreeSet;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Kernels to measure [default: all].
    #[arg(long, value_name = "NAME", num_args = 1.., value_parser = PossibleValuesParser::new(kernels::names()))]
    kernel: Vec<String>,
    /// Measure only sizes that contain this text, such as `[64, 64, 3, 3]`.
    #[arg(long, value_name = "TEXT")]
    size: Option<String>,
    /// Seconds per implementation and size, over five rounds.
    #[arg(long, default_value_t = 0.5, value_parser = seconds)]
    seconds: f64,
    #[command(flatten)]
    device: DeviceArguments,
    #[command(flatten)]
    timing: timing_verb::Arguments,
}

pub(crate) fn run(arguments: &Arguments) -> Done {
    let cases = arguments.cases()?;
    let mut session = arguments.timing.start("kernels", &arguments.device)?;
    let plan = Plan::of_seconds(5, arguments.seconds);
    let device = session.backend.training_device();
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

impl Arguments {
    /// The cases to measure.
    fn cases(&self) -> Result<Vec<KernelCase>, String> {
        let mut cases = kernels::cases();
        cases.retain(|case| self.kernel.is_empty() || self.kernel.iter().any(|name| name == case.kernel));
        let Some(size) = &self.size else { return Ok(cases) };
        let (chosen, others): (Vec<_>, Vec<_>) = cases.into_iter().partition(|case| case.size.contains(size));
        if chosen.is_empty() {
            let sizes: BTreeSet<String> = others.into_iter().map(|case| case.size).collect();
            let sizes = sizes.into_iter().collect::<Vec<_>>().join("; ");
            return Err(format!("--size {size}: no size contains this text; the sizes are {sizes}"));
        }
        Ok(chosen)
    }
}
