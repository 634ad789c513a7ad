//! What methods for encoders of graphs have in common.

use super::Method;
use crate::batches::GraphBatches;
use bcl_data::DataError;
use bcl_models::graphs::{Gin, GinConfig};

/// Name of the seed of the encoder's weights, so that they are the same with every method and without one.
pub(crate) const ENCODER: &str = "init";

/// Code that is generic over the method. [`GraphMethodConfig::init`](super::GraphMethodConfig::init) calls it with the method of the recipe.
pub trait WithGraphMethod {
    /// The return type.
    type Output;

    /// Runs the code with a method and what makes its batches.
    fn call<M, B>(self, method: M, batches: B) -> Self::Output
    where
        M: Method<Encoder = Gin, Batch = B::Batch>,
        B: GraphBatches;
}

/// The parameters of a method, as in recipes.
pub trait GraphMethodSettings {
    /// Checks the ranges.
    ///
    /// # Errors
    /// Returns an error that names the key and its remedy.
    fn check(&self) -> Result<(), DataError> {
        Ok(())
    }

    /// Number of anchors of a batch.
    fn num_anchors(&self, num_nodes: u64, num_graphs: u64) -> u64;

    /// Number of negatives per anchor in batches of so many graphs.
    fn num_negatives(&self, num_graphs: usize) -> usize;

    /// Lower bound on the number of nodes that are encoded for a batch of so many.
    fn num_encoded(&self, num_nodes: u64) -> u64;

    /// Number of heads between encoder and loss.
    fn num_heads(&self) -> usize;

    /// Number of parameters of the heads.
    fn head_parameters(&self, encoder: &GinConfig) -> u64;
}
