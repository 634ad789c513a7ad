//! Fast, deterministic kernels for contrastive learning on [Burn](https://burn.dev): row ranks, sums of exponentials, sparse and
//! sampled products, batch normalisation and convolution.
//!
//! Tensor operations serve most of a contrastive loss well. The functions of this crate replace those steps that Burn lacks, or that
//! it computes slowly or in no fixed order. Each is an ordinary function on Burn's [`Tensor`](burn::tensor::Tensor), on any device,
//! with gradients.
//!
//! ```toml
//! [dependencies]
//! # Not published yet: this is a clone of the repository; `git = "…"` with its address works, too.
//! bcl-kernels = { path = "../bcl/crates/bcl-kernels" }
//! burn = { version = "=0.22.1", default-features = false, features = ["std", "autodiff", "flex"] }
//! ```
//!
//! ```
//! use bcl_kernels::sampled_dot;
//! use burn::tensor::{Device, Int, Tensor};
//!
//! let device = Device::flex();
//! let users = Tensor::<2>::from_floats([[1.0, 0.0], [0.0, 2.0]], &device);
//! let items = Tensor::<2>::from_floats([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], &device);
//! let sampled = Tensor::<2, Int>::from_ints([[2, 0], [1, 1]], &device);
//!
//! let scores = sampled_dot(users, items, sampled).into_data();
//!
//! assert_eq!(scores.as_slice::<f32>().unwrap(), [5.0, 1.0, 8.0, 8.0]);
//! ```
//!
//! | function | computes | instead of |
//! | --- | --- | --- |
//! | [`rank_weights`], [`row_ranks`] | a weight by rank, or the rank, of each score in its row | a sort, gather, running minimum and scatter, or an `[N, N]` comparison per anchor |
//! | [`mass`], [`ranked_mass`] | the *mass* of each row: the sum of its exponentials, plain or weighted by rank | several matrices saved for backward; here it is one |
//! | [`contrast`] | the loss of each anchor from embeddings, with its gradients in the same pass | a matrix of all scores, and another one of their gradients |
//! | [`matmul`], [`linear`] | matrix products in the precision of their elements | products that round 32-bit numbers to TF32 on NVIDIA GPUs |
//! | [`sparse_matmul`], [`sparse_matmul_add`], [`propagate`] | products with a [`SparseMatrix`], LightGCN propagation | dense products; Burn has no sparse tensors |
//! | [`sampled_contrast`] | the loss of each anchor against sampled rows of a table, with most of its gradients in the same pass | a dozen passes over the scores, forward and backward |
//! | [`sampled_dot`], [`gather_rows`] | dot products with sampled rows of an embedding table, embedding lookup | gradients of repeated rows that are added in no fixed order |
//! | [`unit_rows`] | L2-normalised rows | a dozen passes over the rows |
//! | [`batch_norm`], [`batch_norm_relu`], [`batch_norm_with`] | batch normalisation with the statistics of the batch | transposed copies of the whole batch |
//! | [`convolve`], [`with_tf32`] | 2D convolution | for the weight's gradient, a convolution with a kernel as large as the image |
//! | [`sum_over_processes`] | a sum over processes that train together | a sum without a gradient |
//! | [`adam`], [`lazy_adam`] | a step of Adam or `AdamW` | a dozen passes over parameter, gradient and moments, most of which allocate |
//! | [`lars`] | a step of LARS | a dozen passes over parameter, gradient and velocity |
//! | [`moving_average`] | a copy of parameters that follows them | three passes per parameter, two of which allocate |
//! | [`add_squares`], [`scale_by`] | clipping by the norm of many tensors | four passes per tensor |
//! | [`together`] | a few launches for the steps and averages of all parameters | a launch per parameter |
//! | [`StepGraph`] | a whole step of training | hundreds of launches |
//! | [`log1p`] | `log(1 + x)` | a function that loses small numbers on GPUs |
//!
//! [`Similarity`] chooses between cosine similarity and dot product.
//!
//! # Backends
//!
//! Each function belongs to a backend-extension trait: [`RankOps`], [`MassOps`], [`ContrastOps`], [`SparseOps`], [`SampledOps`], [`SampledContrastOps`], [`UnitOps`],
//! [`NormOps`], [`ProductOps`], [`ConvolutionOps`], [`CollectiveOps`], [`AdamOps`], [`LarsOps`], [`AverageOps`], [`ClipOps`], [`OverwriteOps`] or [`LogarithmOps`]. The default bodies compose tensor operations; [`portable`] gives access to them.
//! The CPU backend overrides all it can do faster. The GPU backends (features `cuda`, `metal`, `vulkan` and `wgpu`) override what is
//! slow or not deterministic there. All have handwritten backward passes, except steps of optimizers, averages and clipping, which have none.
//!
//! On the CPU, results are bit for bit the same for any number of threads. On GPUs, too, all sums of these kernels have a fixed order.

// SIMD dispatch compiles a body for each instruction set by inlining it there. A call would leave it compiled for the baseline.
#![expect(clippy::inline_always, reason = "SIMD dispatch relies on inlining")]

mod adam;
mod average;
mod clip;
mod collective_sum;
mod contrast;
mod convolution;
mod cpu;
#[cfg(feature = "cube")]
mod cube;
mod device;
mod exponential;
mod lars;
mod logarithm;
mod mass;
mod matrix;
mod norm;
mod product;
mod ranks;
mod sampled;
mod sampled_contrast;
mod similarity;
mod sparse;
mod step_graph;
mod strided;
mod together;
mod touched;
mod transpose;
mod unit;

pub mod portable;

/// Convolutions on GPUs by a given algorithm, for the example that times them. Not part of the interface.
#[cfg(feature = "cube")]
#[doc(hidden)]
pub mod convolution_algorithms {
    pub use crate::convolution::cube::{
        Algorithm, Block, Convolution, Implicit, Loading, Pass, Pipeline, Product, Refused, Tiles, chosen, data, forward, weight,
    };
    pub use cubek::convolution::{AcceleratedTileKind, ConvAlgorithm};
}

pub use adam::{AdamDecay, AdamInput, AdamOps, AdamStep, AdamUpdated, LazyMemory, LazyUpdated, adam, lazy_adam};
pub use average::{AverageOps, moving_average};
pub use clip::{ClipOps, add_squares, scale_by};
pub use collective_sum::{CollectiveOps, sum_over_processes};
pub use contrast::{Contrast, ContrastOps, Correction, Excluded, RowLists, Weighing, contrast, contrast_views};
pub use convolution::{ConvolutionOps, convolve, with_tf32};
pub use device::large_batches_are_faster;
pub use lars::{LarsAdaptation, LarsInput, LarsOps, LarsStep, LarsUpdated, lars};
pub use logarithm::{LogarithmOps, log1p};
pub use mass::{MassOps, mass, ranked_mass};
pub use norm::{BatchNormOptions, BatchNormalised, NormOps, batch_norm, batch_norm_relu, batch_norm_with};
pub use product::{ProductOps, linear, matmul};
pub use ranks::{RankOps, rank_weights, row_ranks};
pub use sampled::{SampledOps, gather_rows, sampled_dot};
pub use sampled_contrast::{SampledContrastOps, sampled_contrast, sampled_contrast_is_fused};
pub use similarity::Similarity;
pub use sparse::{SparseMatrix, SparseOps, propagate, sparse_matmul, sparse_matmul_add};
pub use step_graph::{NotRecorded, OverwriteOps, Replays, StepGraph, StepRecorder, in_own_memory, overwrite, replays};
pub use together::together;
pub use unit::{UnitOps, unit_rows};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
