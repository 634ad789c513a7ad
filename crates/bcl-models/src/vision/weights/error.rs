//! Errors of loading and saving weights.

use std::path::PathBuf;
use thiserror::Error;

/// What is wrong with a file of weights, and what to do.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WeightsError {
    /// The file does not exist, or is not of the format that its extension says.
    #[error("cannot read weights from {path}: {reason}; expected a .safetensors file or a PyTorch state_dict (.pth, .pt)")]
    Read {
        /// The file.
        path: PathBuf,
        /// The reader's message.
        reason: String,
    },
    /// The weights cannot be written.
    #[error("cannot read the weights from the device: {0}")]
    Write(String),
    /// A tensor of the network is not in the file.
    #[error("{path} has no tensor {tensor} of shape {expected:?}, and {others} more are missing; {remedy}")]
    Missing {
        /// The file.
        path: PathBuf,
        /// The network's name of the first missing tensor.
        tensor: String,
        /// Its shape.
        expected: Vec<usize>,
        /// How many more are missing.
        others: usize,
        /// What to do.
        remedy: String,
    },
    /// The file has a tensor of a deeper network.
    #[error("{path}: tensor {tensor} and {others} more are not in the network; {remedy}")]
    Surplus {
        /// The file.
        path: PathBuf,
        /// The file's name of the first such tensor.
        tensor: String,
        /// How many more such tensors there are.
        others: usize,
        /// What to do.
        remedy: String,
    },
    /// A tensor has another shape than in the network.
    #[error("{path}: tensor {tensor} has shape {found:?}, but the network's has {expected:?}; {remedy}")]
    Shape {
        /// The file.
        path: PathBuf,
        /// The file's name of the tensor.
        tensor: String,
        /// Its shape in the file.
        found: Vec<usize>,
        /// Its shape in the network.
        expected: Vec<usize>,
        /// What to do.
        remedy: String,
    },
    /// A tensor is not of a floating point type.
    #[error(
        "{path}: tensor {tensor} has type {found}, but must have a floating point type; save the network's own state_dict, not a quantised one"
    )]
    Kind {
        /// The file.
        path: PathBuf,
        /// The file's name of the tensor.
        tensor: String,
        /// Its type.
        found: String,
    },
    /// A tensor holds a value that no trained network has.
    #[error(
        "{path}: tensor {tensor} contains {found}, but must contain {needed}; the file is damaged or was saved after training diverged: use an \
         earlier checkpoint"
    )]
    Value {
        /// The file.
        path: PathBuf,
        /// The file's name of the tensor.
        tensor: String,
        /// The value and its index.
        found: String,
        /// What values are valid.
        needed: &'static str,
    },
    /// Two tensors of the file have the same name in the network.
    #[error("{path}: tensors {first} and {second} both map to {tensor}; keep only one network in the file")]
    Twice {
        /// The file.
        path: PathBuf,
        /// The network's name.
        tensor: String,
        /// One of the file's names.
        first: String,
        /// The other.
        second: String,
    },
    /// The encoder has two networks, and the file has one.
    #[error(
        "{path} has one network, but an encoder with split channels needs two: use a file that an encoder with split channels was exported \
         to, or remove encoder.split_channels"
    )]
    OneNetwork {
        /// The file.
        path: PathBuf,
    },
}
