//! Why a program with another backend could not be built.

use crate::cli::BackendChoice;
use std::{
    io,
    path::{Path, PathBuf},
};

/// Why a program with another backend could not be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// CUDA's compiler library could not be downloaded.
    #[error(
        "--backend cuda cannot be built: a library that it is compiled with, LLVM, has to be downloaded from {host}, and {cause}; \
         connect this machine (a proxy is taken from HTTPS_PROXY), or copy the folder {} from one that has built it, and repeat",
        .folder.display()
    )]
    NoLlvm {
        /// Where it is downloaded from.
        host: &'static str,
        /// Why that failed.
        cause: String,
        /// Where it would be.
        folder: PathBuf,
    },
    /// The compiler failed.
    #[error("--backend {} cannot be built: {errors}\nthe compiler's whole output is in {}", choice.name(), log.display())]
    Failed {
        /// The backend.
        choice: BackendChoice,
        /// The first lines that say what is wrong.
        errors: String,
        /// Where the output is.
        log: PathBuf,
    },
    /// A program could not be started.
    #[error("cannot start {}: {source}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The compiler's output could not be kept.
    #[error("cannot write {}: {source}", log.display())]
    Log {
        /// The file.
        log: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl BuildError {
    pub(super) fn start(program: impl AsRef<Path>, source: io::Error) -> Self {
        let program = program.as_ref().to_path_buf();
        Self::Start { program, source }
    }
}
