//! CMC: the lightness of an image against its colour, with negatives from memory banks.

use super::{
    Counter, Embeddings, ImageMethod, ImageMethodConfig, ImagePart, MemoryBank, MethodSettings, MethodSizes, MethodStart, Needs,
    Objective, Precision, directions::directions, rows_of,
};
use crate::batches::{ImageBatch, index_tensor};
use bcl_core::{
    Losses, NoiseContrastiveLoss, NoiseContrastiveLossConfig, ParameterError, Scores, Similarity,
    parameter::{count_in, in_closed, temperature},
};
use bcl_data::Seed;
use bcl_models::vision::ImageEncoder;
use burn::{
    module::{Module, Param},
    tensor::{Bool, Device, Tensor, TensorData},
};
use rand::RngExt;
use serde::{Deserialize, Serialize};
use std::{collections::HashSet, ops::Range, sync::Arc};

/// The loss of CMC.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CmcForm {
    /// Scores, which the estimator of `[loss]` weights: with InfoNCE, the cross-entropy over a positive and K negatives.
    #[default]
    Softmax,
    /// The authors' noise-contrastive estimation, a loss of its own.
    Nce,
}

/// Parameters of [`Cmc`], as in recipes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CmcConfig {
    /// Number of negatives per anchor, drawn from the bank with replacement.
    pub negatives: usize,
    /// Momentum of the banks, in [0, 1].
    pub bank_momentum: f64,
    /// The loss.
    pub form: CmcForm,
    /// Temperature of the noise-contrastive loss; `form = "softmax"` uses the temperature in `[loss]`.
    pub temperature: f64,
}

impl Default for CmcConfig {
    fn default() -> Self {
        Self {
            negatives: 4096,
            bank_momentum: 0.5,
            form: CmcForm::Softmax,
            temperature: 0.07,
        }
    }
}

impl CmcConfig {
    /// Largest number of negatives.
    const MOST: usize = 1 << 24;
}

impl MethodSettings for CmcConfig {
    fn check(&self) -> Result<(), ParameterError> {
        count_in("negatives", self.negatives, 1, Self::MOST)?;
        in_closed("bank_momentum", self.bank_momentum, 0.0, 1.0)?;
        temperature(self.temperature)
    }

    fn num_negatives(&self, _: usize) -> Option<usize> {
        (self.form == CmcForm::Softmax).then_some(self.negatives)
    }

    fn memory(&self, sizes: &MethodSizes) -> u64 {
        sizes.images * sizes.dim
    }

    fn needs(&self) -> Needs {
        Needs {
            views: 1,
            split_encoder: true,
            ..Needs::default()
        }
    }
}

impl ImageMethodConfig for CmcConfig {
    type Method = Cmc;

    fn init(&self, start: MethodStart) -> Cmc {
        // The embeddings of both networks side by side.
        let dim = start.dim / 2;
        let bank = |name: &str| MemoryBank::new(start.num_images, dim, start.seed.named(name), &start.device);
        Cmc {
            banks: ["lightness bank", "colour bank"].map(bank).into(),
            log_normalisers: Param::from_tensor(Tensor::zeros([2], &start.device)).set_require_grad(false),
            steps: Counter::new(&start.device),
            classes: start.classes,
            seed: start.seed.named("bank negatives"),
            num_images: start.num_images,
            config: self.clone(),
            precision: start.precision,
            encoder: start.encoder,
        }
    }
}

/// Two encoders see one crop of each image, one its lightness and the other its colour. Each queries the memory bank of the other:
///
/// ```text
/// positive = z_lightness · bank_colour[image],    negatives = z_lightness · bank_colour[drawn images]
/// ```
///
/// and the same with exchanged roles, with the same draws. Gradients flow to the query only. Images are drawn uniformly with replacement; a
/// draw of the anchor's own image is masked out. After the step, the rows of the batch's images move towards their new embeddings.
/// The objective is the mean over both directions, of which the authors take the sum.
///
/// The encoder is evaluated with the features of both networks side by side.
///
/// Source: Tian, Krishnan, Isola, [Contrastive Multiview Coding](https://arxiv.org/abs/1906.05849).
#[derive(Module, Debug)]
pub struct Cmc {
    /// Both encoders.
    pub encoder: ImageEncoder,
    /// Stored embeddings of lightness and of colour.
    pub banks: Vec<MemoryBank>,
    /// `log Z` of the noise-contrastive loss for either direction, set by the first batch.
    log_normalisers: Param<Tensor<1>>,
    /// Number of batches so far.
    steps: Counter,
    /// The class of each image, if all have one.
    #[module(skip)]
    classes: Option<Arc<[u32]>>,
    #[module(skip)]
    seed: Seed,
    #[module(skip)]
    num_images: usize,
    #[module(skip)]
    config: CmcConfig,
    #[module(skip)]
    precision: Precision,
}

/// Names of the tables, unit rows.
const TABLES: [&str; 2] = ["lightness", "colour"];

impl Cmc {
    /// The images that are drawn as negatives for some images of the batch of this step, row after row.
    fn drawn(&self, rows: Range<usize>) -> Vec<i64> {
        let of_step = self.seed.index(self.steps.value() as u64);
        let of_row = |row: usize| {
            let mut rng = of_step.index(row as u64).rng();
            (0..self.config.negatives).map(move |_| rng.random_range(0..self.num_images) as i64)
        };
        rows.flat_map(of_row).collect()
    }

