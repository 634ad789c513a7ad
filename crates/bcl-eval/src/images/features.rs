//! Features of whole images, block by block.

use crate::{EvaluationError, Interrupt};
use bcl_images::{Collection, Views};
use bcl_models::vision::{Mode, ResNet};
use burn::tensor::{Device, Tensor, TensorData};

/// How whole images are shown to an encoder.
#[derive(Debug, Clone)]
pub struct Shown {
    /// How they are normalised.
    pub views: Views,
    /// Rows and columns.
    pub side: usize,
    /// Where they are encoded.
    pub device: Device,
    /// Ends the work between two blocks.
    pub interrupt: Interrupt,
}

impl Shown {
    /// Number of images that are encoded at a time.
    pub const BLOCK: usize = 256;

    /// Makes a row of features of each chosen image, or of all: `[num_chosen, num_features]`.
    ///
    /// # Errors
    /// When an image cannot be shown, or [`interrupt`](Self::interrupt) asks for it.
    pub fn rows(
        &self,
        images: &Collection,
        chosen: Option<&[usize]>,
        of: impl Fn(Tensor<4>) -> Tensor<2>,
    ) -> Result<Tensor<2>, EvaluationError> {
        let indices = chosen.map_or_else(|| (0..images.len()).collect(), <[usize]>::to_vec);
        let mut blocks = Vec::new();
        for block in indices.chunks(Self::BLOCK) {
            if self.interrupt.is_requested() {
                return Err(EvaluationError::Interrupted);
            }
            let mut pixels = Vec::new();
            let [height, width] = self.views.test_batch(images, block, Some(self.side), &mut pixels)?;
            let data = TensorData::new(pixels, [block.len(), 3, height, width]);
            blocks.push(of(Tensor::from_data(data, &self.device)));
        }
        Ok(Tensor::cat(blocks, 0))
    }

    /// Features of an encoder under its running statistics, not normalised.
    ///
    /// # Errors
    /// When an image cannot be shown.
    pub fn encoded(&self, images: &Collection, chosen: Option<&[usize]>, trunk: &ResNet) -> Result<Tensor<2>, EvaluationError> {
        self.rows(images, chosen, |block| trunk.forward(block, Mode::Eval))
    }

    /// The pixels themselves as features.
    ///
    /// # Errors
    /// When an image cannot be shown.
    pub fn raw_pixels(&self, images: &Collection, chosen: Option<&[usize]>) -> Result<Tensor<2>, EvaluationError> {
        self.rows(images, chosen, |block| block.flatten(1, 3))
    }
}
