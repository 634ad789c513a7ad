//! Where a verb computes.

use bcl_train::{
    backend::{Backend, BackendError},
    cli::BackendChoice,
    launch,
};

#[derive(clap::Args)]
pub(crate) struct Place {
    /// What computes.
    #[arg(long, value_enum, value_name = "NAME", default_value_t = BackendChoice::Flex)]
    backend: BackendChoice,
    /// Which device of the backend, as `bcl-train devices` counts them from 0 [default: the best].
    #[arg(long, value_name = "N")]
    device: Option<usize>,
}

impl Place {
    /// Opens the backend. Where it is not in this build, one that has it takes over.
    pub(crate) fn open(&self) -> Result<Backend, BackendError> {
        launch::ensure(self.backend, env!("CARGO_PKG_NAME"), false)?;
        Backend::open(self.backend, self.device)
    }
}
