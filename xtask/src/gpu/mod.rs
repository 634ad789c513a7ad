//! `cargo xtask gpu`: tests and measures on a GPU, with one command and a time limit.
//!
//! Builds the programs with the backend, or takes prebuilt ones, and then runs parts one after the other, each with a share of the time:
//! the devices, parity with reference values, kernels, losses, a `LightGCN` epoch, steps of image encoders, a short training with its
//! probe. Time that a part does not use goes to the next. A part that exceeds its share is stopped and keeps its measurements so far; a
//! failed part does not stop the others. [`results`] turns the results into one table and one file.
//!
//! Nothing here computes: `bcl-train` and `bcl-bench` do.

mod backend;
mod finding;
mod job;
mod outcome;
mod part;
mod plan;
mod process;
mod programs;
mod results;
mod share;

use backend::{Backend, Device};
use job::JobFolder;
use outcome::{Outcome, State};
use part::Part;
use plan::Request;
use programs::Programs;
use results::Results;
use share::Shares;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// What to run, with what, and for how long.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The backend to compute on.
    #[arg(long, value_enum, default_value_t = Backend::usual())]
    backend: Backend,
    /// Folder with the data sets; parts whose data are missing are skipped.
    #[arg(long, value_name = "DIR", default_value = "data")]
    data: PathBuf,
    /// File of reference values for parity, described by `bcl-bench parity --help`; may be repeated.
    #[arg(long, value_name = "FILE")]
    golden: Vec<PathBuf>,
    /// Folder with `bcl-train` and `bcl-bench`, already built with the backend; skips the build.
    #[arg(long, value_name = "DIR")]
    programs: Option<PathBuf>,
    /// File to write [default: target/gpu/BACKEND.json]; logs and reports of the parts go to a folder beside it.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Minutes for all parts together, without the build.
    #[arg(long, default_value_t = 20.0, value_parser = minutes)]
    minutes: f64,
}

/// Returns exit code 0 if every part is done, skipped or stopped, 1 if one failed, 2 for bad input, 130 if interrupted.
pub(crate) fn run(options: &Options) -> ExitCode {
    match measure(options) {
        Ok(_) if process::interrupted() => ExitCode::from(130),
        Ok(results) => ExitCode::from(u8::from(results.failed())),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn measure(options: &Options) -> anyhow::Result<Results> {
    let out = options.out.clone().unwrap_or_else(|| options.backend.default_file());
    let job_folder = JobFolder::beside(&out)?;
    let mut results = Results::new(options.backend, options.minutes);
    results.write(&out)?;
    let programs = match &options.programs {
        Some(folder) => Programs::find(folder)?,
        None => Programs::build(options.backend)?,
    };
    process::listen_for_interrupts()?;

    let start = Instant::now();
    let end = start + Duration::from_secs_f64(60.0 * options.minutes);
    let mut shares = Shares::new(end, plan::MINUTES_OF_DEVICES + plan::MINUTES_OF_ALL_ELSE);
    let deadline = shares.next(Instant::now(), plan::MINUTES_OF_DEVICES);
    let mut outcome = plan::devices(&programs, options.backend).run(&job_folder, deadline);
    let device = Device::read(&mut outcome, options.backend);
    results.device.clone_from(&device);
    results.add(outcome, &out)?;

    let request = Request {
        backend: options.backend,
        data: &options.data,
        golden: &options.golden,
    };
    let parts = match &device {
        Some(device) => plan::parts(&programs, &request, device),
        None => plan::without_device(options.backend),
    };
    let mut shares = Shares::new(end, parts.iter().map(Part::weight).sum());
    for part in parts {
        let outcome = if process::interrupted() {
            Outcome::of_nothing(part.name, State::Skipped("interrupted".to_owned()))
        } else {
            let deadline = shares.next(Instant::now(), part.weight());
            part.run(&job_folder, deadline)
        };
        results.add(outcome, &out)?;
    }
    results.seconds = start.elapsed().as_secs_f64();
    results.write(&out)?;
    println!("{results}");
    println!("full results: {}", out.display());
    Ok(results)
}

fn minutes(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(minutes) if (0.01..=1440.0).contains(&minutes) => Ok(minutes),
        _ => Err("must be a number of minutes from 0.01 to 1440".to_owned()),
    }
}
