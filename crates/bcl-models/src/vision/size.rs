//! The size of an encoder before it is built: its parameters, the memory that a training step saves for backward, and its arithmetic.

use super::{
    ProjectionHeadConfig,
    config::{ImageEncoderConfig, ResNetConfig, Stem},
};

/// Sizes of an encoder for images of a given side.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EncoderSize {
    /// Number of trained parameters.
    pub parameters: u64,
    /// Numbers saved for backward per image: the input and output of each convolution. A lower bound.
    pub saved: u64,
    /// Multiplications with an addition that the convolutions and linear layers need per image, forward. Backward needs twice as many.
    pub multiply_adds: u64,
}

impl ImageEncoderConfig {
    /// Computes the sizes of this encoder for square images of `side` pixels.
    ///
    /// ```
    /// use bcl_models::vision::ImageEncoderConfig;
    ///
    /// // ResNet-50 with its projection head.
    /// let size = ImageEncoderConfig::default().size(32);
    /// assert_eq!(size.parameters / 1_000_000, 24);
    /// ```
    pub fn size(&self, side: usize) -> EncoderSize {
        let mut size = EncoderSize::default();
        for channels in self.channels() {
            for part in [
                of_trunk(&self.trunk, channels, side),
                of_head(&self.head, self.trunk.num_features()),
            ] {
                size.parameters += part.parameters;
                size.saved += part.saved;
                size.multiply_adds += part.multiply_adds;
            }
        }
        size
    }
}

fn of_head(config: &ProjectionHeadConfig, num_features: usize) -> EncoderSize {
    let [hidden, out] = [config.hidden, config.out].map(|size| size as u64);
    let norm = config.norm;
    let mut features = num_features as u64;
    let mut size = EncoderSize {
        saved: features,
        ..EncoderSize::default()
    };
    let mut layer = |size_out: u64, has_norm: bool, is_affine: bool| {
        // A scale and a shift, or a bias.
        let per_channel = match (has_norm, is_affine) {
            (true, true) => 2,
            (true, false) => 0,
            (false, _) => 1,
        };
        size.parameters += features * size_out + per_channel * size_out;
        size.saved += size_out;
        size.multiply_adds += features * size_out;
        features = size_out;
    };
    for _ in 1..config.layers {
        layer(hidden, norm.is_on_hidden(), true);
    }
    layer(out, norm.is_on_out(), norm.is_affine_on_out());
    size
}

