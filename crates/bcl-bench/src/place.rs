//! Where a verb computes.

use bcl_train::{
    backend::{Backend, BackendError},
    cli::BackendChoice,
    launch,
};

/// A backend and which of its devices, as the command line names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::Args)]
pub struct Place {
    /// What computes.
    #[arg(long, value_enum, value_name = "NAME", default_value_t = BackendChoice::Flex)]
    backend: BackendChoice,
    /// Which device of the backend, as `bcl-train devices` counts them from 0 [default: the best].
    #[arg(long, value_name = "N")]
    device: Option<usize>,
}

impl Place {
    /// Opens the backend. Where it is not in this build, one that has it takes over.
    ///
    /// # Errors
    /// When the backend or its device cannot be had.
    pub fn open(&self) -> Result<Backend, BackendError> {
        launch::ensure(self.backend, env!("CARGO_PKG_NAME"), false)?;
        Backend::open(self.backend, self.device)
    }

    /// What names a backend to another process of this program.
    pub(crate) fn arguments(backend: &Backend) -> [String; 4] {
        let info = backend.info();
        let [backend, device] = ["--backend", "--device"].map(str::to_owned);
        [backend, info.backend.to_owned(), device, info.index.to_string()]
    }
}
