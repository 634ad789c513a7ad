//! Models without training epochs that a learned encoder should beat: [`Popularity`] and [`Ease`].
//!
//! Both implement [`Scorer`](crate::ranking::Scorer), so they are evaluated exactly like an encoder.

mod ease;
mod popularity;
#[cfg(test)]
mod tests;

pub use ease::{Ease, EaseError};
pub use popularity::Popularity;
