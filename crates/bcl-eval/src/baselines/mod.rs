//! Models without training epochs that a learned encoder should beat: [`Popularity`] and [`Ease`].
//!
//! Both are a [`Scorer`](crate::ranking::Scorer), so they are evaluated exactly as an encoder is.

mod ease;
mod popularity;
#[cfg(test)]
mod tests;

pub use ease::{Ease, EaseError};
pub use popularity::Popularity;
