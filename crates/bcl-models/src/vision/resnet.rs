//! ResNet-18, -34 and -50.

use super::{
    BatchNorm, Block, Convolution, Pass,
    config::{CHANNELS, ResNetConfig, Stem},
};
use crate::{check::panic_if_bad, draws::Draws};
use burn::{
    module::Module,
    tensor::{Device, Tensor, module::max_pool2d, ops::MaxPoolOptions},
};
use std::iter;

/// A residual network without its classifier: maps images to features.
///
/// Fields and parameters have torchvision's names, for example `layer1.0.downsample.1.running_var`.
///
/// Source: He et al., [Deep Residual Learning for Image Recognition](https://arxiv.org/abs/1512.03385).
#[derive(Module, Debug)]
pub struct ResNet {
    /// Convolution of the stem.
    pub conv1: Convolution,
    /// Normalisation of the stem.
    pub bn1: BatchNorm,
    /// First stage.
    pub layer1: Vec<Block>,
    /// Second stage, at half the resolution.
    pub layer2: Vec<Block>,
    /// Third stage, at a quarter.
    pub layer3: Vec<Block>,
    /// Fourth stage, at an eighth.
    pub layer4: Vec<Block>,
    /// The configuration the network was built from.
    #[module(skip)]
    config: ResNetConfig,
}

impl ResNetConfig {
    /// Builds the network with initial values determined by the seed.
    ///
    /// # Panics
    /// Panics if a parameter is out of range; use [`check`](Self::check) to test.
    pub fn init(&self, seed: u64, device: &Device) -> ResNet {
        panic_if_bad(self.check());
        ResNet::new(self, CHANNELS, &mut Draws::new(seed, "trunk"), device)
    }
}

impl ResNet {
    pub(super) fn new(config: &ResNetConfig, channels_in: usize, draws: &mut Draws, device: &Device) -> Self {
        let width = config.width;
        let conv1 = match config.stem {
            Stem::Imagenet => Convolution::new([channels_in, width], 7, 2, draws, device),
            Stem::Cifar => Convolution::new([channels_in, width], 3, 1, draws, device),
        };
        let mut channels = width;
        let blocks = config.depth.blocks();
        let mut stage = |stage: usize| -> Vec<Block> {
            let width = width << stage;
            let block = |index| {
                let stride = if stage > 0 && index == 0 { 2 } else { 1 };
                let block = Block::new(config.depth, channels, width, stride, draws, device);
                channels = width * config.depth.expansion();
                block
            };
            (0..blocks[stage]).map(block).collect()
        };
        Self {
            conv1,
            bn1: BatchNorm::new(width, device),
            layer1: stage(0),
            layer2: stage(1),
            layer3: stage(2),
            layer4: stage(3),
            config: config.clone(),
        }
    }

    /// The configuration the network was built from.
    pub fn config(&self) -> &ResNetConfig {
        &self.config
    }

    /// Number of channels of the images.
    pub fn channels_in(&self) -> usize {
        self.conv1.weight.dims()[1]
    }

    /// Size of a feature vector.
    pub fn num_features(&self) -> usize {
        self.config.num_features()
    }

    /// Computes features: the output of the last stage after global average pooling, not normalised.
    ///
    /// # Shapes
    /// - images: `[batch_size, channels_in, height, width]`
    /// - output: `[batch_size, num_features]`
    pub fn forward(&self, images: Tensor<4>, pass: impl Into<Pass>) -> Tensor<2> {
        let pass = pass.into();
        let mut hidden = self.bn1.forward_relu(self.conv1.forward(images), pass);
        if self.config.stem == Stem::Imagenet {
            let options = MaxPoolOptions::new([3, 3]).with_stride([2, 2]).with_padding([1, 1]);
            hidden = max_pool2d(hidden, options);
        }
        for block in [&self.layer1, &self.layer2, &self.layer3, &self.layer4].into_iter().flatten() {
            hidden = block.forward(hidden, pass);
        }
        hidden.flatten::<3>(2, 3).mean_dim(2).squeeze_dim(2)
    }

    pub(super) fn norms_mut(&mut self) -> impl Iterator<Item = &mut BatchNorm> {
        let stages = [&mut self.layer1, &mut self.layer2, &mut self.layer3, &mut self.layer4];
        let of_blocks = stages.into_iter().flatten().flat_map(Block::norms_mut);
        iter::once(&mut self.bn1).chain(of_blocks)
    }
}
