//! What processes that train together must have in common: the same weights.

mod of_first;
mod weights;

pub use of_first::of_first;
pub use weights::refuse_different_weights;
