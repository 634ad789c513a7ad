//! The verb `bcl-bench explore`: writes the weights explorer to a page.

use crate::Done;
use bcl_bench::explorer::{Settings, page};
use bcl_files::printable;
use bcl_files::{refuse_overwriting, write_whole};
use std::{path::PathBuf, process::ExitCode};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// HTML page to write; an existing page is replaced.
    #[arg(long, value_name = "FILE", default_value = "explore.html")]
    out: PathBuf,
    /// Separation α that the page begins with, from 0.5 to 1.
    #[arg(long, default_value_t = Settings::default().alpha)]
    alpha: f64,
    /// Hardness β, from 0 to 1.
    #[arg(long, default_value_t = Settings::default().beta)]
    beta: f64,
    /// Prior τ+ of a false negative, from 0 to below 1.
    #[arg(long, default_value_t = Settings::default().tau_plus)]
    tau_plus: f64,
    /// Number of negatives N, from 1 to 4096.
    #[arg(long, default_value_t = Settings::default().num_negatives)]
    negatives: usize,
    /// Temperature t, from 0.05 to 2.
    #[arg(long, default_value_t = Settings::default().temperature)]
    temperature: f64,
}

pub(crate) fn run(arguments: &Arguments) -> Done {
    refuse_overwriting("--out", &arguments.out, &["html", "htm"])?;
    let settings = Settings {
        alpha: arguments.alpha,
        beta: arguments.beta,
        tau_plus: arguments.tau_plus,
        num_negatives: arguments.negatives,
        temperature: arguments.temperature,
    };
    let page = page(&settings).map_err(|error| format!("--{}", error.to_string().replace("tau_plus", "tau-plus")))?;
    write_whole(&arguments.out, page.as_bytes())?;
    println!("{}", printable(arguments.out.display()));
    Ok(ExitCode::SUCCESS)
}
