//! The verb `bcl-bench search`: times exact search among vectors.

use crate::{Done, device_arguments::DeviceArguments, timing_verb};
use bcl_bench::{search::Vectors, timing::Plan};

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
    #[command(flatten)]
    timing: timing_verb::Arguments,
}

pub(crate) fn run(arguments: &Arguments) -> Done {
    let mut session = arguments.timing.start("search", &DeviceArguments::CPU)?;
    let threshold = arguments.threshold;
    session.benchmark.settings.insert("threshold".to_owned(), threshold.into());
    let plan = Plan::of_turns(arguments.rounds as usize, 1);
    for &dim in &arguments.dim {
        for &rows in &arguments.rows {
            let vectors = Vectors::random(rows as usize, dim as usize);
            session.add(vectors.neighbours().into(), &plan);
            session.add(vectors.duplicates(threshold).into(), &plan);
            let note = format!(
                "{rows} x {dim}: recall {:.4} at a cosine of {threshold}",
                vectors.recall(threshold)
            );
            session.benchmark.notes.push(note);
        }
    }
    session.finish()
}

fn cosine(text: &str) -> Result<f32, String> {
    let is_valid = |value: &f32| *value > 0.0 && *value <= 1.0;
    let valid = text.parse().ok().filter(is_valid);
    valid.ok_or_else(|| "it must be a number above 0 and at most 1, such as 0.98".to_owned())
}
