//! Basic and bottleneck residual blocks.

use super::{BatchNorm, Convolution, Pass, config::ResNetDepth};
use crate::draws::Draws;
use burn::{
    module::Module,
    tensor::{Device, Tensor},
};

/// A residual block: `y = relu(x + residual(x))`.
///
/// ```text
/// basic:       residual = bn2(conv2(relu(bn1(conv1(x)))))                          3x3, 3x3
/// bottleneck:  residual = bn3(conv3(relu(bn2(conv2(relu(bn1(conv1(x))))))))        1x1, 3x3, 1x1
/// ```
///
/// A bottleneck block has its stride on the 3x3 convolution, as in torchvision (ResNet v1.5). If the shape changes, x first passes
/// through a 1x1 convolution and batch normalisation.
///
/// Source: He et al., [Deep Residual Learning for Image Recognition](https://arxiv.org/abs/1512.03385).
#[derive(Module, Debug)]
pub struct Block {
    /// First convolution.
    pub conv1: Convolution,
    /// Normalisation after `conv1`.
    pub bn1: BatchNorm,
    /// Second convolution.
    pub conv2: Convolution,
    /// Normalisation after `conv2`.
    pub bn2: BatchNorm,
    /// Third convolution of a bottleneck block.
    pub conv3: Option<Convolution>,
    /// Normalisation after `conv3`.
    pub bn3: Option<BatchNorm>,
    /// Projection of x, if the shape changes.
    pub downsample: Option<(Convolution, BatchNorm)>,
}

impl Block {
    /// Builds a block from `channels_in` to `width · expansion` channels.
    pub(super) fn new(
        depth: ResNetDepth,
        channels_in: usize,
        width: usize,
        stride: usize,
        draws: &mut Draws,
        device: &Device,
    ) -> Self {
        let channels_out = width * depth.expansion();
        let mut conv = |channels, kernel_size, stride| Convolution::new(channels, kernel_size, stride, draws, device);
        let (conv1, conv2, conv3) = if depth.expansion() == 1 {
            (conv([channels_in, width], 3, stride), conv([width, width], 3, 1), None)
        } else {
            (
                conv([channels_in, width], 1, 1),
                conv([width, width], 3, stride),
                Some(conv([width, channels_out], 1, 1)),
            )
        };
        let reshapes = stride != 1 || channels_in != channels_out;
        Self {
            conv1,
            bn1: BatchNorm::new(width, device),
            conv2,
            bn2: BatchNorm::new(width, device),
            bn3: conv3.is_some().then(|| BatchNorm::new(channels_out, device)),
            conv3,
            downsample: reshapes.then(|| {
                (
                    conv([channels_in, channels_out], 1, stride),
                    BatchNorm::new(channels_out, device),
                )
            }),
        }
    }

    /// Applies the block, including the final ReLU.
    ///
    /// # Shapes
    /// - input:  `[batch_size, channels_in, height, width]`
    /// - output: `[batch_size, channels_out, ⌈height / stride⌉, ⌈width / stride⌉]`
    pub fn forward(&self, input: Tensor<4>, pass: impl Into<Pass>) -> Tensor<4> {
        let pass = pass.into();
        let hidden = self
            .conv2
            .forward(self.bn1.forward_relu(self.conv1.forward(input.clone()), pass));
        let identity = match &self.downsample {
            Some((conv, bn)) => bn.forward(conv.forward(input), pass),
            None => input,
        };
        match (&self.conv3, &self.bn3) {
            (Some(conv3), Some(bn3)) => bn3.forward_add_relu(conv3.forward(self.bn2.forward_relu(hidden, pass)), identity, pass),
            _ => self.bn2.forward_add_relu(hidden, identity, pass),
        }
    }

    pub(super) fn norms_mut(&mut self) -> impl Iterator<Item = &mut BatchNorm> {
        let downsample = self.downsample.as_mut().map(|(_, norm)| norm);
        [&mut self.bn1, &mut self.bn2]
            .into_iter()
            .chain(self.bn3.as_mut())
            .chain(downsample)
    }
}
