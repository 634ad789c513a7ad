//! The verb `bcl-bench gather`: gathers several results in one file.

use crate::{bad_input, output::Output};
use bcl_bench::results::{Results, ResultsError};
use bcl_data::printable;
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Measurements to gather: files written by `kernels`, `loss`, `views` or `step` with `--json`, or the folder of `cargo
    /// bench`, target/criterion.
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<PathBuf>,
    /// Baselines to read from criterion, as named with `cargo bench -- --save-baseline NAME`; each is one round. `new` is the
    /// latest run.
    #[arg(long, value_name = "NAME", num_args = 1.., default_value = "new")]
    baseline: Vec<String>,
    #[command(flatten)]
    output: Output,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let read = |path: &PathBuf| read(path.as_path(), &arguments.baseline);
    let sources: Result<Vec<_>, _> = arguments.sources.iter().map(read).collect();
    let gathered = match sources.and_then(|sources| Results::gather(sources.into_iter().flatten().collect())) {
        Ok(gathered) => gathered,
        Err(error) => return bad_input(&error.to_string()),
    };
    if let Err(code) = arguments.output.prepare() {
        return code;
    }
    for warning in &gathered.warnings {
        eprintln!("warning: {}", printable(warning));
    }
    arguments.output.write(&gathered.results)
}

/// Reads a file as one source, or a folder of criterion as one source per baseline.
fn read(path: &Path, baselines: &[String]) -> Result<Vec<(PathBuf, Results)>, ResultsError> {
    let read_baseline = |name: &String| Ok((path.join(name), Results::of_criterion(path, name)?));
    if path.is_dir() {
        baselines.iter().map(read_baseline).collect()
    } else {
        Ok(vec![(path.into(), Results::read(path)?)])
    }
}
