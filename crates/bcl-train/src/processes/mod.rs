//! The processes that train one model together, and the place of this one among them.

mod agreement;

pub use agreement::{on_first, refuse_differences};

use bcl_collective::{Alone, Collective};
use std::sync::{Arc, OnceLock};

/// The ranks that this process belongs to, if there are several.
static COLLECTIVE: OnceLock<Arc<dyn Collective>> = OnceLock::new();

/// The ranks that this process belongs to: [`Alone`] unless several processes were started together.
pub fn collective() -> Arc<dyn Collective> {
    COLLECTIVE.get().map_or_else(|| Arc::new(Alone), Arc::clone)
}
