//! ONNX models of image encoders, which run without this crate: in ONNX Runtime, on phones and in browsers.
//!
//! [`to_onnx`] writes an encoder in evaluation mode, in operators of opset 17. Batch, height and width are free:
//!
//! | tensor | shape | what it is |
//! | --- | --- | --- |
//! | `images` | `[batch, 3, height, width]` | normalised pixels, as [`ImageEncoder::raw_features`] takes them |
//! | `features` | `[batch, num_features]` | [`ImageEncoder::raw_features`], not normalised to unit length |
//! | `projections` | `[batch, dim]` | [`ImageEncoder::raw_projections`], if asked for |
//!
//! Weights have torchvision's names. Normalisation layers keep their statistics, which runtimes fold into the convolutions before them.
//!
//! ```
//! use bcl_models::vision::{ImageEncoderConfig, ResNetConfig, ResNetDepth, onnx::{OnnxOptions, to_onnx}};
//! use burn::tensor::Device;
//!
//! let trunk = ResNetConfig { depth: ResNetDepth::ResNet18, width: 2, ..ResNetConfig::default() };
//! let config = ImageEncoderConfig { trunk, ..ImageEncoderConfig::default() };
//! let options = OnnxOptions { metadata: vec![("side".to_owned(), "32".to_owned())], ..OnnxOptions::default() };
//!
//! let model = to_onnx(&config.init(0, &Device::flex()), &options)?;
//! assert!(model.windows(6).any(|bytes| bytes == b"images"));
//! # Ok::<(), bcl_models::vision::onnx::OnnxError>(())
//! ```

mod graph;
mod network;

use super::ImageEncoder;
use graph::Graph;
use thiserror::Error;

/// The most bytes of a protobuf message, and so of a model in one file.
const LARGEST: usize = i32::MAX as usize;

/// Why an encoder cannot be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OnnxError {
    /// The weights exceed the limit of the format.
    #[error(
        "the model would have {bytes} bytes, and an ONNX file has at most {LARGEST}; export safetensors, or train with a smaller encoder.trunk.width"
    )]
    TooLarge {
        /// Size of the model.
        bytes: usize,
    },
}

/// What a model has beside the trunk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OnnxOptions {
    /// Whether to add the projection head, as the output `projections`.
    pub projections: bool,
    /// Texts by name for readers of the model, such as the constants that pixels are normalised with.
    pub metadata: Vec<(String, String)>,
}

/// Serialises an encoder in evaluation mode as an ONNX model.
///
/// # Errors
/// Returns an error if the model is too large for one file.
pub fn to_onnx(encoder: &ImageEncoder, options: &OnnxOptions) -> Result<Vec<u8>, OnnxError> {
    let mut graph = Graph::default();
    let streams = network::streams(&mut graph, encoder);
    let features = network::features(&mut graph, &streams);
    graph.output(
        "features",
        &features,
        streams.iter().map(|stream| stream.trunk.num_features()).sum(),
    );
    if options.projections {
        let projections = network::projections(&mut graph, &streams);
        let size = streams.iter().map(|stream| stream.head.out.weight.dims()[1]).sum();
        graph.output("projections", &projections, size);
    }
    let bytes = graph.into_model(&options.metadata);
    if bytes.len() > LARGEST {
        return Err(OnnxError::TooLarge { bytes: bytes.len() });
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests;
