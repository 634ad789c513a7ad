//! Convolutions of 3 x 3 with stride 1 by Winograd's F(4 x 4, 3 x 3): a quarter of the multiplications, in single precision.
//!
//! A tile of 4 x 4 output pixels reads 6 x 6 input pixels. Transformed, it has 36 frequencies, each with its own product: with all
//! tiles of a block as rows, a matrix product of inputs and kernels over the channels. The gradient of the input is such a convolution,
//! too. The gradient of the weight is the adjoint: for each frequency, a product over the tiles.
//!
//! The error is about ten times the error of adding up the taps one by one; tests bound it by 3e-5 of the largest value.

mod by_frequency;
mod forward;
#[allow(
    clippy::needless_range_loop,
    reason = "the indices are rows and columns of tiles, as in the formulas"
)]
mod kernels;
#[allow(
    clippy::needless_range_loop,
    reason = "the indices are rows and columns of tiles, as in the formulas"
)]
mod spectra;
mod tiling;
mod transforms;
mod weight_gradient;

pub(super) use forward::forward;
pub(super) use kernels::Kernels;
pub(super) use tiling::Tiling;
pub(super) use weight_gradient::weight_gradient;
