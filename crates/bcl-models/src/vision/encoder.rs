//! A ResNet with its projection head.

use super::{Mode, ProjectionHead, ResNet, precision::precision};
use bcl_kernels::unit_rows;
use burn::{module::Module, tensor::Tensor};

/// A residual network with a projection head.
#[derive(Module, Debug)]
pub struct ImageEncoder {
    /// Maps images to features.
    pub trunk: ResNet,
    /// Maps features to projections.
    pub head: ProjectionHead,
}

/// L2-normalised outputs of an image encoder; the dot product of two rows is their cosine similarity.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ImageEmbeddings {
    /// Rows for evaluation, `[batch_size, num_features]`.
    pub features: Tensor<2>,
    /// Rows for the contrastive loss, `[batch_size, out]`.
    pub projections: Tensor<2>,
}

impl ImageEncoder {
    /// Computes features and projections, both L2-normalised. The head reads the features before normalisation.
    ///
    /// Everything but batch normalisation and L2 normalisation is computed in the precision of the images, here and below. Images in bf16
    /// give mixed precision: outputs and gradients keep the parameters' 32 bits.
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

    /// Computes L2-normalised features for evaluation, without running the head.
    ///
    /// # Shapes
    /// - images: `[batch_size, 3, height, width]`
    /// - output: `[batch_size, num_features]`
    pub fn features(&self, images: Tensor<4>, mode: Mode) -> Tensor<2> {
        self.unit_rows(self.trunk.forward(images, mode))
    }

    /// Computes L2-normalised projections for the contrastive loss.
    ///
    /// # Shapes
    /// - images: `[batch_size, 3, height, width]`
    /// - output: `[batch_size, out]`
    pub fn projections(&self, images: Tensor<4>, mode: Mode) -> Tensor<2> {
        self.unit_rows(self.head.forward(self.trunk.forward(images, mode), mode))
    }

    /// L2-normalises rows in the precision of the parameters, because comparing them needs all digits.
    fn unit_rows(&self, rows: Tensor<2>) -> Tensor<2> {
        unit_rows(rows.cast(precision(&self.head.norm.weight.val())))
    }
}
