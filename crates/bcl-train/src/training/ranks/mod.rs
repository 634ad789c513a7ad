//! Training on several ranks, of which each has a copy of the model and a share of every batch.
//!
//! The cut between embedding and objective is that of [gradient caching](super::cached):
//!
//! 1. Each rank embeds its own samples, and all gather the embeddings of the batch.
//! 2. Each compares its own share of the anchors with all embeddings. Its loss is the sum over these anchors, divided by the number of all
//!    anchors of the batch.
//! 3. The gradients of all embeddings are summed over ranks; each rank gets the sums for its own rows and goes backward through its own
//!    encoder.
//! 4. The gradients of the parameters are summed, so all ranks take the same step. A sum, no mean: the loss is a mean over all
//!    anchors already.
//!
//! Gathered embeddings that carried no gradient, the usual mistake, would train on a part of the gradient alone.
//!
//! A method that [embeds the whole batch](crate::methods::Method::EMBEDS_WHOLE_BATCH) on each rank needs no gathering; there the gradients of the
//! tables are summed, and every rank goes backward alike.

mod gathered;
mod of_first;
mod step;
mod sums;
mod weights;

pub use of_first::of_first;
pub use weights::refuse_different_weights;
