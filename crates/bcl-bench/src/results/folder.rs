//! The folder of saved results: `BENCHMARK/NAME.json` for each verb, and `criterion/` for `cargo bench`.

use super::{Benchmark, Gathered, Kind, Results, ResultsError};
use crate::{kernels::KernelBenchmark, loss::LossBenchmark, step::StepBenchmark};
use bcl_backend::launch::is_target_folder;
use bcl_files::FileError;
use serde::Serialize;
use std::{
    collections::BTreeSet,
    env, fs, io,
    path::{Path, PathBuf},
};

/// A folder of saved results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultsFolder(PathBuf);

/// A saved result.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Saved {
    /// The name under which it was saved.
    pub name: String,
    /// The program that measured.
    pub kind: Kind,
    /// Number of cases.
    pub cases: usize,
    /// Git revision of the program, if known.
    pub revision: Option<String>,
    /// Backend that computed.
    pub backend: String,
}

impl ResultsFolder {
    /// A folder, or `bench` in the target folder of this program.
    pub fn new(folder: Option<&Path>) -> Self {
        let program = env::current_exe().unwrap_or_default();
        // Each backend has a target folder within the default build's target folder, so take the outermost.
        let target = program.ancestors().filter(|folder| is_target_folder(folder)).last();
        let default = || target.unwrap_or(Path::new("target")).join("bench");
        Self(folder.map_or_else(default, Path::to_owned))
    }

    /// Where criterion keeps its results.
    pub fn criterion(&self) -> PathBuf {
        self.0.join(Kind::Criterion.name())
    }

    /// The file of what `gpu` measures on a backend.
    pub fn gpu(&self, backend: &str) -> PathBuf {
        self.0.join("gpu").join(backend).with_extension("json")
    }

    /// The file of a result of a verb.
    pub fn file(&self, kind: Kind, name: &str) -> PathBuf {
        self.0.join(kind.name()).join(name).with_added_extension("json")
    }

    /// Saves a result under a name, in place of an earlier one.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn save<B: Benchmark>(&self, name: &str, benchmark: &B) -> Result<(), FileError> {
        let path = self.file(B::KIND, name);
        bcl_files::create_folder(path.parent().expect("a file in a folder"))?;
        let text = serde_json::to_vec_pretty(benchmark).expect("a benchmark is plain data");
        bcl_files::write_whole(&path, &text)
    }

    /// Everything that is saved, sorted by program and name.
    ///
    /// # Errors
    /// Returns an error if the folder or a file in it cannot be read.
    pub fn list(&self) -> Result<Vec<Saved>, ResultsError> {
        let mut saved = Vec::new();
        for kind in Kind::ALL {
            for name in self.names(kind)? {
                let results = self.read(kind, &name)?;
                saved.push(Saved {
                    name,
                    kind,
                    cases: results.cases.len(),
                    revision: results.environment.revision,
                    backend: results.environment.backend,
                });
            }
        }
        Ok(saved)
    }

    /// The results of each program under these names; each name contributes its rounds.
    ///
    /// # Errors
    /// Returns an error if there are none, a program has saved only some of the names, or they measured different things.
    pub fn gather(&self, names: &[String]) -> Result<Vec<Gathered>, ResultsError> {
        let mut gathered = Vec::new();
        for kind in Kind::ALL {
            let known = self.names(kind)?;
            if names.iter().any(|name| known.contains(name)) {
                let source = |name: &String| {
                    let missing = || self.not_saved(name, &known);
                    known.get(name).ok_or_else(missing)?;
                    Ok((self.place(kind, name), self.read(kind, name)?))
                };
                gathered.push(Results::gather(names.iter().map(source).collect::<Result<_, _>>()?)?);
            }
        }
        if gathered.is_empty() {
            let all = Kind::ALL.into_iter().map(|kind| self.names(kind));
            let known: BTreeSet<String> = all.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
            return Err(self.not_saved(&names.join(", "), &known));
        }
        Ok(gathered)
    }

    fn not_saved(&self, name: &str, known: &BTreeSet<String>) -> ResultsError {
        let remedy = if known.is_empty() {
            "measure with `bcl-bench kernels`, `loss` or `step` and --save NAME, or with `cargo bench`".to_owned()
        } else {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            format!("there are {}", known.join(", "))
        };
        ResultsError::NotSaved {
            folder: self.0.clone(),
            name: name.to_owned(),
            remedy,
        }
    }

    /// A result for messages.
    fn place(&self, kind: Kind, name: &str) -> PathBuf {
        match kind {
            Kind::Criterion => self.criterion().join(name),
            _ => self.file(kind, name),
        }
    }

    fn read(&self, kind: Kind, name: &str) -> Result<Results, ResultsError> {
        let file = self.file(kind, name);
        match kind {
            Kind::Kernels => Results::of::<KernelBenchmark>(&file),
            Kind::Loss => Results::of::<LossBenchmark>(&file),
            Kind::Step => Results::of::<StepBenchmark>(&file),
            Kind::Criterion => Results::of_criterion(&self.criterion(), name),
        }
    }

    /// The names that a program has saved.
    fn names(&self, kind: Kind) -> Result<BTreeSet<String>, ResultsError> {
        if kind == Kind::Criterion {
            return Results::baselines(&self.criterion());
        }
        let folder = self.0.join(kind.name());
        let unreadable = |error| ResultsError::Unreadable {
            path: folder.clone(),
            error,
        };
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
            entries => entries.map_err(unreadable)?,
        };
        let mut names = BTreeSet::new();
        for entry in entries {
            let file = entry.map_err(unreadable)?.file_name();
            names.extend(file.to_str().and_then(|file| file.strip_suffix(".json")).map(str::to_owned));
        }
        Ok(names)
    }
}
