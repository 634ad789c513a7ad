//! The verb `bcl-bench gpu`: tests and measures everything on a GPU within a time limit.

use crate::{Done, device_arguments::DeviceArguments, timing_verb::Folder};
use bcl_bench::gpu::{self, GpuPlan};
use bcl_files::{printable, printable_lines, refuse_input, refuse_overwriting};
use std::{
    path::PathBuf,
    process::ExitCode,
    sync::atomic::{AtomicBool, Ordering},
};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    device: DeviceArguments,
    /// Folder with the data sets; parts whose data are missing are skipped.
    #[arg(long, value_name = "DIR", default_value = "data")]
    data: PathBuf,
    /// File of reference values for parity, described by `bcl-bench parity --help`; may be repeated.
    #[arg(long, value_name = "FILE")]
    golden: Vec<PathBuf>,
    /// File to write; logs and results of the parts go to a folder beside it [default: gpu/BACKEND.json in the folder of results].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    folder: Folder,
    /// Minutes for all parts together.
    #[arg(long, default_value_t = 10.0, value_parser = minutes)]
    minutes: f64,
}

/// Set by Ctrl-C.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Returns exit code 0 if every part is done, skipped or stopped, 1 if one failed, 2 for bad input, 130 if interrupted.
pub(crate) fn run(arguments: Arguments) -> Done {
    let backend = arguments.device.open()?;
    let program = std::env::current_exe().map_err(|error| format!("cannot find this program: {error}"))?;
    let plan = GpuPlan {
        data: arguments.data,
        golden: arguments.golden,
        out: arguments.out.unwrap_or_else(|| arguments.folder.open().gpu(backend.name())),
        minutes: arguments.minutes,
    };
    refuse_overwriting("--out", &plan.out, &["json"])?;
    refuse_input("--out", &plan.out, plan.golden.iter().map(PathBuf::as_path))?;
    ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::Relaxed))
        .map_err(|error| format!("cannot listen for Ctrl-C: {error}"))?;
    let finished = |part: &gpu::Outcome| println!("{}", printable_lines(part));
    let results = gpu::run(&plan, &backend, &program, &INTERRUPTED, finished)?;
    println!("{}", printable_lines(&results));
    println!("full results: {}", printable(plan.out.display()));
    Ok(match results.failed() {
        _ if INTERRUPTED.load(Ordering::Relaxed) => ExitCode::from(130),
        failed => ExitCode::from(u8::from(failed)),
    })
}

fn minutes(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(minutes) if (0.01..=1440.0).contains(&minutes) => Ok(minutes),
        _ => Err("must be a number of minutes from 0.01 to 1440".to_owned()),
    }
}
