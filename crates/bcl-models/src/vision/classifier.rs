//! An image encoder with a linear classifier on top, for fine-tuning.

use super::{ImageEncoder, Mode, precision::linear};
use burn::{
    module::Module,
    nn::{Initializer, Linear, LinearConfig},
    tensor::{Device, Tensor},
};

/// An image encoder and a linear classifier of its features. The projection head is not used.
///
/// ```text
/// logits = fc(features(images))
/// ```
///
/// Source: Chen et al., [A Simple Framework for Contrastive Learning of Visual Representations](https://arxiv.org/abs/2002.05709), which
/// fine-tunes such a network on few labels.
///
/// ```
/// use bcl_models::vision::{ImageClassifier, ImageEncoderConfig, Mode, ResNetConfig, ResNetDepth};
/// use burn::tensor::{Device, Tensor};
///
/// let trunk = ResNetConfig { depth: ResNetDepth::ResNet18, width: 2, ..ResNetConfig::default() };
/// let config = ImageEncoderConfig { trunk, ..ImageEncoderConfig::default() };
/// let device = Device::flex();
/// let classifier = ImageClassifier::new(config.init(0, &device), config.num_features(), 10, &device);
///
/// let logits = classifier.forward(Tensor::ones([4, 3, 8, 8], &device), Mode::Eval);
/// assert_eq!(logits.dims(), [4, 10]);
/// ```
#[derive(Module, Debug)]
pub struct ImageClassifier {
    /// Maps images to features.
    pub encoder: ImageEncoder,
    /// Maps features to logits, `[num_features, num_classes]`.
    pub fc: Linear,
}

impl ImageClassifier {
    /// Puts a classifier of zeros on an encoder: it begins without an opinion, so that the first steps change the classifier and hardly
    /// the encoder.
    pub fn new(encoder: ImageEncoder, num_features: usize, num_classes: usize, device: &Device) -> Self {
        let fc = LinearConfig::new(num_features, num_classes).with_initializer(Initializer::Zeros);
        Self {
            encoder,
            fc: fc.init(device),
        }
    }

    /// Computes the logits of images. In training mode, batch normalisation uses and updates the statistics of the batch.
    ///
    /// # Shapes
    /// - images: `[batch_size, 3, height, width]`
    /// - output: `[batch_size, num_classes]`
    pub fn forward(&self, images: Tensor<4>, mode: Mode) -> Tensor<2> {
        linear(&self.fc, self.encoder.raw_features(images, mode))
    }
}
