//! Why a program with another backend, or with MPI, could not be built.

use crate::BackendError;
use std::{
    io,
    path::{Path, PathBuf},
};

/// Why a program with another backend, or with MPI, could not be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// There is no compiler of an MPI library.
    #[error(
        "--processes needs an MPI library, and {} does not run: on Debian and Ubuntu, apt-get install libopenmpi-dev openmpi-bin libclang-dev; \
         on a cluster, load a module such as openmpi; or let MPICC name the compiler",
        compiler.display()
    )]
    NoMpi {
        /// The compiler that was looked for.
        compiler: PathBuf,
    },
    /// There is no libclang, which reads the headers of MPI.
    #[error(
        "--processes needs libclang to read the headers of MPI: on Debian and Ubuntu, apt-get install libclang-dev; \
         elsewhere, let LIBCLANG_PATH name the folder with libclang.so"
    )]
    NoLibclang,
    /// MPI is not in this build, and the program cannot be built from here.
    #[error("MPI is not in this build; to add it, run this in the source folder: {command}")]
    NoMpiHere {
        /// The command that adds it.
        command: String,
    },
    /// The compiler failed.
    #[error("{what} cannot be built: {errors}\nthe compiler's full output is in {}", log.display())]
    Failed {
        /// What was to be added, such as `--backend cuda`.
        what: String,
        /// The first lines of the error.
        errors: String,
        /// The file with the full output.
        log: PathBuf,
    },
    /// A program could not be started.
    #[error("cannot start {}: {source}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The compiler's output could not be written.
    #[error("cannot write {}: {source}", log.display())]
    Log {
        /// The log file.
        log: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

impl From<BuildError> for BackendError {
    fn from(error: BuildError) -> Self {
        Self::Build(Box::new(error))
    }
}

impl BuildError {
    pub(super) fn start(program: impl AsRef<Path>, source: io::Error) -> Self {
        let program = program.as_ref().to_path_buf();
        Self::Start { program, source }
    }
}
