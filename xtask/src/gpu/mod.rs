//! `cargo xtask gpu`: everything worth doing on a GPU, in one command and a given time.
//!
//! Programs are built with the backend, or taken as they are; then parts run one after the other, each with a share of the time: the
//! devices, parity with reference values, kernels, losses, a `LightGCN` epoch, steps of image encoders, a short training with its probe.
//! What one part does not need is the next one's. A part that is over its share is stopped, and keeps what it has measured until then; one
//! that fails does not keep the others from running. [`report`] makes one table and one file of it all.
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
mod report;
mod share;

use backend::{Backend, Device};
use job::Desk;
use outcome::{Outcome, State};
use part::Part;
use plan::Wishes;
use programs::Programs;
use report::Report;
use share::Shares;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// What to run, with what, and for how long.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// What computes.
    #[arg(long, value_enum, default_value_t = Backend::usual())]
    backend: Backend,
    /// Folder that holds the data sets; parts whose data are not there are skipped.
    #[arg(long, value_name = "DIR", default_value = "data")]
    data: PathBuf,
    /// A file of reference values for parity, as `bcl-bench parity --help` describes it; may be repeated.
    #[arg(long, value_name = "FILE")]
    golden: Vec<PathBuf>,
    /// Folder with `bcl-train` and `bcl-bench`, built with the backend elsewhere: builds nothing.
    #[arg(long, value_name = "DIR")]
    programs: Option<PathBuf>,
    /// The file to write [default: target/gpu/BACKEND.json]; what the parts leave behind lies in a folder beside it.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Minutes that the parts share; building does not count.
    #[arg(long, default_value_t = 20.0, value_parser = minutes)]
    minutes: f64,
}

/// Exit code 0 when every part is done, skipped or stopped, 1 when one failed, 2 for bad input, 130 when interrupted.
pub(crate) fn run(options: &Options) -> ExitCode {
    match measure(options) {
        Ok(_) if process::interrupted() => ExitCode::from(130),
        Ok(report) => ExitCode::from(u8::from(report.failed())),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn measure(options: &Options) -> anyhow::Result<Report> {
    let out = options.out.clone().unwrap_or_else(|| options.backend.default_file());
    let desk = Desk::beside(&out)?;
    let mut report = Report::new(options.backend, options.minutes);
    report.write(&out)?;
    let programs = match &options.programs {
        Some(folder) => Programs::find(folder)?,
        None => Programs::build(options.backend)?,
    };
    process::listen_for_interrupts()?;

    let start = Instant::now();
    let end = start + Duration::from_secs_f64(60.0 * options.minutes);
    let mut shares = Shares::new(end, plan::MINUTES_OF_DEVICES + plan::MINUTES_OF_ALL_ELSE);
    let deadline = shares.next(Instant::now(), plan::MINUTES_OF_DEVICES);
    let mut outcome = plan::devices(&programs, options.backend).run(&desk, deadline);
    let device = Device::read(&mut outcome, options.backend);
    report.device.clone_from(&device);
    report.add(outcome, &out)?;

    let wishes = Wishes {
        backend: options.backend,
        data: &options.data,
        golden: &options.golden,
    };
    let parts = match &device {
        Some(device) => plan::parts(&programs, &wishes, device),
        None => plan::without_device(options.backend),
    };
    let mut shares = Shares::new(end, parts.iter().map(Part::weight).sum());
    for part in parts {
        let outcome = if process::interrupted() {
            Outcome::of_nothing(part.name, State::Skipped("interrupted".to_owned()))
        } else {
            let deadline = shares.next(Instant::now(), part.weight());
            part.run(&desk, deadline)
        };
        report.add(outcome, &out)?;
    }
    report.seconds = start.elapsed().as_secs_f64();
    report.write(&out)?;
    println!("{report}");
    println!("{} holds everything", out.display());
    Ok(report)
}

fn minutes(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(minutes) if (0.01..=1440.0).contains(&minutes) => Ok(minutes),
        _ => Err("must be a number of minutes from 0.01 to 1440".to_owned()),
    }
}
