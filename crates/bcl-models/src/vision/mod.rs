//! Image encoders: ResNets with a projection head, and their weights under torchvision's names.
//!
//! An [`ImageEncoder`] is a [`ResNet`] and a [`ProjectionHead`], or two of each with split channels. Training compares [`projections`](ImageEncoder::projections), evaluation
//! uses [`features`](ImageEncoder::features); both are L2-normalised. The argument [`Mode`], not the device, decides how batch
//! normalisation behaves. The images set the precision:
//!
//! ```
//! use bcl_models::vision::{ImageEncoderConfig, Mode, ProjectionHeadConfig, ResNetConfig, ResNetDepth, Stem};
//! use burn::tensor::{Device, Tensor};
//!
//! let config = ImageEncoderConfig {
//!     trunk: ResNetConfig { depth: ResNetDepth::ResNet18, stem: Stem::Cifar, width: 4 },
//!     head: ProjectionHeadConfig { hidden: 16, out: 8, ..ProjectionHeadConfig::default() },
//!     ..ImageEncoderConfig::default()
//! };
//! let device = Device::flex();
//! let encoder = config.init(0, &device);
//!
//! let images = Tensor::ones([2, 3, 16, 16], &device);
//! let embeddings = encoder.forward(images, Mode::Eval);
//!
//! assert_eq!(embeddings.features.dims(), [2, 32]);
//! assert_eq!(embeddings.projections.dims(), [2, 8]);
//! ```

mod activation;
mod batch_norm;
mod block;
mod classifier;
mod config;
mod convolution;
mod ema;
mod encoder;
mod groups;
mod head_config;
pub mod onnx;
mod over_processes;
pub(crate) mod precision;
mod projection;
mod prototypes;
mod resnet;
mod size;
mod statistics;
#[cfg(test)]
mod test_values;
pub mod weights;

pub use activation::HeadActivation;
pub use batch_norm::{BatchNorm, Mode, Pass};
pub use block::Block;
pub use classifier::ImageClassifier;
pub use config::{ImageEncoderConfig, ResNetConfig, ResNetDepth, Stem};
pub use convolution::Convolution;
pub use ema::{cosine_momentum, ema_target, ema_update};
pub use encoder::{ChannelEncoder, ImageEmbeddings, ImageEncoder};
pub use head_config::{HeadNorm, ProjectionHeadConfig};
pub use projection::{HiddenLayer, ProjectionHead};
pub use prototypes::{Prototypes, PrototypesConfig};
pub use resnet::ResNet;
pub use size::EncoderSize;
pub use statistics::RunningStatistic;
