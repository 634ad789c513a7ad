//! Training in several processes. Each has a copy of the model and a part of every batch.
//!
//! A step is cut between embedding and objective, as in [gradient caching](super::cached):
//!
//! 1. Each process embeds its samples, and all gather the embeddings of the batch.
//! 2. Each process compares its anchors with all embeddings. Its loss is the sum over these anchors, divided by the number of all
//!    anchors of the batch.
//! 3. The gradients of all embeddings are summed over processes; each process gets the sums for its rows and runs the backward pass of its
//!    copy of the encoder.
//! 4. The gradients of the parameters are summed, so all processes take the same step. They are not averaged, because the loss is already a
//!    mean over all anchors.
//!
//! The usual mistake is to gather embeddings without a gradient, which trains on only a part of the gradient.
//!
//! A method that [embeds the whole batch](bcl_methods::Method::EMBEDS_WHOLE_BATCH) in each process needs no gathering. There, the gradients of
//! the tables are summed, and every process runs the same backward pass.

mod gathered;
mod of_first;
mod step;
mod sums;
mod weights;

pub use of_first::of_first;
pub use weights::refuse_different_weights;
