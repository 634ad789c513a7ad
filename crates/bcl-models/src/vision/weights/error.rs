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
    /// The file has several networks, and none of them is known to be the one to use.
    #[error("{path} has several networks, whose tensors begin with {prefixes}: set encoder.weights_prefix to the one to use")]
    Several {
        /// The file.
        path: PathBuf,
        /// The prefixes of the networks.
        prefixes: String,
    },
    /// The file has no network with the prefix that was asked for.
    #[error(
        "{path} has no network whose tensors begin with `{wanted}`, but with {prefixes}: set encoder.weights_prefix to one of these"
    )]
    NotThere {
        /// The file.
        path: PathBuf,
        /// The prefix.
        wanted: String,
        /// The prefixes of the networks.
        prefixes: String,
    },
    /// The file has no network of a kind that is read.
    #[error(
        "{path} does not look like a ResNet: the first of its {found} tensors are {first}, but `conv1.weight`, `layer1.0.conv1.weight` and so on were \
         expected, behind any prefix, or `0.weight` and `4.0.conv1.weight` of a Sequential: save the state_dict of a ResNet of torchvision"
    )]
    NoNetwork {
        /// The file.
        path: PathBuf,
        /// Number of tensors.
        found: usize,
        /// The first names.
        first: String,
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
