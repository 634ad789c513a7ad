//! The weights explorer: a self-contained page with sliders that shows what the parameters of the Bayesian loss do.
//!
//! The page computes with `bcl-posterior` itself, compiled to WebAssembly (`explorer.wasm`, built by `cargo xtask wasm`) and embedded, so it
//! makes no request.

mod checks;
mod page;
mod settings;
#[cfg(test)]
mod tests;

pub use page::page;
pub use settings::{LARGEST_TEMPERATURE, MOST_NEGATIVES, SMALLEST_TEMPERATURE, Settings};
