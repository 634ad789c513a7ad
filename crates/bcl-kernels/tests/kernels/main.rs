//! The kernels against slow references, their portable bodies, finite differences, and runs with other numbers of threads.

mod batch_norm;
mod common;
mod contrast;
mod convolution;
mod mass;
mod ones;
mod ranks;
mod sampled;
mod sampled_contrast;
mod sparse;
mod threads;
mod unit_rows;
