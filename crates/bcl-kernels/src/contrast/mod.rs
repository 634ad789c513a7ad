//! Contrastive losses straight from embeddings, without a matrix of scores.

use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, Dispatch, backend_extension};
use burn::tensor::{Tensor, TensorData};
use std::sync::Arc;

use crate::{ProductOps, RankOps};
use portable::blocks::{self, Composed};

mod autodiff;
#[cfg(feature = "cube")]
mod cube;
mod excluded;
mod flex;
pub(crate) mod portable;
pub(crate) mod row;

pub use excluded::{Excluded, RowLists};

/// How the negatives of an anchor add up to their mass `M`, relative to the positive: with `x = exp((s - s+) / temperature)`
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "there is one per step")]
pub enum Weighing {
    /// `Σ x_i`
    Equal,
    /// `Σ table[rank_i - 1] · x_i`, where ranks count from the lowest score; the table has one entry per negative. Ranks are constants in
    /// the gradient.
    ByRank(Tensor<1>),
    /// The same for anchors with [lists](Excluded::Listed) of excluded rows: a table for each number of negatives that anchors have, as long as that
    /// number, in ascending order.
    ByRankOf(Vec<Arc<[f64]>>),
    /// `N · Σ x_i^(1 + β) / Σ x_i^β`, with gradients through the weights.
    ByHardness(f64),
}

/// How the loss of an anchor follows from the mass `M` of its N negatives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Correction {
    /// `log(1 + M)`
    None,
    /// `log(M)`: the positive is not in the denominator.
    Decoupled,
    /// `log(1 + max(a M - b N, N exp((least - s+) / temperature)))`; the floor is 0 without a least similarity.
    Floored {
        /// a
        unlabelled: f64,
        /// b
        positive: f64,
        /// The least similarity that there can be.
        least: Option<f64>,
    },
}

impl Correction {
    /// a, b and the least similarity; `None` for the decoupled loss.
    pub(crate) fn terms(self) -> Option<(f64, f64, Option<f64>)> {
        match self {
            Self::None => Some((1.0, 0.0, None)),
            Self::Decoupled => None,
            Self::Floored {
                unlabelled,
                positive,
                least,
            } => Some((unlabelled, positive, least)),
        }
    }
}

/// A contrastive loss, as [`contrast`] computes it.
#[derive(Debug, Clone)]
pub struct Contrast {
    /// What similarities are divided by.
    pub temperature: f64,
    /// The rows of the negatives that are left out.
    pub excluded: Excluded,
    /// The weights of the negatives.
    pub weighing: Weighing,
    /// How the mass becomes a loss.
    pub correction: Correction,
}

/// Computes the loss of each anchor against its positive and a table of negatives, by dot products.
///
/// Scores exist for some anchors at a time: nothing of the shape `[num_anchors, num_rows]` is stored, unless it is small.
///
/// Differentiable in all three tables. On the CPU, the gradients are computed in the same pass: backward only scales them if it gets the same number
/// for all losses, as from their sum or mean, and otherwise computes the part of the negatives again. GPUs compute scores tile by tile in registers, and
/// again in backward. With weights by rank, they keep up to 16 million scores; of more, and of those with lists of excluded rows, they compute some rows at
/// a time, and again in backward.
///
/// # Shapes
/// - anchors:   `[num_anchors, dim]`
/// - positives: `[num_anchors, dim]`
/// - negatives: `[num_rows, dim]`
/// - output:    `[num_anchors]`, nats
///
/// # Panics
/// Panics if the shapes do not fit together, no anchor has a negative left, or there is no table of ranks as long as the number of negatives of an anchor.
///
/// # Example
/// ```
/// use bcl_kernels::{Contrast, Correction, Excluded, Weighing, contrast};
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let anchors = Tensor::<2>::from_floats([[1.0, 0.0]], &device);
/// let queue = Tensor::<2>::from_floats([[1.0, 0.0], [1.0, 5.0], [1.0, -7.0]], &device);
/// let info_nce = Contrast {
///     temperature: 0.5,
///     excluded: Excluded::None,
///     weighing: Weighing::Equal,
///     correction: Correction::None,
/// };
///
/// let loss = contrast(anchors.clone(), anchors, queue, &info_nce).into_scalar::<f32>();
///
/// assert!((loss - 4f32.ln()).abs() < 1e-6); // one positive among four equal scores
/// ```
pub fn contrast(anchors: Tensor<2>, positives: Tensor<2>, negatives: Tensor<2>, loss: &Contrast) -> Tensor<1> {
    let (table, plan) = table_and_plan(&anchors, &positives, &negatives, loss);
    let (losses, ..) = Dispatch::contrast(
        anchors.into_dispatch(),
        positives.into_dispatch(),
        negatives.into_dispatch(),
        table.into_dispatch(),
        plan,
    );
    Tensor::<2>::from_dispatch(losses).squeeze_dim(1)
}

