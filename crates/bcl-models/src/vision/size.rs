//! The size of an encoder before it is built: its parameters, and the memory that a training step saves for backward.

use super::config::{ImageEncoderConfig, ResNetConfig, Stem};

/// Sizes of an encoder for images of a given side.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EncoderSize {
    /// Number of trained parameters.
    pub parameters: u64,
    /// Numbers saved for backward per image: the input and output of each convolution. A lower bound.
    pub saved: u64,
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
        let (features, hidden, out) = (
            self.trunk.num_features() as u64,
            self.head.hidden as u64,
            self.head.out as u64,
        );
        let mut size = of_trunk(&self.trunk, side);
        size.parameters += features * hidden + 2 * hidden + hidden * out + out;
        size.saved += features + hidden + out;
        size
    }
}

fn of_trunk(config: &ResNetConfig, side: usize) -> EncoderSize {
    let mut size = EncoderSize::default();
    let mut side = side as u64;
    let half = |side: u64| side.div_ceil(2);
    let mut convolution = |channels_in: u64, channels_out: u64, kernel: u64, side_in: u64, side_out: u64| {
        // Batch normalisation has a scale and a shift per channel.
        size.parameters += channels_in * channels_out * kernel * kernel + 2 * channels_out;
        size.saved += channels_in * side_in * side_in + channels_out * side_out * side_out;
    };

    let width = config.width as u64;
    match config.stem {
        Stem::Imagenet => {
            convolution(3, width, 7, side, half(side));
            side = half(half(side));
        }
        Stem::Cifar => convolution(3, width, 3, side, side),
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
    use crate::vision::{ProjectionHeadConfig, ResNetDepth};
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

    #[test]
    fn parameters_are_those_of_the_network_that_is_built() {
        for depth in [ResNetDepth::ResNet18, ResNetDepth::ResNet34, ResNetDepth::ResNet50] {
            for stem in [Stem::Imagenet, Stem::Cifar] {
                let config = ImageEncoderConfig {
                    trunk: ResNetConfig { depth, stem, width: 3 },
                    head: ProjectionHeadConfig { hidden: 7, out: 5 },
                };
                let mut trained = TrainableCount(0);
                config.init(0, &Device::flex().autodiff()).visit(&mut trained);
                assert_eq!(config.size(32).parameters, trained.0, "{config:?}");
            }
        }
    }

    #[test]
    fn saved_numbers_grow_with_the_area() {
        let saved = |side| ImageEncoderConfig::default().size(side).saved as f64;
        let ratio = saved(512) / saved(256);
        assert!((3.99..4.01).contains(&ratio), "{ratio}");
    }
}
