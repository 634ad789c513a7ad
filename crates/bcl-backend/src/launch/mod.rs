//! Gets a program with another backend: builds it once if cargo started this one, and continues in it.
//!
//! The default build contains flex alone, because every GPU backend adds minutes of compiling. If `cargo run` started the
//! program and `--backend wgpu` is requested, [`ensure`] builds the same program with that feature and continues in it with the
//! same arguments. The build has its own target folder, `target/backends/wgpu`, so that the two do not undo each other. From
//! then on, cargo only checks for changed sources.
//!
//! A program that cargo did not start builds nothing. Its error names the command to run.

mod build;
mod cargo_program;
mod error;
mod llvm;
mod output;
mod progress;
mod target_folder;

pub use error::BuildError;

use crate::{BackendChoice, BackendError, built};
use cargo_program::CargoProgram;
use std::{
    path::{Path, PathBuf},
    process::Command,
};
use target_folder::TargetFolder;

/// Marks a program that was built on request, so that it does not build itself again.
const TAKEN_OVER: &str = "BCL_TAKEN_OVER";

/// Returns if a backend is in this build; otherwise builds a program with it, which takes over.
///
/// `package` is the package of the running program, which must have the same name: pass `env!("CARGO_PKG_NAME")` from its
/// `main.rs`. [`BackendChoice::Auto`] makes do with the backends of this build.
///
/// # Errors
/// Returns an error if no program with the backend can be built from here, or the build fails.
pub fn ensure(choice: BackendChoice, package: &str, quiet: bool) -> Result<(), BackendError> {
    let Err(missing) = choice.candidates(&built()) else {
        return Ok(());
    };
    if !choice.exists_here() {
        return Err(BackendError::NoDevice { choice });
    }
    let environment = |name: &str| std::env::var_os(name);
    let program = std::env::current_exe().unwrap_or_default();
    let cargo_program = CargoProgram::find(package, &program, environment);
    let Some(cargo_program) = cargo_program.filter(|_| environment(TAKEN_OVER).is_none()) else {
        let command = command(choice, package);
        return Err(BackendError::NotBuiltHere { missing, command });
    };
    let program = cargo_program.build(choice, quiet)?;
    take_over(choice, &program)
}

/// The command that adds a backend, to be run in the source folder.
pub fn command(choice: BackendChoice, package: &str) -> String {
    let backend = choice.name();
    let program = std::env::current_exe().unwrap_or_default();
    if TargetFolder::of(&program).is_some() {
        format!("cargo run -p {package} -- --backend {backend}")
    } else {
        format!("cargo install --path crates/{package} --features {backend}")
    }
}

/// A command that runs the other program with the arguments of this one.
fn taking_over(choice: BackendChoice, program: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(std::env::args_os().skip(1)).env(TAKEN_OVER, choice.name());
    // Without a desktop, a Mesa layer prints `error: XDG_RUNTIME_DIR is invalid` several times.
    if cfg!(target_os = "linux") && std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        command.env("XDG_RUNTIME_DIR", std::env::temp_dir());
    }
    command
}

/// On Unix, this process becomes the other program, so that Ctrl-C and the exit code are the other program's.
#[cfg(unix)]
fn take_over(choice: BackendChoice, program: &Path) -> Result<(), BackendError> {
    use std::os::unix::process::CommandExt;

    let source = taking_over(choice, program).exec();
    Err(BuildError::start(program, source).into())
}

/// Elsewhere, this process waits. A console sends Ctrl-C to both, so this one ignores it.
#[cfg(not(unix))]
fn take_over(choice: BackendChoice, program: &Path) -> Result<(), BackendError> {
    let _ = ctrlc::set_handler(|| {});
    let status = taking_over(choice, program).status();
    let status = status.map_err(|source| BuildError::start(program, source))?;
    std::process::exit(status.code().unwrap_or(1));
}

/// Shows a path relative to the working directory if it is below it.
fn shown(path: &Path) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path).to_path_buf()
}
