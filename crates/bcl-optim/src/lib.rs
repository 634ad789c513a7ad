//! What Burn's optimizers lack: LARS, Adam in one pass over memory, learning rates above 1, and clipping by the global norm.
//!
//! | to | use |
//! | --- | --- |
//! | train with large batches | [`Lars`] |
//! | train as with Burn's Adam or `AdamW`, faster | [`Adam`] |
//! | warm up, then keep or anneal a rate of any size | [`RateSchedule`] |
//! | limit the norm of the whole gradient | [`clip_global_norm`] |
//! | multiply all gradients, for loss scaling or means | [`scaled`] |

mod adam;
mod clip;
mod lars;
mod rate;
mod scale;

pub use adam::{Adam, AdamConfig, AdamMemory};
pub use bcl_kernels::AdamDecay;
pub use clip::clip_global_norm;
pub use lars::{Lars, LarsConfig, LarsMemory};
pub use rate::{Decay, RateSchedule};
pub use scale::scaled;
