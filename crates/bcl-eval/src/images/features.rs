//! Computes features of whole images in blocks.

use crate::{EvaluationError, Interrupt};
use bcl_images::{Collection, Views};
use bcl_models::vision::{ImageEncoder, Mode};
use burn::tensor::{Device, Int, Tensor, TensorData};

/// Computes features of whole images.
#[derive(Debug, Clone)]
pub struct FeatureExtractor {
    /// Normalises the images.
    pub views: Views,
    /// Height and width of the input.
    pub side: usize,
    /// The device that computes.
    pub device: Device,
    /// Ends the work between two blocks.
    pub interrupt: Interrupt,
}

impl FeatureExtractor {
    /// Number of images that are encoded at a time.
    pub const BLOCK: usize = 256;

    /// Computes a row of features for each chosen image, or for all: `[num_chosen, num_features]`.
    ///
    /// # Errors
    /// Returns an error if an image cannot be prepared for the encoder, or [`interrupt`](Self::interrupt) asks to stop.
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

    /// Features of an encoder in evaluation mode, not normalised to unit length.
    ///
    /// # Errors
    /// As [`rows`](Self::rows).
    pub fn encoded(
        &self,
        images: &Collection,
        chosen: Option<&[usize]>,
        encoder: &ImageEncoder,
    ) -> Result<Tensor<2>, EvaluationError> {
        self.rows(images, chosen, |block| encoder.raw_features(block, Mode::Eval))
    }

    /// Pixel values as features.
    ///
    /// # Errors
    /// As [`rows`](Self::rows).
    pub fn raw_pixels(&self, images: &Collection, chosen: Option<&[usize]>) -> Result<Tensor<2>, EvaluationError> {
        self.rows(images, chosen, |block| block.flatten(1, 3))
    }
}

/// The given rows of features.
pub(super) fn rows(features: &Tensor<2>, rows: &[usize]) -> Tensor<2> {
    let rows: Vec<i64> = rows.iter().map(|&row| row as i64).collect();
    let rows = Tensor::<1, Int>::from_data(rows.as_slice(), &features.device());
    features.clone().select(0, rows)
}
