//! The verb `bcl-bench gpu`, and the hidden verb with which it trains.

use crate::{bad_input, output::Folder};
use bcl_backend::Backend;
use bcl_bench::{
    DeviceArguments,
    gpu::{self, GpuPlan},
};
use bcl_collective::Alone;
use bcl_files::{critical_section, notice};
use bcl_files::{printable, printable_lines};
use bcl_train::{
    cli::Train,
    commands::{self, Earlier, Session, stop_on_signals},
    error::Error,
};
use std::{path::PathBuf, process::ExitCode, sync::Arc};

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

/// Returns exit code 0 if every part is done, skipped or stopped, 1 if one failed, 2 for bad input, 130 if interrupted.
pub(crate) fn run(arguments: Arguments) -> ExitCode {
    match measure(arguments) {
        Ok(_) if gpu::interrupted() => ExitCode::from(130),
        Ok(failed) => ExitCode::from(u8::from(failed)),
        Err(error) => bad_input(&error.to_string()),
    }
}

/// Returns whether a part failed.
fn measure(arguments: Arguments) -> Result<bool, Error> {
    let backend = arguments.device.open()?;
    let program = std::env::current_exe().map_err(Error::io("find", "this program"))?;
    let plan = GpuPlan {
        data: arguments.data,
        golden: arguments.golden,
        out: arguments.out.unwrap_or_else(|| arguments.folder.open().gpu(backend.name())),
        minutes: arguments.minutes,
    };
    let results = gpu::run(&plan, &backend, &program, |part| println!("{}", printable_lines(part)))?;
    println!("{}", printable_lines(&results));
    println!("full results: {}", printable(plan.out.display()));
    Ok(results.failed())
}

/// Trains as `bcl-train` does, but reports nothing in the terminal.
pub(crate) fn train(arguments: &Train) -> ExitCode {
    notice::set_quiet(true);
    let trained = || {
        let compute = &arguments.compute;
        let session = Session {
            earlier: Earlier::Keep,
            stop: stop_on_signals()?,
            backend: Backend::open(compute.backend, compute.device)?,
            data_dir: compute.data_dir().to_path_buf(),
            moved_data: None,
            out: arguments.out().to_path_buf(),
            quiet: true,
            json: false,
            ranks: Arc::new(Alone),
        };
        commands::train(&session, &arguments.load()?).map(drop)
    };
    let outcome: Result<(), Error> = trained();
    // From here on, a signal has nothing left to stop.
    let _ending = critical_section();
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}", printable_lines(&error));
            ExitCode::from(error.exit_code())
        }
    }
}

fn minutes(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(minutes) if (0.01..=1440.0).contains(&minutes) => Ok(minutes),
        _ => Err("must be a number of minutes from 0.01 to 1440".to_owned()),
    }
}
