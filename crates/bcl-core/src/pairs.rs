//! The input of every estimator: embeddings whose scores need not exist, or scores.

use crate::{Estimator, Losses, Scores, Similarity};
use bcl_kernels::{
    Contrast, Correction, Excluded, Weighing, contrast, contrast_views, matmul, sampled_contrast, sampled_contrast_is_fused,
    sampled_dot,
};
use burn::tensor::{Bool, DType, Device, Int, Tensor, TensorData};
use std::{collections::BTreeSet, ops::Range};

/// Anchors, their positives and their negatives: the input of every [`Estimator`]. Either embeddings, which are compared by a
/// [`Similarity`], or given [`Scores`].
///
/// With embeddings, some estimators need no scores: they compute a block of anchors at a time, and in large
/// batches take no memory of the shape `[num_anchors, num_negatives]`. So they do on the CPU, since losses and gradients in one pass are
/// faster, and on GPUs, unless rows are sampled. All others [compute the scores](Self::into_scores) first; losses and gradients are the same up to rounding.
///
/// | anchors and negatives | pairs |
/// | --- | --- |
/// | two views of a batch, as in SimCLR | [`from_views`](Self::from_views), or the array `[first, second]` for cosines |
/// | more views of a batch | [`from_many_views`](Self::from_many_views) |
/// | each row of a table with the rows of another, as in NNCLR | [`from_cross_views`](Self::from_cross_views) |
/// | a table that all anchors share, such as a queue | [`with_negatives`](Self::with_negatives) |
/// | rows of a table that were sampled for each anchor | [`sampled`](Self::sampled) |
/// | samples with labels | [`from_labels`](Self::from_labels) |
/// | similarities from elsewhere | [`Scores`], which become pairs by `into()` |
///
/// ```
/// use bcl_core::{BayesianLossConfig, Pairs, Reduction, Similarity};
/// use burn::tensor::{Device, Distribution, Tensor};
///
/// let device = Device::flex().autodiff();
/// let [first, second] = [0, 1].map(|_| Tensor::<2>::random([8, 16], Distribution::Default, &device).require_grad());
///
/// let pairs = Pairs::from_views(first.clone(), second, Similarity::Cosine);
/// let loss = BayesianLossConfig::new().init().forward(pairs, Reduction::Mean);
///
/// let gradients = loss.backward();
/// assert_eq!(first.grad(&gradients).unwrap().dims(), [8, 16]);
/// ```
#[derive(Debug, Clone)]
pub struct Pairs {
    source: Source,
    similarity: Similarity,
    least: Option<f64>,
    offsets: Option<Offsets>,
}

/// Added to similarities.
#[derive(Debug, Clone)]
struct Offsets {
    /// `[num_anchors]`
    positives: Tensor<1>,
    /// `[num_anchors, num_negatives]`, or one row if they are the same for all anchors
    negatives: Tensor<2>,
}

#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "there is one per step")]
enum Source {
    /// Both views of a batch, and the anchors among `0..2 · batch_size`.
    Views([Tensor<2>; 2], Range<usize>),
    /// Anchors of the first table against the second one.
    CrossViews([Tensor<2>; 2], Range<usize>),
    /// Anchors, positives and negatives, and which of the latter are not negatives of an anchor.
    Tables([Tensor<2>; 3], Excluded),
    /// Anchors and a table, with the rows of the positives and of each anchor's own negatives.
    Sampled([Tensor<2>; 2], Tensor<1, Int>, Tensor<2, Int>),
    /// Similarities that are known already.
    Scores(Box<Scores>),
}

/// How kernels compute losses.
#[derive(Debug)]
pub struct Kernel(pub(crate) Weighing, pub(crate) Correction);

impl From<Scores> for Pairs {
    fn from(scores: Scores) -> Self {
        Self {
            least: scores.least_similarity,
            ..Self::new(Source::Scores(Box::new(scores)), Similarity::Dot)
        }
    }
}

/// Two views of a batch, compared by their cosines: [`Pairs::from_views`].
impl From<[Tensor<2>; 2]> for Pairs {
    fn from([first, second]: [Tensor<2>; 2]) -> Self {
        Self::from_views(first, second, Similarity::Cosine)
    }
}

