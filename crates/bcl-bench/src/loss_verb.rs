//! The verb `bcl-bench loss`: times losses, forward and backward, on in-batch scores.

use crate::{
    Done,
    device_arguments::DeviceArguments,
    input::{at_least_one, at_least_two, seconds},
    timing_verb,
};
use bcl_bench::{
    loss::{self, LossVariant},
    timing::Plan,
};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Batch sizes in samples.
    #[arg(long, num_args = 1.., default_values_t = [64, 128, 256, 512, 1024, 2048, 4096], value_parser = at_least_two)]
    batch: Vec<usize>,
    /// Losses to measure; ratios are to the first [default: all, InfoNCE first].
    #[arg(long, value_name = "NAME", num_args = 1.., value_parser = variant)]
    loss: Vec<LossVariant>,
    /// Number of rounds; every loss runs in each.
    #[arg(long, default_value_t = 5, value_parser = at_least_one)]
    rounds: usize,
    /// Embedding size.
    #[arg(long, default_value_t = 128, value_parser = at_least_one)]
    dim: usize,
    /// Seconds per loss and batch size; measures at least one step per round.
    #[arg(long, default_value_t = 1.5, value_parser = seconds)]
    seconds: f64,
    #[command(flatten)]
    device: DeviceArguments,
    #[command(flatten)]
    timing: timing_verb::Arguments,
}

pub(crate) fn run(arguments: &Arguments) -> Done {
    let mut session = arguments.timing.start("loss", &arguments.device)?;
    session.benchmark.settings.insert("dim".to_owned(), arguments.dim.into());
    let note = format!("Forward and backward on in-batch scores, {} dimensions.", arguments.dim);
    session.benchmark.notes.push(note);
    let plan = Plan::of_seconds(arguments.rounds, arguments.seconds);
    let variants = match &arguments.loss[..] {
        [] => LossVariant::all(),
        chosen => chosen.to_vec(),
    };
    let device = session.backend.training_device();
    for &batch in &arguments.batch {
        let cases = variants
            .iter()
            .map(|variant| loss::case(variant, batch, arguments.dim, &device));
        session.add(cases.collect(), &plan);
    }
    session.finish()
}

fn variant(name: &str) -> Result<LossVariant, String> {
    LossVariant::named(name).ok_or_else(|| {
        let names: Vec<_> = LossVariant::all().iter().map(LossVariant::name).collect();
        format!("must be one of {}", names.join(", "))
    })
}
