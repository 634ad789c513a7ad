//! The folder of saved results: `VERB/NAME.json` for each verb, and `criterion/` for `cargo bench`.

use super::{
    Benchmark, criterion,
    rounds::{Gathered, Rounds, source},
};
use bcl_backend::launch::is_target_folder;
use bcl_files::FileError;
use bcl_files::input::{self, MOST_WHOLE};
use serde::Serialize;
use serde_json::error::Category;
use std::{
    collections::BTreeSet,
    env, fs, io,
    path::{Path, PathBuf},
};

/// What saves results.
const KINDS: [&str; 6] = ["kernels", "loss", "step", "search", "scale", criterion::KIND];

/// How to get a first result.
const MEASURE: &str = "measure with `bcl-bench kernels`, `loss` or `step` and --save NAME, or with `cargo bench`";

/// A folder of saved results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultsFolder(PathBuf);

/// A saved result.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Saved {
    /// The name under which it was saved.
    pub name: String,
    /// What measured: a verb, or `cargo bench`.
    pub source: String,
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
        self.0.join(criterion::KIND)
    }

    /// The file of what `gpu` measures on a backend.
    pub fn gpu(&self, backend: &str) -> PathBuf {
        self.0.join("gpu").join(backend).with_extension("json")
    }

    /// The file of a result of a verb.
    pub fn file(&self, verb: &str, name: &str) -> PathBuf {
        self.0.join(verb).join(name).with_added_extension("json")
    }

    /// Saves a result under a name, in place of an earlier one.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn save(&self, name: &str, benchmark: &Benchmark) -> Result<(), FileError> {
        let path = self.file(&benchmark.verb, name);
        bcl_files::create_folder(path.parent().expect("a file in a folder"))?;
        bcl_files::write_json(&path, benchmark)
    }

    /// Everything that is saved, sorted by verb and name.
    ///
    /// # Errors
    /// Returns an error if the folder does not exist, or the folder or a file in it cannot be read.
    pub fn list(&self) -> Result<Vec<Saved>, String> {
        if !self.0.is_dir() {
            return Err(format!("there is no folder {}; {MEASURE}", self.0.display()));
        }
        let mut saved = Vec::new();
        for kind in KINDS {
            for name in self.names(kind)? {
                let rounds = self.read(kind, &name)?;
                saved.push(Saved {
                    name,
                    source: rounds.source(),
                    cases: rounds.cases.len(),
                    revision: rounds.environment.revision,
                    backend: rounds.environment.backend,
                });
            }
        }
        Ok(saved)
    }

    /// The times of each verb under these names; each name contributes its rounds.
    ///
    /// # Errors
    /// Returns an error if there are none, a verb has saved only some of the names, or they measured different things.
    pub fn gather(&self, names: &[String]) -> Result<Vec<Gathered>, String> {
        let (mut gathered, mut all) = (Vec::new(), BTreeSet::new());
        for kind in KINDS {
            let known = self.names(kind)?;
            if names.iter().any(|name| known.contains(name)) {
                let source = |name: &String| {
                    known.get(name).ok_or_else(|| self.not_saved(name, &known))?;
                    Ok((self.file(kind, name).display().to_string(), self.read(kind, name)?))
                };
                gathered.push(Rounds::gather(names.iter().map(source).collect::<Result<_, String>>()?)?);
            }
            all.extend(known);
        }
        if gathered.is_empty() {
            return Err(self.not_saved(&names.join(", "), &all));
        }
        Ok(gathered)
    }

    fn not_saved(&self, name: &str, known: &BTreeSet<String>) -> String {
        let remedy = if known.is_empty() {
            MEASURE.to_owned()
        } else {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            format!("there are {}", known.join(", "))
        };
        format!("{} has no result called {name}; {remedy}", self.0.display())
    }

    fn read(&self, kind: &str, name: &str) -> Result<Rounds, String> {
        if kind == criterion::KIND {
            return criterion::read(&self.criterion(), name);
        }
        let path = self.file(kind, name);
        Rounds::from(Benchmark::read(kind, &path)?).checked(&path.display().to_string())
    }

    /// The names under which a verb has saved.
    fn names(&self, kind: &str) -> Result<BTreeSet<String>, String> {
        if kind == criterion::KIND {
            return criterion::baselines(&self.criterion());
        }
        let folder = self.0.join(kind);
        let unreadable = |error| format!("cannot read {}: {error}", folder.display());
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

impl Benchmark {
    /// Reads a saved file of a verb.
    ///
    /// # Errors
    /// Returns an error if it is another kind of file or cut off. The message names the file and the remedy.
    pub fn read(verb: &str, path: &Path) -> Result<Self, String> {
        let place = path.display();
        let content = input::read(path, MOST_WHOLE).map_err(|error| format!("cannot read {place}: {error}"))?;
        if content.iter().all(u8::is_ascii_whitespace) {
            return Err(format!(
                "{place} is empty, because its measurement has not finished; measure again"
            ));
        }
        serde_json::from_slice(&content).map_err(|error| match error.classify() {
            Category::Eof => format!(
                "{place} ends in line {}, in the middle of a value: it was cut off; measure again",
                error.line()
            ),
            Category::Data => format!(
                "{place} is not a file of {}: {error}; measure again, or move it elsewhere",
                source(verb)
            ),
            _ => format!("{place} is not JSON: {error}"),
        })
    }
}