impl Pairs {
    /// Compares two views of a batch with each other, as in SimCLR.
    ///
    /// Every embedding is an anchor (the rows of `first`, then the rows of `second`); its positive is the other view of the same
    /// sample, its negatives are both views of all other samples.
    ///
    /// # Shapes
    /// - first, second: `[batch_size, dim]`
    /// - positives:     `[2 · batch_size, 1]`
    /// - negatives:     `[2 · batch_size, 2 · batch_size - 2]`
    ///
    /// Rows that have unit length already may be compared by [`Similarity::Dot`]; add
    /// [`with_least_similarity(-1.0)`](Self::with_least_similarity) then, because these are cosines.
    pub fn from_views(first: Tensor<2>, second: Tensor<2>, similarity: Similarity) -> Self {
        let [batch_size, _] = first.dims();
        Self::from_views_of(first, second, similarity, 0..2 * batch_size)
    }

    /// Compares only the rows `anchors` of [`from_views`](Self::from_views), if the losses of all anchors would not fit into memory; see
    /// [gradient caching](crate::gradient_cache).
    ///
    /// # Shapes
    /// - first, second: `[batch_size, dim]`
    /// - anchors:       a range of `0..2 · batch_size`
    pub fn from_views_of(first: Tensor<2>, second: Tensor<2>, similarity: Similarity, anchors: Range<usize>) -> Self {
        Self::new(Source::Views([first, second], anchors), similarity)
    }

    /// Compares any number of views of a batch with each other: every embedding is an anchor, its positives are the other views of the same
    /// sample, and its negatives are all views of all other samples. Anchors are stacked view after view. For two views,
    /// [`from_views`](Self::from_views) is faster.
    ///
    /// The loss of an anchor is the mean over its positives of the loss with that positive alone; corrections of the debiased, hard and
    /// positive-unlabelled losses take the mean of all positives.
    ///
    /// # Shapes
    /// - views:     `[batch_size, dim]` each
    /// - positives: `[num_views · batch_size, num_views - 1]`
    /// - negatives: `[num_views · batch_size, num_views · (batch_size - 1)]`
    ///
    /// ```
    /// use bcl_core::{InfoNceLossConfig, Pairs, Reduction, Similarity};
    /// use burn::tensor::{Device, Tensor};
    ///
    /// let views = vec![Tensor::<2>::ones([2, 8], &Device::flex()); 4];
    /// let pairs = Pairs::from_many_views(views, Similarity::Cosine);
    /// let loss = InfoNceLossConfig::new().init().forward(pairs, Reduction::Mean).into_scalar::<f32>();
    /// assert!((loss - 5f32.ln()).abs() < 1e-6); // one positive at a time, four negatives, all equal
    /// ```
    pub fn from_many_views(views: Vec<Tensor<2>>, similarity: Similarity) -> Self {
        let num_anchors = views.iter().map(|view| view.dims()[0]).sum();
        Self::from_many_views_of(views, similarity, 0..num_anchors)
    }

    /// Compares only the rows `anchors` of [`from_many_views`](Self::from_many_views).
    ///
    /// # Panics
    /// Panics if the shapes differ, if there are fewer than two samples or views, or if the range is empty or reaches beyond the batch.
    pub fn from_many_views_of(views: Vec<Tensor<2>>, similarity: Similarity, anchors: Range<usize>) -> Self {
        Scores::from_many_views_of(views, similarity, anchors).into()
    }

    /// Compares each row of a table with the rows of another one: the positive is the row of the same sample, the negatives are the rows
    /// of all other samples. With neighbours from a support set as anchors and predictions as the others, this is NNCLR.
    ///
    /// # Shapes
    /// - first, second: `[batch_size, dim]`, anchors and the rows that they are compared with
    /// - positives:     `[batch_size, 1]`
    /// - negatives:     `[batch_size, batch_size - 1]`
    ///
    /// ```
    /// use bcl_core::{Pairs, Similarity};
    /// use burn::tensor::{Device, Tensor};
    ///
    /// let device = Device::flex();
    /// let first = Tensor::<2>::from_data([[1.0], [2.0], [3.0]], &device);
    /// let second = Tensor::<2>::from_data([[10.0], [20.0], [30.0]], &device);
    /// let scores = Pairs::from_cross_views(first, second, Similarity::Dot).into_scores();
    /// assert_eq!(scores.positives.into_data().iter::<f32>().collect::<Vec<_>>(), [10.0, 40.0, 90.0]);
    /// assert_eq!(scores.negatives.into_data().iter::<f32>().collect::<Vec<_>>(), [20.0, 30.0, 20.0, 60.0, 30.0, 60.0]);
    /// ```
    pub fn from_cross_views(first: Tensor<2>, second: Tensor<2>, similarity: Similarity) -> Self {
        let [batch_size, _] = first.dims();
        Self::from_cross_views_of(first, second, similarity, 0..batch_size)
    }