    /// The queries of a direction against the bank of the other.
    fn scores(&self, direction: usize, queries: Tensor<2>, batch: &ImageBatch, rows: Range<usize>) -> Scores {
        let device = queries.device();
        let (count, images) = (self.config.negatives, &batch.images[rows.clone()]);
        let drawn = self.drawn(rows);
        let counts: Vec<bool> = images
            .iter()
            .zip(drawn.chunks(count))
            .flat_map(|(&own, drawn)| drawn.iter().map(move |&image| image != own as i64))
            .collect();
        let bank = &self.banks[1 - direction];
        let positives = bank.positives(queries.clone(), index_tensor(images, &device));
        let shape = [images.len(), count];
        let negatives = bank.negatives(queries, Tensor::from_data(TensorData::new(drawn, shape), &device));
        let mask = counts
            .contains(&false)
            .then(|| Tensor::<2, Bool>::from_data(TensorData::new(counts, shape), &device));
        Scores::new(positives, negatives)
            .with_mask(mask)
            .with_least_similarity(Similarity::Cosine.least())
    }

    /// `log Z` of a direction, from the first batch, which may be this one.
    fn log_normaliser(&self, direction: usize, batch: &ImageBatch, embeddings: &Embeddings) -> Tensor<1> {
        let known = self.log_normalisers.val().slice_dim(0, direction..direction + 1);
        if self.steps.value() > 0 {
            return known;
        }
        let rows = 0..batch.images.len();
        let scores = self.scores(direction, embeddings.rows(TABLES[direction]).detach(), batch, rows);
        self.nce().log_normaliser(&scores, self.num_images)
    }

    fn nce(&self) -> NoiseContrastiveLoss {
        NoiseContrastiveLossConfig::new()
            .with_temperature(self.config.temperature)
            .init()
    }
}

impl ImageMethod for Cmc {
    fn encoder(&self) -> &ImageEncoder {
        &self.encoder
    }

    fn precision(&self) -> Precision {
        self.precision
    }

    fn embed(&self, part: &ImagePart) -> Embeddings {
        let images = part.views[0].clone().cast(self.precision.dtype());
        let [lightness, colour] = self.encoder.stream_projections(images, part.mode);
        Embeddings::new().with(TABLES[0], lightness).with(TABLES[1], colour)
    }

    fn objective(&self, batch: &ImageBatch, embeddings: &Embeddings, anchors: Range<usize>) -> Objective {
        let of_directions = directions(anchors, batch.images.len()).map(|(direction, rows)| {
            let queries = rows_of(embeddings.rows(TABLES[direction]), rows.clone());
            (direction, self.scores(direction, queries, batch, rows))
        });
        match self.config.form {
            CmcForm::Softmax => Objective::Pairs(Scores::stack(of_directions.map(|(_, scores)| scores)).into()),
            CmcForm::Nce => {
                let losses = of_directions.map(|(direction, scores)| {
                    let log_normaliser = self.log_normaliser(direction, batch, embeddings);
                    self.nce().losses(&scores, log_normaliser, self.num_images)
                });
                Objective::Losses(Losses::stack(losses))
            }
        }
    }

    fn same_class(&self, batch: &ImageBatch, anchors: Range<usize>, device: &Device) -> Option<Tensor<2, Bool>> {
        let classes = self.classes.as_deref()?;
        let shape = [anchors.len(), self.config.negatives];
        let marks = directions(anchors, batch.images.len()).flat_map(|(_, rows)| {
            let own: Vec<u32> = batch.images[rows.clone()].iter().map(|&image| classes[image]).collect();
            let drawn = self.drawn(rows).into_iter().enumerate();
            drawn.map(move |(index, image)| classes[image as usize] == own[index / shape[1]])
        });
        let marks: Vec<bool> = marks.collect();
        Some(Tensor::from_data(TensorData::new(marks, shape), device))
    }

    fn compares_within_batch(&self) -> bool {
        false
    }

    fn remember(self, batch: &ImageBatch, embeddings: &Embeddings) -> Self {
        let log_normalisers = [0, 1].map(|direction| match self.config.form {
            CmcForm::Softmax => self.log_normalisers.val().slice_dim(0, direction..direction + 1),
            CmcForm::Nce => self.log_normaliser(direction, batch, embeddings),
        });
        let log_normalisers = Tensor::cat(log_normalisers.to_vec(), 0).detach();
        let momentum = self.config.bank_momentum;
        let (images, draws) = first_draws(&batch.images);
        let [images, draws] = [images, draws].map(|indices| index_tensor(&indices, &log_normalisers.device()));
        let banks = self.banks.into_iter().zip(TABLES);
        Self {
            banks: banks
                .map(|(bank, name)| bank.updated(images.clone(), embeddings.rows(name).select(0, draws.clone()), momentum))
                .collect(),
            log_normalisers: self.log_normalisers.map(|_| log_normalisers.set_require_grad(false)),
            steps: self.steps.plus(1),
            ..self
        }
    }
}

/// The distinct images of a batch, and where each comes first: class-balanced sampling may draw one twice, but a row of the bank moves once
/// per step.
fn first_draws(images: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let mut seen = HashSet::new();
    let firsts = images.iter().enumerate().filter(|(_, image)| seen.insert(**image));
    firsts.map(|(position, &image)| (image, position)).unzip()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_that_is_drawn_twice_moves_its_row_once() {
        assert_eq!(first_draws(&[7, 3, 7, 1, 3]), (vec![7, 3, 1], vec![0, 1, 3]));
    }
}
