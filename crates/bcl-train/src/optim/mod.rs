//! What Burn's optimizers lack: LARS, learning rates above 1, and clipping by the global norm.

mod clip;
mod lars;
mod rate;
mod scale;

pub use clip::clip_global_norm;
pub use lars::{Lars, LarsConfig};
pub use rate::{Decay, RateSchedule};
pub use scale::scaled;