    /// Compares only the rows `anchors` of [`from_cross_views`](Self::from_cross_views).
    ///
    /// # Shapes
    /// - first, second: `[batch_size, dim]`
    /// - anchors:       a range of `0..batch_size`
    pub fn from_cross_views_of(first: Tensor<2>, second: Tensor<2>, similarity: Similarity, anchors: Range<usize>) -> Self {
        Self::new(Source::CrossViews([first, second], anchors), similarity)
    }

    /// Compares anchors with one positive each and with a table of negatives that all of them share, such as a queue.
    ///
    /// Rows that are not negatives of an anchor are excluded, such as its positive, or items that a user has interacted with. An anchor
    /// whose rows are all excluded has no [loss](Losses).
    ///
    /// # Shapes
    /// - anchors, positives: `[num_anchors, dim]`
    /// - negatives:          `[num_negatives, dim]`
    ///
    /// ```
    /// use bcl_core::{Excluded, InfoNceLossConfig, Pairs, Similarity};
    /// use burn::tensor::{Device, Tensor};
    ///
    /// let device = Device::flex();
    /// let [users, items] = [0.0, 1.0].map(|value| Tensor::<2>::full([3, 4], value, &device));
    ///
    /// // The item of each row is the positive; the first user also likes the second user's item.
    /// let excluded = Excluded::listed([vec![0, 1], vec![1], vec![2]]);
    /// let pairs = Pairs::with_negatives(users, items.clone(), items, Similarity::Dot, excluded);
    ///
    /// let losses = InfoNceLossConfig::new().init().forward_no_reduction(pairs).into_data();
    /// assert!((losses.as_slice::<f32>().unwrap()[0] - 2f32.ln()).abs() < 1e-6); // one positive among two equal scores
    /// assert!((losses.as_slice::<f32>().unwrap()[1] - 3f32.ln()).abs() < 1e-6);
    /// ```
    pub fn with_negatives(
        anchors: Tensor<2>,
        positives: Tensor<2>,
        negatives: Tensor<2>,
        similarity: Similarity,
        excluded: Excluded,
    ) -> Self {
        Self::new(Source::Tables([anchors, positives, negatives], excluded), similarity)
    }

    /// Compares anchors with rows of a table by dot products: with one positive each, and with negatives that were sampled for each anchor.
    ///
    /// # Shapes
    /// - anchors:   `[num_anchors, dim]`
    /// - table:     `[num_rows, dim]`
    /// - positives: `[num_anchors]`, rows of the table
    /// - negatives: `[num_anchors, num_negatives]`, rows of the table
    pub fn sampled(anchors: Tensor<2>, table: Tensor<2>, positives: Tensor<1, Int>, negatives: Tensor<2, Int>) -> Self {
        Self::new(Source::Sampled([anchors, table], positives, negatives), Similarity::Dot)
    }

    /// Adds a number to each similarity, such as the logarithm of how rarely an item is drawn. Removes the
    /// [lowest value](Self::with_least_similarity), since sums have none.
    ///
    /// # Shapes
    /// - positives: `[num_anchors]`
    /// - negatives: `[num_anchors, num_negatives]`, or `[1, num_negatives]` if all anchors have the same
    ///
    /// # Panics
    /// Panics if there are offsets already.
    pub fn with_offsets(mut self, positives: Tensor<1>, negatives: Tensor<2>) -> Self {
        assert!(self.offsets.is_none(), "there are offsets already");
        self.offsets = Some(Offsets { positives, negatives });
        self.least = None;
        self
    }

    fn new(source: Source, similarity: Similarity) -> Self {
        Self {
            source,
            similarity,
            least: similarity.least(),
            offsets: None,
        }
    }

    /// Sets the [lowest value](Scores::least_similarity) that a similarity can take: -1 for dot products of unit rows.
    pub fn with_least_similarity(mut self, least: impl Into<Option<f64>>) -> Self {
        self.least = least.into();
        self
    }

