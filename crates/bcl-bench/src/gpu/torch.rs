//! PyTorch beside this program: whether it is there, and the script that measures with it.

use super::{
    job::{Job, JobFolder},
    process::{self, End},
    report::ReportKind,
};
use bcl_files::write_whole;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

/// The script; its first lines say what it measures.
const SCRIPT: &str = include_str!("torch_peer.py");

/// Prints the version, and succeeds if PyTorch finds a GPU.
const CHECK: &str = "import torch, sys; print(torch.__version__); sys.exit(not torch.cuda.is_available())";

/// The time that it gets to start.
const PATIENCE: Duration = Duration::from_secs(20);

/// A PyTorch that computes on a GPU.
pub(super) struct Torch {
    python: PathBuf,
    script: PathBuf,
    pub(super) version: String,
}

impl Torch {
    /// Looks for PyTorch and writes the script.
    ///
    /// # Errors
    /// Says in one line why PyTorch cannot be used.
    pub(super) fn find(python: &Path, folder: &JobFolder) -> Result<Self, String> {
        Self::try_find(python, folder).map_err(|why| format!("not there ({why})"))
    }

    fn try_find(python: &Path, folder: &JobFolder) -> Result<Self, String> {
        let [script, stdout, stderr] = ["torch_peer.py", "torch.out", "torch.log"].map(|name| folder.file(name));
        let mut command = Command::new(python);
        command.args(["-c", CHECK]);
        let end = process::run_until(&mut command, Instant::now() + PATIENCE, &stdout, &stderr);
        let text = |path: &Path| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).trim().to_owned();
        let version = text(&stdout);
        match end {
            Ok(End::Exited(Some(0))) => {
                write_whole(&script, SCRIPT.as_bytes()).map_err(|error| error.to_string())?;
                let python = python.to_owned();
                Ok(Self { python, script, version })
            }
            Ok(End::Exited(_)) if !version.is_empty() => Err(format!("PyTorch {version} finds no GPU")),
            Ok(End::Exited(_)) => Err(text(&stderr)
                .lines()
                .last()
                .unwrap_or("it fails without a message")
                .to_owned()),
            Ok(End::Stopped) => Err(format!("it did not start within {} s", PATIENCE.as_secs())),
            Err(error) => Err(format!("cannot run {}: {error}", python.display())),
        }
    }

    /// A run of the script.
    pub(super) fn job(&self, label: &str, words: &str) -> Job {
        let job = Job::new(&self.python, label, ReportKind::Torch);
        job.argument(&self.script).words(words)
    }
}

#[cfg(test)]
impl Torch {
    pub(super) fn of_test() -> Self {
        let [python, script] = ["python3", "torch_peer.py"].map(PathBuf::from);
        let version = "2".to_owned();
        Self { python, script, version }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks for PyTorch with another program in place of Python; returns its version.
    fn find(python: &str) -> Result<String, String> {
        let folder = tempfile::tempdir().unwrap();
        let folder = JobFolder::beside(&folder.path().join("out.json")).unwrap();
        Torch::find(Path::new(python), &folder).map(|torch| {
            assert_eq!(fs::read_to_string(torch.script).unwrap(), SCRIPT);
            torch.version
        })
    }

    #[test]
    fn a_missing_python_is_no_error() {
        let why = find("no-such-python").unwrap_err();
        assert!(why.starts_with("not there (cannot run no-such-python: "), "{why}");
    }

    #[cfg(unix)]
    #[test]
    fn only_a_python_that_succeeds_is_used() {
        assert_eq!(find("false").unwrap_err(), "not there (it fails without a message)");
        assert!(find("echo").unwrap().starts_with("-c import torch"));
    }
}
