//! Row ranks, sparse products, sampled similarities, batch normalisation and convolutions as Burn backend extensions.
//!
//! Burn composes losses out of tensor operations, and most of a contrastive loss is well served by them. Some steps are not:
//!
//! - [`rank_weights`] and [`row_ranks`] need the empirical distribution of each row of scores. Out of tensor operations that is a
//!   sort, a gather, a running minimum and a scatter (or an `[N, N]` comparison per anchor, as in the paper's released code).
//! - [`mass`] and [`ranked_mass`] add up the exponentials of each row, weighed by rank or not, in one pass, and keep one matrix for the way
//!   back, where tensor operations keep several.
//! - [`sparse_matmul`] and [`propagate`] carry embeddings along a graph. Burn has no sparse tensors.
//! - [`sampled_dot`] and [`gather_rows`] read a few rows of an embedding table and must add the gradients of repeated rows back
//!   in an order that does not depend on the number of threads.
//! - [`unit_rows`] turns inner products into cosines in one pass over the rows each way, where tensor operations take a dozen.
//!   [`Similarity`] is the choice between the two.
//! - [`batch_norm`] needs sums over each channel, whose values lie in many places; Burn moves the whole batch about for them.
//! - [`log1p`] keeps the digits of small numbers where shading languages do not.
//! - [`convolve`] computes the gradient of a kernel as a matrix product, where Burn convolves with a kernel as large as the image.
//!
//! Each is a function on Burn's [`Tensor`](burn::tensor::Tensor) that works on any backend this crate lists. Behind it stands a
//! backend-extension trait ([`RankOps`], [`MassOps`], [`SparseOps`], [`SampledOps`], [`UnitOps`], [`NormOps`], [`ConvolutionOps`],
//! [`LogarithmOps`]) whose default bodies compose tensor operations, found again in [`portable`]; the CPU backend overrides them, those on
//! GPUs (feature `cube`, which each of `cuda`, `metal`, `vulkan` and `wgpu` turns on) override what is slow or not deterministic there, and
//! autodiff gets a handwritten backward pass.
//!
//! The results on the CPU are the same, bit for bit, for any number of threads. On GPUs all sums of these kernels have their order, too.

// A vectorised body is compiled for each instruction set by inlining it there; a call would leave it compiled for the oldest.
#![expect(clippy::inline_always, reason = "what SIMD dispatch relies on")]

mod convolution;
mod cpu;
#[cfg(feature = "cube")]
mod cube;
mod logarithm;
mod mass;
mod norm;
mod ranks;
mod sampled;
mod similarity;
mod sparse;
mod unit;

pub mod portable;

pub use convolution::{ConvolutionOps, convolve};
pub use logarithm::{LogarithmOps, log1p};
pub use mass::{MassOps, mass, ranked_mass};
pub use norm::{BatchNormalised, NormOps, batch_norm, batch_norm_relu};
pub use ranks::{RankOps, rank_weights, row_ranks};
pub use sampled::{SampledOps, gather_rows, sampled_dot};
pub use similarity::Similarity;
pub use sparse::{SparseMatrix, SparseOps, propagate, sparse_matmul};
pub use unit::{UnitOps, unit_rows};
