//! `cargo xtask datasets list` and `cargo xtask datasets fetch NAME`.
//!
//! The way of a file: [`download`] fills `FILE.part` (resuming where it stopped), [`verify`] checks size and checksum,
//! only then it is renamed to `FILE`, and [`extract`] unpacks it beside itself. [`fetch`] puts these in order. Archives of images stay
//! packed: their readers take them as they are.

mod archive;
mod download;
mod error;
mod extract;
mod fetch;
mod part;
mod progress;
mod verify;

#[cfg(test)]
mod server;

use bcl_data::Manifest;
use clap::{Args, Subcommand};
use error::FetchError;
use fetch::{Fetcher, Item};
use std::path::PathBuf;
use std::process::ExitCode;

/// What to do with data sets.
#[derive(Subcommand)]
pub(crate) enum Verb {
    /// Lists the data sets and where each comes from.
    List,
    /// Downloads a data set into DIR/NAME, checks it and unpacks what is not read packed.
    Fetch(Fetch),
}

/// Which data set to download, from where, to where.
#[derive(Args)]
pub(crate) struct Fetch {
    /// Name of the data set, as `list` shows it.
    name: String,
    /// Folder that holds the data sets.
    #[arg(long, visible_alias = "data", default_value = "data")]
    dir: PathBuf,
    /// Folder of a mirror, to download from instead of the publisher.
    #[arg(long, value_name = "URL")]
    url_base: Option<String>,
}

/// Exit code 0 when done, 1 when the network or the disk failed, 2 for bad input.
pub(crate) fn run(verb: &Verb) -> ExitCode {
    let outcome = match verb {
        Verb::List => {
            list(Manifest::all());
            Ok(())
        }
        Verb::Fetch(fetch) => fetch.run(),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

fn list(manifests: &[Manifest]) {
    let width = manifests.iter().map(|manifest| manifest.name.len()).max().unwrap_or(0);
    for manifest in manifests {
        println!("{:width$}  {}", manifest.name, manifest.title);
        for source in &manifest.sources {
            println!("{:width$}  from {}", "", source.url);
        }
        if let Some(access) = &manifest.access {
            println!("{:width$}  {}", "", access.trim());
        }
    }
}

impl Fetch {
    fn run(&self) -> Result<(), FetchError> {
        let manifest = Manifest::find(&self.name)?;
        let folder = self.dir.join(&manifest.name);
        let fetcher = Fetcher::default();
        for source in &manifest.sources {
            fetcher.fetch(&Item::new(source, manifest.archive, self.url_base.as_deref()), &folder)?;
        }
        // Without sources there was nothing to download: the error says whom to ask, unless the files were put there by hand.
        if manifest.is_images() {
            manifest.locate_images(&self.dir)?;
        } else {
            manifest.locate(&self.dir)?;
        }
        println!("{} is ready; its terms: {}", manifest.name, manifest.licence);
        Ok(())
    }
}
