//! SimSiam: predicts the projection of the other view, without negatives.

use super::{Embeddings, ImageMethod, ImagePart, Objective, Precision, rows_of};
use bcl_core::{Losses, ParameterError, parameter::count_in, unit_rows};
use bcl_models::vision::{ImageEncoder, ProjectionHead, ProjectionHeadConfig};
use burn::{
    module::Module,
    tensor::{DType, Device, Tensor},
};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Parameters of [`SimSiam`], as in recipes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SimSiamConfig {
    /// Hidden size of the predictor.
    pub hidden: usize,
}

impl Default for SimSiamConfig {
    fn default() -> Self {
        Self { hidden: 512 }
    }
}

impl SimSiamConfig {
    /// Largest hidden size.
    const MOST: usize = 1 << 16;

    /// Checks the ranges.
    ///
    /// # Errors
    /// Returns an error that names the parameter that is out of range.
    pub fn check(&self) -> Result<(), ParameterError> {
        count_in("hidden", self.hidden, 1, Self::MOST)
    }

    /// Builds the method around an encoder with embedding size `dim`; the seed initialises the predictor.
    pub fn init(&self, encoder: ImageEncoder, dim: usize, precision: Precision, seed: u64, device: &Device) -> SimSiam {
        let predictor = ProjectionHeadConfig {
            hidden: self.hidden,
            out: dim,
            ..ProjectionHeadConfig::default()
        };
        SimSiam {
            encoder,
            predictor: predictor.init(dim, seed, device),
            precision,
        }
    }
}

/// A predictor maps the projection of a view to that of the other view, which gets no gradient:
///
/// ```text
/// loss = -cos(predictor(z), z'.detach())
/// ```
///
/// for either view of each image. Without the predictor, or with a gradient to z', all projections would collapse to one.
///
/// Source: Chen, He, [Exploring Simple Siamese Representation Learning](https://arxiv.org/abs/2011.10566), equations 1 to 4.
#[derive(Module, Debug)]
pub struct SimSiam {
    /// The encoder, whose projections are predicted.
    pub encoder: ImageEncoder,
    /// Maps projections to predictions.
    pub predictor: ProjectionHead,
    #[module(skip)]
    precision: Precision,
}

impl SimSiam {
    /// Names of the tables of either view, unit rows: predictions and targets.
    pub const TABLES: [[&'static str; 2]; 2] = [
        ["first_predictions", "first_targets"],
        ["second_predictions", "second_targets"],
    ];

    /// The negative cosine of each prediction and its target.
    ///
    /// # Shapes
    /// - predictions, targets: `[num_anchors, dim]`, unit rows
    pub fn losses(predictions: Tensor<2>, targets: Tensor<2>) -> Losses {
        let cosines = (predictions * targets.detach()).sum_dim(1);
        Losses::new(cosines.neg().squeeze_dim(1), None)
    }
}

impl ImageMethod for SimSiam {
    fn encoder(&self) -> &ImageEncoder {
        &self.encoder
    }

    fn precision(&self) -> Precision {
        self.precision
    }

    fn embed(&self, part: &ImagePart) -> Embeddings {
        let unit = |rows: Tensor<2>| unit_rows(rows.cast(DType::F32));
        (0..2).fold(Embeddings::new(), |embeddings, view| {
            let images = part.views[view].clone().cast(self.precision.dtype());
            let projections = self.encoder.raw_projections(images, part.mode);
            let predictions = self.predictor.forward(projections.clone(), part.mode);
            embeddings
                .with(Self::TABLES[view][0], unit(predictions))
                .with_constant(Self::TABLES[view][1], unit(projections))
        })
    }

    fn objective(&self, embeddings: &Embeddings, anchors: Range<usize>) -> Objective {
        let [first, second] = Self::TABLES.map(|names| names.map(|name| embeddings.rows(name)));
        let ([first_predictions, first_targets], [second_predictions, second_targets]) = (first, second);
        let predictions = Tensor::cat(vec![first_predictions, second_predictions], 0);
        let targets = Tensor::cat(vec![second_targets, first_targets], 0);
        Objective::Losses(Self::losses(rows_of(predictions, anchors.clone()), rows_of(targets, anchors)))
    }
}