    /// Computes the scores.
    ///
    /// # Panics
    /// Panics if the shapes do not fit together, if two views have fewer than two samples, or if a range of anchors is empty or reaches
    /// beyond the batch.
    pub fn into_scores(self) -> Scores {
        let similarity = self.similarity;
        let scores = match self.source {
            Source::Views([first, second], anchors) => Scores::from_views_of(first, second, similarity, anchors),
            Source::CrossViews([first, second], anchors) => Scores::from_cross_views_of(first, second, similarity, anchors),
            Source::Tables(tables, excluded) => {
                let [anchors, positives, negatives] = tables.map(|table| similarity.prepare(table));
                let positives = (anchors.clone() * positives).sum_dim(1);
                let scores = Scores::multi_positive(positives, matmul(anchors, negatives.transpose()));
                let mask = mask_of(&excluded, &scores.negatives);
                scores.with_mask(mask)
            }
            Source::Sampled([anchors, table], positives, negatives) => {
                let [_, num_negatives] = negatives.dims();
                // Positives and negatives together, so that the gradient of the table is built only once.
                let candidates = Tensor::cat(vec![positives.unsqueeze_dim(1), negatives], 1);
                let scores = sampled_dot(anchors, table, candidates);
                let positives = scores.clone().slice_dim(1, 0..1);
                Scores::multi_positive(positives, scores.slice_dim(1, 1..num_negatives + 1))
            }
            Source::Scores(scores) => *scores,
        };
        let scores = match self.offsets {
            Some(Offsets { positives, negatives }) => scores.with_offsets(positives, negatives),
            None => scores,
        };
        scores.with_least_similarity(self.least)
    }

    /// The lowest value that a similarity can take, if there is one.
    pub fn least_similarity(&self) -> Option<f64> {
        self.least
    }

    /// How many negatives each anchor has, or at most, if [lists](Excluded::Listed) leave out more for some; 0 if there are too few samples for any.
    pub fn num_negatives(&self) -> usize {
        match &self.source {
            Source::Views([first, _], _) => (2 * first.dims()[0]).saturating_sub(2),
            Source::CrossViews([first, _], _) => first.dims()[0].saturating_sub(1),
            Source::Tables([_, _, negatives], excluded) => negatives.dims()[0].saturating_sub(excluded.count().unwrap_or(0)),
            Source::Sampled(_, _, negatives) => negatives.dims()[1],
            Source::Scores(scores) => scores.num_negatives(),
        }
    }

    /// The numbers of negatives that anchors have, without 0 and in ascending order, if [lists](Excluded::Listed) leave out rows; `None` if all anchors
    /// have as many.
    pub(crate) fn row_lengths(&self) -> Option<BTreeSet<usize>> {
        let Source::Tables([anchors, _, negatives], excluded @ Excluded::Listed { .. }) = &self.source else {
            return None;
        };
        let ([num_anchors, _], [num_rows, _]) = (anchors.dims(), negatives.dims());
        let length = |anchor| excluded.num_negatives(anchor, num_rows);
        Some((0..num_anchors).map(length).filter(|&length| length > 0).collect())
    }

    /// Embeddings, for the device and the precision of the scores.
    pub(crate) fn like(&self) -> &Tensor<2> {
        match &self.source {
            Source::Views([first, _], _)
            | Source::CrossViews([first, _], _)
            | Source::Tables([first, ..], _)
            | Source::Sampled([first, _], ..) => first,
            Source::Scores(scores) => &scores.negatives,
        }
    }

    /// The device of the embeddings or scores.
    pub fn device(&self) -> Device {
        self.like().device()
    }

    /// Whether an estimator computes a matrix of scores for the losses of these pairs.
    pub fn needs_scores(&self, estimator: &dyn Estimator) -> bool {
        self.kernel_of(estimator).is_none()
    }

    /// Computes the losses of an estimator without scores if that is possible and worth it, else from its losses of scores.
    pub(crate) fn losses(self, estimator: &dyn Estimator, of_scores: impl FnOnce(Scores) -> Losses) -> Losses {
        match self.kernel_of(estimator) {
            Some(kernel) => self.fused(estimator.temperature(), kernel),
            None => of_scores(self.into_scores()),
        }
    }

    /// How an estimator computes its losses without scores, if it can in this precision, and should on this device.
    fn kernel_of(&self, estimator: &dyn Estimator) -> Option<Kernel> {
        let like = self.like();
        let is_possible = !matches!(self.source, Source::Scores(_))
            && [DType::F32, DType::F64].contains(&like.dtype())
            && self.num_negatives() > 0
            && self.offsets_fit_tables();
        if !is_possible {
            return None;
        }
        let pays = !matches!(self.source, Source::Sampled(..)) || sampled_contrast_is_fused(&like.device());
        estimator.kernel(self).filter(|_| pays)
    }

