//! The backend and the device that a verb computes on.

use bcl_backend::{Backend, BackendChoice, BackendError, launch};
use bcl_train::processes;

/// A backend and one of its devices, as named on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::Args)]
pub(crate) struct DeviceArguments {
    /// Backend that computes.
    #[arg(long, value_enum, value_name = "NAME", default_value_t = BackendChoice::Flex)]
    backend: BackendChoice,
    /// Index of the device within the backend, starting at 0; `bcl-train devices` lists them [default: the best].
    #[arg(long, value_name = "N")]
    device: Option<usize>,
}

impl DeviceArguments {
    /// The CPU.
    pub(crate) const CPU: Self = Self {
        backend: BackendChoice::Flex,
        device: None,
    };

    /// Opens the backend. If it is not in this build, a program that has it takes over.
    pub(crate) fn open(&self) -> Result<Backend, BackendError> {
        launch::ensure(self.backend, env!("CARGO_PKG_NAME"), false)?;
        processes::open_backend(self.backend, self.device)
    }

    /// Returns if MPI and the backend are in this build; otherwise a program that has both takes over.
    pub(crate) fn ensure_mpi(&self, quiet: bool) -> Result<(), BackendError> {
        launch::ensure_with_mpi(self.backend, processes::HAS_MPI, env!("CARGO_PKG_NAME"), quiet)
    }
}
