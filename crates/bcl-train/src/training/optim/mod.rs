//! What Burn's optimizers lack: layer-wise rates, and clipping by the norm of the whole gradient.

mod clip;
mod lars;

pub use clip::clip_global_norm;
pub use lars::{Lars, LarsConfig};
