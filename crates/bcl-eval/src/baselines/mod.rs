//! Models without training epochs that a learned encoder should beat: [`Random`], [`Popularity`], [`ItemKnn`] and [`Ease`].
//!
//! All implement [`Scorer`](crate::ranking::Scorer), so they are evaluated exactly like an encoder.

mod ease;
mod item_knn;
mod popularity;
mod random;
#[cfg(test)]
mod tests;

pub use ease::{Ease, EaseError};
pub use item_knn::{ItemKnn, ItemKnnError};
pub use popularity::Popularity;
pub use random::Random;