/// Computes the loss of each row of two views of a batch against its other view and all other rows: [`contrast`] with
/// [`Excluded::BothViews`], where all rows are anchors.
///
/// On the CPU this takes two matrix products in place of three, because the score of two rows counts for both. The slopes of the losses in
/// all scores are kept in between if they are fewer than what `contrast` would keep; in large batches it is what this calls.
///
/// # Shapes
/// - views:  `[2 · batch_size, dim]`, the first view before the second
/// - output: `[2 · batch_size]`, nats
///
/// # Panics
/// Panics as [`contrast`] does, or if the loss does not exclude [both views](Excluded::BothViews) from the first on.
///
/// # Example
/// ```
/// use bcl_kernels::{Contrast, Correction, Excluded, Weighing, contrast_views};
/// use burn::tensor::{Device, Tensor};
///
/// let views = Tensor::<2>::ones([4, 3], &Device::flex()); // two samples
/// let info_nce = Contrast {
///     temperature: 0.5,
///     excluded: Excluded::BothViews { first: 0 },
///     weighing: Weighing::Equal,
///     correction: Correction::None,
/// };
///
/// let losses = contrast_views(views, &info_nce).into_data();
///
/// assert!((losses.as_slice::<f32>().unwrap()[3] - 3f32.ln()).abs() < 1e-6); // one positive among three equal scores
/// ```
pub fn contrast_views(views: Tensor<2>, loss: &Contrast) -> Tensor<1> {
    assert_eq!(
        loss.excluded,
        Excluded::BothViews { first: 0 },
        "all rows are anchors, and both views of a sample are excluded"
    );
    let (table, plan) = table_and_plan(&views, &views, &views, loss);
    let (losses, ..) = Dispatch::contrast_views(views.into_dispatch(), table.into_dispatch(), plan);
    Tensor::<2>::from_dispatch(losses).squeeze_dim(1)
}

/// Checks the shapes; returns the weights by rank among all rows, and the rest of the loss.
pub(crate) fn table_and_plan(
    anchors: &Tensor<2>,
    positives: &Tensor<2>,
    negatives: &Tensor<2>,
    loss: &Contrast,
) -> (Tensor<1>, Plan) {
    check_shapes(anchors.dims(), positives.dims(), negatives.dims(), &loss.excluded);
    let (table, plan) = table_and_plan_of(loss, negatives.dims()[0], anchors);
    if !plan.lengths.is_empty() {
        // Panics here instead of in another thread.
        for anchor in 0..anchors.dims()[0] {
            plan.table_number(plan.num_negatives(anchor));
        }
    }
    (table, plan)
}

/// The weights by rank among all rows, one table after the other, and the rest of the loss.
pub(crate) fn table_and_plan_of(loss: &Contrast, num_rows: usize, like: &Tensor<2>) -> (Tensor<1>, Plan) {
    let plan = Plan::new(loss, num_rows);
    // Rows that are left out rank below all others, so each table begins with zeros for them.
    let table = match &loss.weighing {
        Weighing::ByRank(table) => {
            let excluded = loss.excluded.count();
            let excluded =
                excluded.expect("a single table of ranks needs as many negatives for each anchor, not lists of excluded rows");
            crate::ranks::check_table(num_rows - excluded, table.dims()[0]);
            let left_out = Tensor::zeros([excluded], (&table.device(), table.dtype()));
            Tensor::cat(vec![left_out, table.clone().detach()], 0)
        }
        Weighing::ByRankOf(tables) => {
            assert!(
                loss.excluded.count().is_none(),
                "tables of ranks by their length are for lists of excluded rows"
            );
            let lengths = &plan.lengths;
            let fit = lengths.last().is_some_and(|&length| length <= num_rows) && lengths.is_sorted_by(|one, other| one < other);
            assert!(
                fit,
                "tables of ranks have the lengths {lengths:?}, but must have some of 1 to {num_rows}, in ascending order"
            );
            let weights: Vec<f64> = tables
                .iter()
                .flat_map(|table| std::iter::repeat_n(0.0, num_rows - table.len()).chain(table.iter().copied()))
                .collect();
            Tensor::from_data(TensorData::from(&*weights), (&like.device(), like.dtype()))
        }
        // Nothing reads it, so no kernel fills it.
        _ => Tensor::empty([1], &like.device()),
    };
    (table, plan)
}

/// Checks that the shapes fit together.
fn check_shapes(anchors: [usize; 2], positives: [usize; 2], negatives: [usize; 2], excluded: &Excluded) {
    assert_eq!(anchors, positives, "there must be one positive per anchor");
    assert_eq!(
        anchors[1], negatives[1],
        "the anchors have shape {anchors:?} and the negatives {negatives:?}, but their second dimensions must be equal"
    );
    let [num_anchors, _] = anchors;
    let [num_rows, _] = negatives;
    excluded.check(num_anchors, num_rows);
    assert!(
        num_rows > excluded.count().unwrap_or(0) && num_anchors > 0,
        "{num_anchors} anchors and {num_rows} rows leave nothing to compare"
    );
}

