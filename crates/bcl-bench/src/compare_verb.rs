//! The verb `bcl-bench compare`: compares old times with new ones.

use crate::{
    bad_input,
    output::{Output, failure},
};
use bcl_bench::{compare::Comparison, results::Results};
use bcl_data::printable;
use std::{path::PathBuf, process::ExitCode};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Old measurement: a file written by `kernels`, `loss`, `views` or `step` with `--json`, or by `gather`.
    old: PathBuf,
    /// New measurement, from the same verb.
    new: PathBuf,
    /// Exit with code 1 if anything takes more than RATIO times as long as before; if the ratio has an interval, all of it must
    /// be above RATIO.
    #[arg(long, value_name = "RATIO", value_parser = factor)]
    fail_above: Option<f64>,
    #[command(flatten)]
    output: Output,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let paths = [&arguments.old, &arguments.new].map(PathBuf::as_path);
    let read = || Comparison::new(paths, &Results::read(paths[0])?, &Results::read(paths[1])?);
    let comparison = match read() {
        Ok(comparison) => comparison,
        Err(error) => return bad_input(&error.to_string()),
    };
    if let Err(code) = arguments.output.prepare() {
        return code;
    }
    for difference in &comparison.differences {
        eprintln!(
            "warning: {}: the ratios do not depend on the code alone",
            printable(difference)
        );
    }
    let written = arguments.output.write(&comparison);
    let Some(factor) = arguments.fail_above else {
        return written;
    };
    let slower: Vec<&str> = comparison.above(factor).iter().map(|pair| pair.name.as_str()).collect();
    if slower.is_empty() {
        return written;
    }
    failure(&format!("more than {factor} times as long as before: {}", slower.join("; ")))
}

fn factor(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|factor: &f64| factor.is_finite() && *factor > 0.0);
    number.ok_or_else(|| "must be a number above 0, such as 1.2".to_owned())
}
