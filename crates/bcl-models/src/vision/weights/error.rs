//! What can go wrong with a file of weights.

use std::path::PathBuf;
use thiserror::Error;

/// What can go wrong with a file of weights.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WeightsError {
    /// The file is not there, or is not of the format its name says.
    #[error("cannot read weights from {path}: {reason}; a .safetensors file or a PyTorch state_dict (.pth, .pt) is expected")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the reader said.
        reason: String,
    },
    /// Weights cannot become a file.
    #[error("the weights cannot be read from their device: {0}")]
    Write(String),
    /// A tensor of the network is not in the file.
    #[error("{path} has no tensor {tensor} of shape {expected:?}, and lacks {others} others of the network; {remedy}")]
    Missing {
        /// The file.
        path: PathBuf,
        /// The network's name of the first tensor that is not there.
        tensor: String,
        /// Its shape.
        expected: Vec<usize>,
        /// How many more are not there.
        others: usize,
        /// What to do.
        remedy: String,
    },
    /// A tensor has a name of such a network, but this one has no such tensor: the file is of a deeper network.
    #[error("{path}: tensor {tensor} and {others} others have no place in the network; {remedy}")]
    Surplus {
        /// The file.
        path: PathBuf,
        /// The file's name of the first such tensor.
        tensor: String,
        /// How many more there are.
        others: usize,
        /// What to do.
        remedy: String,
    },
    /// A tensor has another shape than the network's.
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
    /// A tensor does not hold floating point numbers.
    #[error(
        "{path}: tensor {tensor} holds {found}, but must hold floating point numbers; save the network's own state_dict, not a quantised one"
    )]
    Kind {
        /// The file.
        path: PathBuf,
        /// The file's name of the tensor.
        tensor: String,
        /// What it holds.
        found: String,
    },
    /// A tensor holds a number that no trained network has.
    #[error(
        "{path}: tensor {tensor} holds {found}, but must hold {needed}; the file is damaged or was saved after training diverged: use an \
         earlier checkpoint"
    )]
    Value {
        /// The file.
        path: PathBuf,
        /// The file's name of the tensor.
        tensor: String,
        /// The number, and where it is.
        found: String,
        /// What numbers belong there.
        needed: &'static str,
    },
    /// Two of the file's tensors are the same one of the network's.
    #[error("{path}: tensors {first} and {second} both are the network's {tensor}; keep one network in the file")]
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
}
