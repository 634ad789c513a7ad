//! PyTorch beside this program: whether it is there, and the script that measures with it.

use super::{
    job::{Job, JobFolder, JobKind},
    process::{self, End, Limits},
};
use bcl_files::write_whole;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::AtomicBool,
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
    pub(super) python: PathBuf,
    pub(super) script: PathBuf,
    pub(super) version: String,
}

impl Torch {
    /// Looks for PyTorch and writes the script.
    ///
    /// # Errors
    /// Says in one line why PyTorch cannot be used.
    pub(super) fn find(python: &Path, JobFolder(folder): &JobFolder, interrupted: &AtomicBool) -> Result<Self, String> {
        let [script, stdout, stderr] = ["torch_peer.py", "torch.out", "torch.log"].map(|name| folder.join(name));
        let mut command = Command::new(python);
        command.args(["-c", CHECK]);
        let end = process::run(
            &mut command,
            &Limits::new(Instant::now() + PATIENCE, interrupted),
            &stdout,
            &stderr,
        );
        let text = |path: &Path| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).trim().to_owned();
        let version = text(&stdout);
        let why = match end {
            Ok(End::Exited(Some(0))) => {
                write_whole(&script, SCRIPT.as_bytes()).map_err(|error| error.to_string())?;
                let python = python.to_owned();
                return Ok(Self { python, script, version });
            }
            Ok(End::Exited(_)) if !version.is_empty() => format!("PyTorch {version} finds no GPU"),
            Ok(End::Exited(_)) => text(&stderr)
                .lines()
                .last()
                .unwrap_or("it fails without a message")
                .to_owned(),
            Ok(End::Stopped) => format!("it did not start within {} s", PATIENCE.as_secs()),
            Err(error) => format!("cannot run {}: {error}", python.display()),
        };
        Err(format!("not there ({why})"))
    }

    /// A run of the script.
    pub(super) fn job(&self, label: &str, words: &str) -> Job {
        Job::new(&self.python, label, JobKind::Torch)
            .argument(&self.script)
            .words(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_python_is_no_error() {
        let folder = tempfile::tempdir().unwrap();
        let folder = JobFolder(folder.path().to_owned());
        let why = Torch::find(Path::new("no-such-python"), &folder, &AtomicBool::new(false))
            .err()
            .unwrap();
        assert!(why.starts_with("not there (cannot run no-such-python: "), "{why}");
    }
}
