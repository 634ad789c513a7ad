//! Stops an evaluation early.

use std::{fmt, sync::Arc};

/// A callback that an evaluation asks between two blocks of work whether to stop.
#[derive(Clone)]
pub struct Interrupt(Arc<dyn Fn() -> bool + Send + Sync>);

impl Interrupt {
    /// Stops once `is_requested` returns `true`.
    pub fn when(is_requested: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(is_requested))
    }

    /// Whether to stop.
    pub fn is_requested(&self) -> bool {
        (self.0)()
    }
}

impl Default for Interrupt {
    /// Never stops.
    fn default() -> Self {
        Self::when(|| false)
    }
}

impl fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Interrupt")
    }
}
