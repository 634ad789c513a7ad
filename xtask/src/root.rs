//! The workspace folder, and how to run `cargo` and `git` in it.

use anyhow::{Context, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The root folder of the workspace.
pub(crate) fn workspace_root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().expect("xtask is in the workspace").to_path_buf()
}

/// A `cargo` command with the same environment as one typed into a shell.
///
/// `cargo run` sets `CARGO_PKG_*` and `CARGO_MANIFEST_*` to describe xtask. If they were passed on, build scripts that watch
/// them would run again, and everything that depends on them would recompile, whenever you switch between `xtask` and `cargo`.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in std::env::vars_os().filter(|(name, _)| describes_a_package(&name.to_string_lossy())) {
        command.env_remove(name);
    }
    command
}

fn describes_a_package(variable: &str) -> bool {
    variable.starts_with("CARGO_PKG_") || variable.starts_with("CARGO_MANIFEST_")
}

/// A `git` command in `root`. Unsets the variables by which a surrounding hook would select another repository.
pub(crate) fn git(root: &Path) -> Command {
    let mut command = Command::new("git");
    command.current_dir(root);
    for variable in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_PREFIX"] {
        command.env_remove(variable);
    }
    command
}

/// Runs `command` and returns its standard output.
pub(crate) fn stdout_of(command: &mut Command) -> anyhow::Result<Vec<u8>> {
    let output = command.output().with_context(|| format!("cannot run {command:?}"))?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?} failed: {complaint}");
    Ok(output.stdout)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_variables_about_a_package_are_dropped() {
        assert!(describes_a_package("CARGO_PKG_NAME"));
        assert!(describes_a_package("CARGO_MANIFEST_DIR"));
        assert!(!describes_a_package("CARGO_TARGET_DIR"));
        assert!(!describes_a_package("CARGO_HOME"));
    }
}