/// A [`Contrast`] without its tensor, as backends get it.
#[derive(Debug, Clone)]
pub struct Plan {
    /// One over the temperature.
    pub(crate) rate: f64,
    pub(crate) excluded: Excluded,
    pub(crate) ranked: bool,
    /// The numbers of negatives that have a table of ranks each, in ascending order; empty if there is one for all anchors.
    pub(crate) lengths: Arc<[usize]>,
    /// β.
    pub(crate) hardness: Option<f64>,
    pub(crate) correction: Correction,
    /// Number of rows of negatives, excluded rows included.
    pub(crate) num_rows: usize,
    /// Whether the backward pass needs gradients.
    pub(crate) with_gradients: bool,
    /// Whether it needs the gradient of the negatives, too.
    pub(crate) with_negatives: bool,
}

impl Plan {
    /// The same for the anchors from `start` on.
    fn starting_at(&self, start: usize) -> Self {
        Self {
            excluded: self.excluded.starting_at(start),
            ..self.clone()
        }
    }

    /// N, of an anchor.
    pub(crate) fn num_negatives(&self, anchor: usize) -> usize {
        self.excluded.num_negatives(anchor, self.num_rows)
    }

    /// Where the table of ranks of an anchor with so many negatives is among all tables.
    pub(crate) fn table_number(&self, num_negatives: usize) -> usize {
        // Without negatives, any table will do.
        if self.lengths.is_empty() || num_negatives == 0 {
            return 0;
        }
        self.lengths.binary_search(&num_negatives).unwrap_or_else(|_| {
            panic!(
                "there is no table for the ranks of {num_negatives} negatives, only for {:?}",
                self.lengths
            )
        })
    }

    fn new(loss: &Contrast, num_rows: usize) -> Self {
        Self {
            rate: loss.temperature.recip(),
            excluded: loss.excluded.clone(),
            ranked: matches!(loss.weighing, Weighing::ByRank(_) | Weighing::ByRankOf(_)),
            lengths: match &loss.weighing {
                Weighing::ByRankOf(tables) => tables.iter().map(|table| table.len()).collect(),
                _ => [].into(),
            },
            hardness: match loss.weighing {
                Weighing::ByHardness(beta) => Some(beta),
                _ => None,
            },
            correction: loss.correction,
            num_rows,
            with_gradients: false,
            with_negatives: false,
        }
    }
}

/// The kernel behind [`contrast`](crate::contrast) for a backend. The default bodies compose tensor operations.
#[backend_extension(Autodiff, Flex, Cube: cfg(feature = "cube"))]
pub trait ContrastOps: Backend + RankOps + ProductOps {
    /// Computes the loss of each anchor, `[num_anchors, 1]`, and what backward needs: the gradients of the sum of all losses with respect
    /// to anchors, positives and negatives, or tensors of any shape if `plan` does not ask for them or the backend computes them later.
    fn contrast(
        anchors: FloatTensor<Self>,
        positives: FloatTensor<Self>,
        negatives: FloatTensor<Self>,
        table: FloatTensor<Self>,
        plan: Plan,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        let losses = blocks::losses::<Self, Composed>(anchors, positives, negatives, table, &plan);
        (losses.clone(), losses.clone(), losses.clone(), losses)
    }

    /// The gradients of anchors, positives and negatives, given the forward pass's gradients (`saved`) and the gradient of each loss,
    /// `[num_anchors, 1]`.
    #[allow(clippy::too_many_arguments, clippy::type_complexity)] // backend tensors cannot be put into a struct here
    fn contrast_backward(
        anchors: FloatTensor<Self>,
        positives: FloatTensor<Self>,
        negatives: FloatTensor<Self>,
        table: FloatTensor<Self>,
        saved_anchors: FloatTensor<Self>,
        saved_positives: FloatTensor<Self>,
        saved_negatives: FloatTensor<Self>,
        grad: FloatTensor<Self>,
        plan: Plan,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        // These serve backends that compute gradients in the forward pass.
        drop((saved_anchors, saved_positives, saved_negatives));
        blocks::gradients::<Self, Composed>(anchors, positives, negatives, table, grad, &plan)
    }

    /// Computes the loss of each row of two views, `[num_rows, 1]`, and what backward needs: the gradient of the sum of all losses, and another tensor;
    /// or tensors of any shape if `plan` does not ask for a gradient or the backend computes it later.
    fn contrast_views(
        views: FloatTensor<Self>,
        table: FloatTensor<Self>,
        plan: Plan,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>) {
        let losses = blocks::losses_of_views::<Self, Composed>(views, table, &plan);
        (losses.clone(), losses.clone(), losses)
    }

    /// The gradient of the views, given what the forward pass saved and the gradient of each loss, `[num_rows, 1]`.
    fn contrast_views_backward(
        views: FloatTensor<Self>,
        table: FloatTensor<Self>,
        saved: FloatTensor<Self>,
        saved_too: FloatTensor<Self>,
        grad: FloatTensor<Self>,
        plan: Plan,
    ) -> FloatTensor<Self> {
        drop((saved, saved_too));
        blocks::gradients_of_views::<Self, Composed>(views, table, grad, &plan)
    }
}
