//! What Burn's optimizers lack: layer-wise rates, schedules of rates above 1, and changes of the whole gradient at once.

mod clip;
mod lars;
mod rate;
mod scale;

pub use clip::clip_global_norm;
pub use lars::{Lars, LarsConfig};
pub use rate::{Decay, RateSchedule};
pub use scale::scaled;
