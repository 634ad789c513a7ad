//! What Burn's optimizers lack: layer-wise rates, and changes of the whole gradient at once.

mod clip;
mod lars;
mod scale;

pub use clip::clip_global_norm;
pub use lars::{Lars, LarsConfig};
pub use scale::scaled;
