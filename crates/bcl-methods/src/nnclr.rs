//! NNCLR: the nearest neighbour of a projection is the positive of the other view's prediction.

use super::{
    Embeddings, ImageMethod, ImageMethodConfig, ImagePart, KeyQueue, MethodSettings, MethodSizes, MethodStart, Objective,
    Precision, StoredKeys,
    directions::directions,
    image::{raw_projections_of_views, unit},
    predictor::{self, predictor},
};
use crate::batches::ImageBatch;
use bcl_core::{Pairs, ParameterError, Scores, Similarity, matmul, parameter::count_in};
use bcl_models::vision::{ImageEncoder, ProjectionHead};
use burn::{
    module::Module,
    tensor::{Bool, Device, Tensor},
};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// What the nearest neighbour of a view is compared with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NnclrForm {
    /// The predictions of the other view: one is the positive, the rest of the batch are the negatives, as in the paper.
    #[default]
    Cross,
    /// Neighbours and predictions together are the two views of SimCLR, as in lightly.
    #[serde(rename = "ntxent")]
    NtXent,
}

/// Parameters of [`Nnclr`], as in recipes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NnclrConfig {
    /// Size of the support set.
    pub support: usize,
    /// Hidden size of the predictor.
    pub hidden: usize,
    /// What neighbours are compared with.
    pub form: NnclrForm,
}

impl Default for NnclrConfig {
    fn default() -> Self {
        Self {
            support: 4096,
            hidden: 4096,
            form: NnclrForm::Cross,
        }
    }
}

impl NnclrConfig {
    /// Largest support set.
    const MOST: usize = 1 << 24;
}

impl MethodSettings for NnclrConfig {
    fn check(&self) -> Result<(), ParameterError> {
        count_in("support", self.support, 1, Self::MOST)?;
        predictor::check(self.hidden)
    }

    fn num_negatives(&self, batch_size: usize) -> Option<usize> {
        Some(match self.form {
            NnclrForm::Cross => batch_size.saturating_sub(1),
            NnclrForm::NtXent => (2 * batch_size).saturating_sub(2),
        })
    }

    fn memory(&self, sizes: &MethodSizes) -> u64 {
        self.support as u64 * sizes.dim + predictor::memory(self.hidden, sizes)
    }
}

impl ImageMethodConfig for NnclrConfig {
    type Method = Nnclr;

    fn init(&self, start: MethodStart) -> Nnclr {
        Nnclr {
            predictor: predictor(self.hidden, &start),
            support: KeyQueue::new(self.support, start.dim, &start.device),
            form: self.form,
            precision: start.precision,
            encoder: start.encoder,
        }
    }
}

/// The anchor is the entry of a support set that is nearest to the projection of a view, its positive the prediction from the other view:
///
/// ```text
/// anchor = argmax over q in support of cos(q, z),    positive = predictor(z'),    negatives = predictions of the other images
/// ```
///
/// in both directions. Gradients flow to the predictions only. The support set holds the latest projections of second views, which enter
/// after the step. In the first step, when it is empty, a projection is its own neighbour. A neighbour may be an earlier projection of the
/// anchor's own image if the support set is large for the data set; it is then a positive like any other.
///
/// Source: Dwibedi et al., [With a Little Help from My Friends](https://arxiv.org/abs/2104.14548), equations 2 and 3.
#[derive(Module, Debug)]
pub struct Nnclr {
    /// The encoder.
    pub encoder: ImageEncoder,
    /// Maps projections to predictions.
    pub predictor: ProjectionHead,
    /// The latest projections.
    pub support: KeyQueue,
    #[module(skip)]
    form: NnclrForm,
    #[module(skip)]
    precision: Precision,
}

impl Nnclr {
    /// Names of the tables of either view, unit rows: predictions, and projections to look up.
    pub const TABLES: [[&'static str; 2]; 2] = [
        ["first_predictions", "first_projections"],
        ["second_predictions", "second_projections"],
    ];

    /// The entry of the support set that is nearest to each row.
    ///
    /// # Shapes
    /// - projections, output: `[batch_size, dim]`, unit rows
    pub fn nearest(&self, projections: Tensor<2>) -> Tensor<2> {
        nearest(&self.support, projections)
    }
}

/// The stored key that is nearest to each row, or the row itself if there is none.
///
/// # Shapes
/// - rows, output: `[num_rows, dim]`, unit rows
pub fn nearest(support: &KeyQueue, rows: Tensor<2>) -> Tensor<2> {
    let rows = rows.detach();
    if support.is_empty() {
        return rows;
    }
    let stored = support.stored();
    let index = matmul(rows, stored.clone().transpose()).argmax(1).squeeze_dim::<1>(1);
    stored.select(0, index)
}

impl ImageMethod for Nnclr {
    fn encoder(&self) -> &ImageEncoder {
        &self.encoder
    }

    fn precision(&self) -> Precision {
        self.precision
    }

    fn num_anchors(&self, batch_size: usize) -> usize {
        match self.form {
            NnclrForm::Cross => 2 * batch_size,
            NnclrForm::NtXent => 4 * batch_size,
        }
    }

    fn embed(&self, part: &ImagePart) -> Embeddings {
        let of_views = raw_projections_of_views(&self.encoder, part, 0..2, self.precision);
        (0..)
            .zip(of_views)
            .fold(Embeddings::new(), |embeddings, (view, projections)| {
                let predictions = self.predictor.forward(projections.clone(), part.mode);
                embeddings
                    .with(Self::TABLES[view][0], unit(predictions))
                    .with_constant(Self::TABLES[view][1], unit(projections))
            })
    }

    fn objective(&self, _: &ImageBatch, embeddings: &Embeddings, anchors: Range<usize>) -> Objective {
        let of_direction = |view: usize, anchors: Range<usize>| {
            let neighbours = self.nearest(embeddings.rows(Self::TABLES[view][1]));
            let predictions = embeddings.rows(Self::TABLES[1 - view][0]);
            let pairs = match self.form {
                NnclrForm::Cross => Pairs::from_cross_views_of(neighbours, predictions, Similarity::Dot, anchors),
                NnclrForm::NtXent => Pairs::from_views_of(neighbours, predictions, Similarity::Dot, anchors),
            };
            pairs.into_scores()
        };
        let [batch_size, _] = embeddings.rows(Self::TABLES[0][0]).dims();
        let scores = Scores::stack(
            directions(anchors, self.num_anchors(batch_size) / 2).map(|(view, anchors)| of_direction(view, anchors)),
        );
        Objective::Pairs(scores.with_least_similarity(Similarity::Cosine.least()).into())
    }

    fn same_class(&self, batch: &ImageBatch, anchors: Range<usize>, device: &Device) -> Option<Tensor<2, Bool>> {
        let classes = batch.classes.as_deref()?;
        let per_direction = self.num_anchors(classes.len()) / 2;
        let of_directions = directions(anchors, per_direction).map(|(_, anchors)| match self.form {
            NnclrForm::Cross => batch.same_class_across(anchors, device),
            NnclrForm::NtXent => batch.same_class(anchors, device),
        });
        of_directions.collect::<Option<Vec<_>>>().map(|marks| Tensor::cat(marks, 0))
    }

    fn remember(self, batch: &ImageBatch, embeddings: &Embeddings) -> Self {
        let projections = embeddings.rows(Self::TABLES[1][1]);
        Self {
            support: self.support.with_keys(projections, &StoredKeys::of_batch(batch, 1)),
            ..self
        }
    }
}
