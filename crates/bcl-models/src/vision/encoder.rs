//! What training and evaluation see of an image encoder.

use super::{Mode, ProjectionHead, ResNet, precision::precision};
use bcl_kernels::unit_rows;
use burn::{module::Module, tensor::Tensor};

/// A residual network with a projection head.
#[derive(Module, Debug)]
pub struct ImageEncoder {
    /// Images to features.
    pub trunk: ResNet,
    /// Features to projections.
    pub head: ProjectionHead,
}

/// What an image encoder makes of a batch of images; a dot product of two rows is their cosine.
#[derive(Debug, Clone)]
pub struct ImageEmbeddings {
    /// Unit rows that evaluation reads, `[batch_size, num_features]`.
    pub features: Tensor<2>,
    /// Unit rows that training compares, `[batch_size, out]`.
    pub projections: Tensor<2>,
}

impl ImageEncoder {
    /// Features and projections, each scaled to unit rows. The head reads the features as they are.
    ///
    /// Here and below, all but batch normalisation and the scaling is computed in the precision of the images, whatever that of the
    /// parameters is: images in bf16 make it mixed precision, whose outputs and gradients have 32 bits.
    ///
    /// # Shapes
    /// - images: `[batch_size, 3, height, width]`
    pub fn forward(&self, images: Tensor<4>, mode: Mode) -> ImageEmbeddings {
        let features = self.trunk.forward(images, mode);
        let projections = self.head.forward(features.clone(), mode);
        ImageEmbeddings {
            features: self.unit_rows(features),
            projections: self.unit_rows(projections),
        }
    }

    /// Unit rows that evaluation reads; the head is not run.
    ///
    /// # Shapes
    /// - images: `[batch_size, 3, height, width]`
    /// - output: `[batch_size, num_features]`
    pub fn features(&self, images: Tensor<4>, mode: Mode) -> Tensor<2> {
        self.unit_rows(self.trunk.forward(images, mode))
    }

    /// Unit rows that training compares.
    ///
    /// # Shapes
    /// - images: `[batch_size, 3, height, width]`
    /// - output: `[batch_size, out]`
    pub fn projections(&self, images: Tensor<4>, mode: Mode) -> Tensor<2> {
        self.unit_rows(self.head.forward(self.trunk.forward(images, mode), mode))
    }

    /// Unit rows in the precision of the parameters: what compares them needs all digits.
    fn unit_rows(&self, rows: Tensor<2>) -> Tensor<2> {
        unit_rows(rows.cast(precision(&self.head.norm.weight.val())))
    }
}