    /// Whether offsets, if there are any, can be part of the embeddings.
    fn offsets_fit_tables(&self) -> bool {
        match &self.offsets {
            Some(offsets) => matches!(self.source, Source::Tables(..)) && offsets.negatives.dims()[0] == 1,
            None => true,
        }
    }

    /// Computes the losses without scores.
    fn fused(self, temperature: f64, Kernel(weighing, correction): Kernel) -> Losses {
        let similarity = self.similarity;
        let of = |excluded| Contrast {
            temperature,
            excluded,
            weighing,
            correction,
        };
        let (tables, excluded) = match self.source {
            Source::Views(views, range) => {
                let [batch_size, _] = views[0].dims();
                let [first, second] = views.map(|view| similarity.prepare(view));
                let rows = Tensor::cat(vec![first.clone(), second.clone()], 0);
                let excluded = Excluded::BothViews { first: range.start };
                if range == (0..2 * batch_size) {
                    return Losses::new(contrast_views(rows, &of(excluded)), None);
                }
                let others = Tensor::cat(vec![second, first], 0);
                let some = |table: Tensor<2>| table.slice([range.clone()]);
                ([some(rows.clone()), some(others), rows], excluded)
            }
            Source::CrossViews([first, second], range) => {
                let anchors = similarity.prepare(first.slice([range.clone()]));
                let second = similarity.prepare(second);
                let excluded = Excluded::Own { first: range.start };
                ([anchors, second.clone().slice([range]), second], excluded)
            }
            Source::Tables(tables, excluded) => {
                let tables = tables.map(|table| similarity.prepare(table));
                let tables = match self.offsets {
                    Some(offsets) => offsets.join(tables),
                    None => tables,
                };
                (tables, excluded)
            }
            Source::Sampled([anchors, table], positives, negatives) => {
                let losses = sampled_contrast(anchors, table, positives, negatives, &of(Excluded::None));
                return Losses::new(losses, None);
            }
            Source::Scores(_) => unreachable!("no kernel takes scores"),
        };
        let [anchors, positives, negatives] = tables;
        let counted = has_negatives(&excluded, &anchors, &negatives);
        Losses::new(contrast(anchors, positives, negatives, &of(excluded)), counted)
    }
}

impl Offsets {
    /// Makes the offsets part of the dot products: each row gets one more number, 1 for anchors and the offset for positives and negatives.
    fn join(self, tables: [Tensor<2>; 3]) -> [Tensor<2>; 3] {
        let [anchors, positives, negatives] = tables;
        let ones = Tensor::ones([anchors.dims()[0], 1], (&anchors.device(), anchors.dtype()));
        let with = |table: Tensor<2>, column: Tensor<2>| {
            let column = column.cast(table.dtype());
            Tensor::cat(vec![table, column], 1)
        };
        [
            with(anchors, ones),
            with(positives, self.positives.unsqueeze_dim(1)),
            with(negatives, self.negatives.transpose()),
        ]
    }
}

/// Which negatives count, `[num_anchors, num_rows]`; `None` if all do.
fn mask_of(excluded: &Excluded, scores: &Tensor<2>) -> Option<Tensor<2, Bool>> {
    if *excluded == Excluded::None {
        return None;
    }
    let [num_anchors, num_rows] = scores.dims();
    let mut counts = vec![true; num_anchors * num_rows];
    for (anchor, counts) in counts.chunks_mut(num_rows).enumerate() {
        for row in excluded.rows(anchor, num_rows) {
            counts[row] = false;
        }
    }
    let counts = TensorData::new(counts, [num_anchors, num_rows]);
    Some(Tensor::from_data(counts, &scores.device()))
}

/// Which anchors have negatives, `[num_anchors]`; `None` if all have.
fn has_negatives(excluded: &Excluded, anchors: &Tensor<2>, negatives: &Tensor<2>) -> Option<Tensor<1, Bool>> {
    let ([num_anchors, _], [num_rows, _]) = (anchors.dims(), negatives.dims());
    let have_some: Vec<bool> = (0..num_anchors)
        .map(|anchor| excluded.num_negatives(anchor, num_rows) > 0)
        .collect();
    let some_lack_all = have_some.contains(&false);
    some_lack_all.then(|| Tensor::from_data(TensorData::from(&*have_some), &anchors.device()))
}
