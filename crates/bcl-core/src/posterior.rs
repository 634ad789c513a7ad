//! The probability that an unlabelled score belongs to a true negative, and the Bayesian weight that follows from it.
//!
//! [`Posterior`] is plain arithmetic, in the crate `bcl-posterior`; [`PosteriorTensors`] applies it to tensors.

mod tensor;

pub use bcl_posterior::{OfficialCoefficients, OrderMixture, Posterior, ecdf};
pub use tensor::PosteriorTensors;