fn of_trunk(config: &ResNetConfig, channels_in: usize, side: usize) -> EncoderSize {
    let mut size = EncoderSize::default();
    let mut side = side as u64;
    let half = |side: u64| side.div_ceil(2);
    let mut convolution = |channels_in: u64, channels_out: u64, kernel: u64, side_in: u64, side_out: u64| {
        let weights = channels_in * channels_out * kernel * kernel;
        // Batch normalisation has a scale and a shift per channel.
        size.parameters += weights + 2 * channels_out;
        size.multiply_adds += weights * side_out * side_out;
        size.saved += channels_in * side_in * side_in + channels_out * side_out * side_out;
    };

    let [channels_in, width] = [channels_in, config.width].map(|count| count as u64);
    match config.stem {
        Stem::Imagenet => {
            convolution(channels_in, width, 7, side, half(side));
            side = half(half(side));
        }
        Stem::Cifar => convolution(channels_in, width, 3, side, side),
    }
    let expansion = config.depth.expansion() as u64;
    let mut channels = width;
    for (stage, blocks) in config.depth.blocks().into_iter().enumerate() {
        let inner = width << stage;
        let outer = inner * expansion;
        for block in 0..blocks {
            let strided = stage > 0 && block == 0;
            let side_out = if strided { half(side) } else { side };
            if expansion == 1 {
                convolution(channels, inner, 3, side, side_out);
                convolution(inner, inner, 3, side_out, side_out);
            } else {
                convolution(channels, inner, 1, side, side);
                convolution(inner, inner, 3, side, side_out);
                convolution(inner, outer, 1, side_out, side_out);
            }
            if strided || channels != outer {
                // It shares its input with the block's first convolution, which has been counted.
                convolution(channels, outer, 1, 0, side_out);
            }
            (channels, side) = (outer, side_out);
        }
    }
    size
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vision::{HeadNorm, ProjectionHeadConfig, ResNetDepth};
    use burn::{
        module::{Module, ModuleVisitor, Param},
        tensor::{Device, Tensor},
    };

    /// Counts only parameters that get a gradient; the visitor also sees running statistics.
    struct TrainableCount(u64);

    impl ModuleVisitor for TrainableCount {
        fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
            let value = param.val();
            if value.is_require_grad() {
                self.0 += value.shape().num_elements() as u64;
            }
        }
    }

    fn assert_counted(config: &ImageEncoderConfig) {
        let mut trained = TrainableCount(0);
        config.init(0, &Device::flex().autodiff()).visit(&mut trained);
        assert_eq!(config.size(32).parameters, trained.0, "{config:?}");
    }

    #[test]
    fn parameters_are_those_of_the_network_that_is_built() {
        for depth in [ResNetDepth::ResNet18, ResNetDepth::ResNet34, ResNetDepth::ResNet50] {
            for stem in [Stem::Imagenet, Stem::Cifar] {
                for split_channels in [None, Some(1), Some(2)] {
                    assert_counted(&ImageEncoderConfig {
                        trunk: ResNetConfig { depth, stem, width: 3 },
                        head: ProjectionHeadConfig {
                            hidden: 7,
                            out: 5,
                            ..ProjectionHeadConfig::default()
                        },
                        split_channels,
                    });
                }
            }
        }
    }

    #[test]
    fn parameters_are_those_of_the_head_that_is_built() {
        let trunk = ResNetConfig {
            depth: ResNetDepth::ResNet18,
            width: 1,
            ..ResNetConfig::default()
        };
        for layers in 1..=4 {
            for norm in [HeadNorm::Hidden, HeadNorm::None, HeadNorm::All, HeadNorm::AllPlain] {
                assert_counted(&ImageEncoderConfig {
                    trunk: trunk.clone(),
                    head: ProjectionHeadConfig {
                        hidden: 7,
                        out: 5,
                        layers,
                        norm,
                        ..ProjectionHeadConfig::default()
                    },
                    split_channels: None,
                });
            }
        }
    }

    #[test]
    fn a_split_encoder_saves_what_both_of_its_networks_save() {
        let config = ImageEncoderConfig::default();
        let split = ImageEncoderConfig {
            split_channels: Some(1),
            ..config.clone()
        };
        // Together, the two stems read the image once.
        let image = 3 * 32 * 32;
        assert_eq!(split.size(32).saved, 2 * config.size(32).saved - image);
    }

    /// Torchvision states 1.814, 3.664 and 4.089 billion for its networks at 224 x 224 pixels, whose classifier has 1,000 outputs.
    #[test]
    fn multiply_adds_are_those_that_torchvision_states() {
        for (depth, billions) in [
            (ResNetDepth::ResNet18, 1.814),
            (ResNetDepth::ResNet34, 3.664),
            (ResNetDepth::ResNet50, 4.089),
        ] {
            let trunk = ResNetConfig {
                depth,
                stem: Stem::Imagenet,
                width: 64,
            };
            let classifier = ProjectionHeadConfig {
                layers: 1,
                out: 1000,
                ..ProjectionHeadConfig::default()
            };
            let config = ImageEncoderConfig {
                trunk,
                head: classifier,
                split_channels: None,
            };
            let found = config.size(224).multiply_adds as f64 / 1e9;
            assert!((found - billions).abs() < 6e-4, "{depth:?}: {found}");
        }
    }

    #[test]
    fn saved_numbers_grow_with_the_area() {
        let saved = |side| ImageEncoderConfig::default().size(side).saved as f64;
        let ratio = saved(512) / saved(256);
        assert!((3.99..4.01).contains(&ratio), "{ratio}");
    }
}
