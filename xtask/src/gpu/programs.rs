//! Finds or builds `bcl-train` and `bcl-bench`, which do the work.

use super::backend::Backend;
use crate::root;
use anyhow::{Context, ensure};
use std::env::consts::EXE_EXTENSION;
use std::path::{Path, PathBuf, absolute};

/// One of the two programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Program {
    Train,
    Bench,
}

/// The folder with both programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Programs {
    folder: PathBuf,
}

impl Program {
    fn name(self) -> &'static str {
        match self {
            Self::Train => "bcl-train",
            Self::Bench => "bcl-bench",
        }
    }
}

impl Programs {
    /// Uses the programs in a folder.
    pub(super) fn find(folder: &Path) -> anyhow::Result<Self> {
        let folder = absolute(folder).with_context(|| format!("--programs {}", folder.display()))?;
        let programs = Self { folder };
        for program in [Program::Train, Program::Bench] {
            let path = programs.path(program);
            let remedy =
                "build both with `cargo build --release -p bcl-train -p bcl-bench --features BACKEND` and pass their folder";
            ensure!(path.is_file(), "there is no {}; {remedy}", path.display());
        }
        Ok(programs)
    }

    /// Builds them in the target folder that `cargo run --release -p bcl-train -- --backend NAME` also uses.
    pub(super) fn build(backend: Backend) -> anyhow::Result<Self> {
        let root = root::workspace_root();
        let mut target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |folder| root.join(folder));
        let mut command = root::cargo();
        command.current_dir(&root);
        command.args(["build", "--release", "-p", "bcl-train", "-p", "bcl-bench"]);
        if let Some(feature) = backend.feature() {
            target.extend(["backends", feature]);
            command.args(["--features", feature]);
        }
        command.arg("--target-dir").arg(&target);
        eprintln!("gpu: building the programs with {} ...", backend.name());
        let status = command.status().context("cannot start cargo")?;
        ensure!(
            status.success(),
            "the programs could not be built; pass a folder with prebuilt ones with --programs"
        );
        Self::find(&target.join("release"))
    }

    pub(super) fn path(&self, program: Program) -> PathBuf {
        self.folder.join(program.name()).with_extension(EXE_EXTENSION)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_both_programs_is_refused_with_the_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let train = folder.path().join("bcl-train").with_extension(EXE_EXTENSION);
        std::fs::write(train, "").unwrap();
        let text = Programs::find(folder.path()).unwrap_err().to_string();
        assert!(text.contains("bcl-bench") && text.contains("cargo build --release"), "{text}");
    }
}
