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
    #[command(flatten)]
    settings: Settings,
}

pub(crate) fn run(arguments: &Arguments) -> Done {
    refuse_overwriting("--out", &arguments.out, &["html", "htm"])?;
    let page = page(&arguments.settings).map_err(|error| format!("--{}", error.to_string().replace("tau_plus", "tau-plus")))?;
    write_whole(&arguments.out, page.as_bytes())?;
    println!("{}", printable(arguments.out.display()));
    Ok(ExitCode::SUCCESS)
}
