//! A program with another backend: built once where cargo started this one, and taken over from there.
//!
//! The default build holds flex alone, because each GPU backend adds minutes of compiling. When `cargo run` started us and
//! `--backend wgpu` is asked for, [`ensure`] builds the same program with that feature in a target folder of its own,
//! `target/backends/wgpu`, so that neither build undoes the other, and continues in it with the same arguments. From then on the build
//! has nothing to do but to look for changed sources.
//!
//! A program that cargo did not start builds nothing: it names the command that does.

mod build;
mod error;
mod llvm;
mod output;
mod progress;
mod target_folder;
mod workshop;

pub use error::BuildError;

use crate::{
    backend::{BackendError, built},
    cli::BackendChoice,
};
use std::{
    path::{Path, PathBuf},
    process::Command,
};
use target_folder::TargetFolder;
use workshop::Workshop;

/// Tells a program that it was built for what it is asked: it must not build itself again.
const TAKEN_OVER: &str = "BCL_TAKEN_OVER";

/// Goes on with a backend: returns where it is in this build, or else builds a program with it, which takes over.
///
/// `package` is the package of the running program, which has a program of the same name: `env!("CARGO_PKG_NAME")` in its `main.rs`.
/// [`BackendChoice::Auto`] is content with what there is.
///
/// # Errors
/// When no program with the backend can be built from here, or building it fails.
pub fn ensure(choice: BackendChoice, package: &str, quiet: bool) -> Result<(), BackendError> {
    let Err(missing) = choice.candidates(&built()) else {
        return Ok(());
    };
    if !choice.exists_here() {
        return Err(BackendError::NoDevice { choice });
    }
    let environment = |name: &str| std::env::var_os(name);
    let program = std::env::current_exe().unwrap_or_default();
    let workshop = Workshop::find(package, &program, environment);
    let Some(workshop) = workshop.filter(|_| environment(TAKEN_OVER).is_none()) else {
        let command = command(choice, package);
        return Err(BackendError::NotBuiltHere { missing, command });
    };
    let program = workshop.build(choice, quiet)?;
    take_over(choice, &program)
}

/// The command that gets a program with a backend, to be run in the folder of the source.
pub fn command(choice: BackendChoice, package: &str) -> String {
    let backend = choice.name();
    let program = std::env::current_exe().unwrap_or_default();
    if TargetFolder::of(&program).is_some() {
        format!("cargo run -p {package} -- --backend {backend}")
    } else {
        format!("cargo install --path crates/{package} --features {backend}")
    }
}

/// The other program with the arguments of this one.
fn taking_over(choice: BackendChoice, program: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(std::env::args_os().skip(1)).env(TAKEN_OVER, choice.name());
    // A layer of Mesa's looks for a desktop and, where there is none, prints `error: XDG_RUNTIME_DIR is invalid`, several times.
    if cfg!(target_os = "linux") && std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        command.env("XDG_RUNTIME_DIR", std::env::temp_dir());
    }
    command
}

/// On Unix this process becomes the other program: it is the one that Ctrl-C reaches and whose exit code is seen.
#[cfg(unix)]
fn take_over(choice: BackendChoice, program: &Path) -> Result<(), BackendError> {
    use std::os::unix::process::CommandExt;

    let source = taking_over(choice, program).exec();
    Err(BuildError::start(program, source).into())
}

/// Elsewhere this process waits. A console sends Ctrl-C to both, so this one leaves it to the other.
#[cfg(not(unix))]
fn take_over(choice: BackendChoice, program: &Path) -> Result<(), BackendError> {
    let _ = ctrlc::set_handler(|| {});
    let status = taking_over(choice, program).status();
    let status = status.map_err(|source| BuildError::start(program, source))?;
    std::process::exit(status.code().unwrap_or(1));
}

/// A path as short as it can be said from the working directory.
fn shown(path: &Path) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path).to_path_buf()
}
