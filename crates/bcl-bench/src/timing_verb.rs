//! What all verbs that time have in common: threads, progress, and where results are saved.

use crate::{Done, device_arguments::DeviceArguments, input::at_least_one, output::print};
use bcl_backend::Backend;
use bcl_bench::timing::{Benchmark, Case, Plan, ResultsFolder, measure};
use bcl_files::{FileError, create_folder, notice, printable};
use std::{
    error::Error,
    fs::{self, File},
    path::PathBuf,
    process::ExitCode,
    thread,
};

/// The folder of saved results.
#[derive(clap::Args)]
pub(crate) struct Folder {
    /// Folder of saved results [default: bench in the target folder].
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,
}

impl Folder {
    pub(crate) fn open(&self) -> ResultsFolder {
        ResultsFolder::new(self.results.as_deref())
    }
}

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Number of threads [default: all cores].
    #[arg(long, value_parser = at_least_one)]
    threads: Option<usize>,
    /// Save the results under this name; `bcl-bench results` lists and compares them.
    #[arg(long, value_name = "NAME", value_parser = saved_name)]
    save: Option<String>,
    #[command(flatten)]
    folder: Folder,
}

/// A benchmark under way.
pub(crate) struct Session<'a> {
    arguments: &'a Arguments,
    pub(crate) benchmark: Benchmark,
    pub(crate) backend: Backend,
}

impl Arguments {
    /// Checks that the results can be saved, before minutes of measuring, starts threads and opens the device.
    pub(crate) fn start(&self, verb: &str, device: &DeviceArguments) -> Result<Session<'_>, Box<dyn Error>> {
        self.prepare(verb)?;
        let all_cores = || thread::available_parallelism().map_or(1, usize::from);
        let threads = self.threads.unwrap_or_else(all_cores);
        // A program with another backend may take over, so threads start after that.
        let backend = device.open()?;
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build_global()
            .map_err(|error| format!("cannot start {threads} threads: {error}"))?;
        Ok(Session {
            arguments: self,
            benchmark: Benchmark::new(verb, threads, &backend),
            backend,
        })
    }

    fn prepare(&self, verb: &str) -> Result<(), FileError> {
        let Some(name) = &self.save else { return Ok(()) };
        let file = self.folder.open().file(verb, name);
        let is_new = !file.exists();
        create_folder(file.parent().expect("a file in a folder"))?;
        let opened = File::options().create(true).append(true).open(&file);
        opened.map_err(FileError::io("write", &file))?;
        // An empty file is no result.
        if is_new {
            fs::remove_file(&file).map_err(FileError::io("remove", &file))?;
        }
        Ok(())
    }
}

impl Session<'_> {
    /// Measures a group of cases, and saves all results so far, so that they survive an interruption.
    pub(crate) fn add(&mut self, cases: Vec<Case<'_>>, plan: &Plan) {
        if let Some(first) = cases.first() {
            notice::line(&first.name);
        }
        self.benchmark.measurements.extend(measure(cases, plan, &self.backend));
        if let Err(error) = self.save() {
            notice::line(format_args!("warning: {}", printable(error)));
        }
    }

    /// Prints and saves all results.
    pub(crate) fn finish(self) -> Done {
        print(&self.benchmark);
        self.save()?;
        Ok(ExitCode::SUCCESS)
    }

    fn save(&self) -> Result<(), FileError> {
        match &self.arguments.save {
            Some(name) => self.arguments.folder.open().save(name, &self.benchmark),
            None => Ok(()),
        }
    }
}

/// A name that is part of a file's.
fn saved_name(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if text.chars().all(is_plain) && text.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return Ok(text.to_owned());
    }
    Err("must consist of letters, digits, `-`, `_` and `.`, such as before-2".to_owned())
}
