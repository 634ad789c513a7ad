//! What the weights explorer (`bcl-bench explore`) computes. Its page runs these functions as WebAssembly, built by `cargo xtask wasm`.
//!
//! Everything is `f64`. [`Posterior`](bcl_posterior::Posterior) computes the weights; the row of scores is the expected row of the Bayesian model.

mod densities;
mod loss;
#[cfg(target_family = "wasm")]
mod wasm;

pub use densities::{base_density, class_density};
pub use loss::{Weighing, loss, negative_mass, similarities};
