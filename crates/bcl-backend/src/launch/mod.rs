//! Gets a program with another backend, or with MPI: builds it once if cargo started this one, and continues in it.
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
mod mpi;
mod output;
mod progress;
mod target_folder;
mod wanted;

pub use error::BuildError;
pub use target_folder::is_target_folder;

use crate::{BackendChoice, BackendError, MissingBackend, built};
use cargo_program::CargoProgram;
use mpi::MpiLibrary;
use std::{
    path::{Path, PathBuf},
    process::Command,
};
use target_folder::TargetFolder;
use wanted::Wanted;

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
    match choice.candidates(&built()) {
        Ok(_) => Ok(()),
        Err(missing) => Err(continue_in(choice, false, Some(missing), package, quiet)),
    }
}

/// As [`ensure`], for a program that also contains MPI; `has_mpi` says whether the running one does.
///
/// # Errors
/// Returns the errors of [`ensure`], and one that names the package to install if MPI is missing on this machine.
pub fn ensure_with_mpi(choice: BackendChoice, has_mpi: bool, package: &str, quiet: bool) -> Result<(), BackendError> {
    match choice.candidates(&built()) {
        Ok(_) if has_mpi => Ok(()),
        found => Err(continue_in(choice, true, found.err(), package, quiet)),
    }
}

/// Builds a program and continues in it. Returns only if that fails.
fn continue_in(
    choice: BackendChoice,
    with_mpi: bool,
    missing: Option<MissingBackend>,
    package: &str,
    quiet: bool,
) -> BackendError {
    if !choice.exists_here() {
        return BackendError::NoDevice { choice };
    }
    let environment = |name: &str| std::env::var_os(name);
    let program = std::env::current_exe().unwrap_or_default();
    let cargo_program = CargoProgram::find(package, &program, environment);
    let Some(cargo_program) = cargo_program.filter(|_| environment(TAKEN_OVER).is_none()) else {
        let command = command_with(choice, with_mpi, package);
        return match missing {
            Some(missing) => BackendError::NotBuiltHere { missing, command },
            None => BuildError::NoMpiHere { command }.into(),
        };
    };
    let mpi = match with_mpi.then(MpiLibrary::find).transpose() {
        Ok(mpi) => mpi,
        Err(error) => return error.into(),
    };
    let wanted = Wanted { backend: choice, mpi };
    match cargo_program.build(&wanted, quiet) {
        Ok(program) => take_over(&wanted, &program),
        Err(error) => error.into(),
    }
}

/// The command that adds a backend, to be run in the source folder.
pub fn command(choice: BackendChoice, package: &str) -> String {
    command_with(choice, false, package)
}

fn command_with(choice: BackendChoice, with_mpi: bool, package: &str) -> String {
    let program = std::env::current_exe().unwrap_or_default();
    if TargetFolder::of(&program).is_some() && !with_mpi {
        return format!("cargo run -p {package} -- --backend {}", choice.name());
    }
    let mpi = with_mpi.then_some("mpi");
    let backend = (!matches!(choice, BackendChoice::Flex | BackendChoice::Auto)).then(|| choice.name());
    let features: Vec<&str> = backend.into_iter().chain(mpi).collect();
    let features = features.join(",");
    if TargetFolder::of(&program).is_some() {
        format!("cargo build -p {package} --features {features}")
    } else {
        format!("cargo install --path crates/{package} --features {features}")
    }
}

/// A command that runs the other program with the arguments of this one.
fn taking_over(wanted: &Wanted, program: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(std::env::args_os().skip(1)).env(TAKEN_OVER, wanted.folder());
    // Without a desktop, a Mesa layer prints `error: XDG_RUNTIME_DIR is invalid` several times.
    if cfg!(target_os = "linux") && std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        command.env("XDG_RUNTIME_DIR", std::env::temp_dir());
    }
    command
}

/// On Unix, this process becomes the other program, so that Ctrl-C and the exit code are the other program's.
#[cfg(unix)]
fn take_over(wanted: &Wanted, program: &Path) -> BackendError {
    use std::os::unix::process::CommandExt;

    let source = taking_over(wanted, program).exec();
    BuildError::start(program, source).into()
}

/// Elsewhere, this process waits. A console sends Ctrl-C to both, so this one ignores it.
#[cfg(not(unix))]
fn take_over(wanted: &Wanted, program: &Path) -> BackendError {
    let _ = ctrlc::set_handler(|| {});
    match taking_over(wanted, program).status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(source) => BuildError::start(program, source).into(),
    }
}

/// Shows a path relative to the working directory if it is below it.
fn shown(path: &Path) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path).to_path_buf()
}
