//! Labels: which samples share a class.

use crate::{
    Pairs, Scores, Similarity,
    scores::{off_diagonal, samples_of_views},
};
use bcl_kernels::matmul;
use burn::tensor::{Bool, Int, Tensor};
use std::ops::Range;

/// Marks the negatives that share their anchor's class, for [`SideInformation::with_same_class`](crate::SideInformation::with_same_class),
/// if two views of a batch are compared by [`Pairs::from_views_of`].
///
/// # Shapes
/// - labels:  `[batch_size]`, the class of each sample
/// - anchors: a range of `0..2 · batch_size`
/// - output:  `[anchors.len(), 2 · batch_size - 2]`
///
/// ```
/// use bcl_core::{Reduction, SideInformation, SupervisedLossConfig, same_class};
/// use burn::tensor::{Device, Distribution, Tensor};
///
/// let device = Device::flex();
/// let [first, second] = [0, 1].map(|_| Tensor::<2>::random([4, 8], Distribution::Default, &device));
/// let labels = Tensor::from_data([0, 1, 0, 2], &device);
///
/// let side = SideInformation::none().with_same_class(same_class(&labels, 0..8));
/// let loss = SupervisedLossConfig::new().init().forward_with([first, second], &side, Reduction::Mean);
/// assert_eq!(loss.dims(), [1]);
/// ```
///
/// # Panics
/// Panics if there are fewer than two samples, or if the range is empty or reaches beyond the batch.
pub fn same_class(labels: &Tensor<1, Int>, anchors: Range<usize>) -> Tensor<2, Bool> {
    same_class_in_views(labels, 2, anchors)
}

/// The [same](same_class()) for any number of views, compared by [`Pairs::from_many_views_of`].
///
/// # Shapes
/// - labels:  `[batch_size]`, the class of each sample
/// - anchors: a range of `0..num_views · batch_size`
/// - output:  `[anchors.len(), num_views · (batch_size - 1)]`
///
/// # Panics
/// Panics if there are fewer than two samples, or if the range is empty or reaches beyond the batch.
pub fn same_class_in_views(labels: &Tensor<1, Int>, num_views: usize, anchors: Range<usize>) -> Tensor<2, Bool> {
    let [batch_size] = labels.dims();
    assert!(
        anchors.end <= num_views * batch_size,
        "the anchors {anchors:?} reach beyond {num_views} views of {batch_size} samples"
    );
    let of_views = samples_of_views(&anchors, num_views, batch_size);
    let same = of_views.map(|(_, samples)| same_class_across(labels, samples)).collect();
    Tensor::cat(vec![Tensor::cat(same, 0); num_views], 1)
}

/// Marks the negatives that share their anchor's class if the rows of two tables are compared by [`Pairs::from_cross_views_of`].
///
/// # Shapes
/// - labels:  `[batch_size]`, the class of each sample
/// - anchors: a range of `0..batch_size`
/// - output:  `[anchors.len(), batch_size - 1]`
///
/// # Panics
/// Panics if there are fewer than two samples, or if the range is empty or reaches beyond the batch.
pub fn same_class_across(labels: &Tensor<1, Int>, anchors: Range<usize>) -> Tensor<2, Bool> {
    let [batch_size] = labels.dims();
    assert!(
        !anchors.is_empty() && anchors.end <= batch_size && batch_size > 1,
        "the anchors {anchors:?} must be some of {batch_size} samples, of which negatives need at least 2"
    );
    let own = labels.clone().slice([anchors.clone()]);
    let with = |others: Range<usize>| is_equal(own.clone(), labels.clone().slice([others]));
    let beside = |others: Range<usize>| (!others.is_empty()).then(|| with(others));
    let among = (anchors.len() > 1).then(|| off_diagonal(with(anchors.clone())));
    let parts = [beside(0..anchors.start), among, beside(anchors.end..batch_size)];
    Tensor::cat(parts.into_iter().flatten().collect(), 1)
}

/// Marks the samples that share their anchor's class, the anchor itself among them, if samples are compared by [`Pairs::from_labels_of`].
///
/// # Shapes
/// - labels:  `[num_samples]`
/// - anchors: a range of `0..num_samples`
/// - output:  `[anchors.len(), num_samples]`
pub fn same_class_of_all(labels: &Tensor<1, Int>, anchors: Range<usize>) -> Tensor<2, Bool> {
    is_equal(labels.clone().slice([anchors]), labels.clone())
}

/// Compares each of some numbers with each of others, `[numbers, others]`.
fn is_equal(numbers: Tensor<1, Int>, others: Tensor<1, Int>) -> Tensor<2, Bool> {
    let ([rows], [columns]) = (numbers.dims(), others.dims());
    let [numbers, others] = [numbers.unsqueeze_dim::<2>(1), others.unsqueeze_dim(0)];
    numbers.expand([rows, columns]).equal(others.expand([rows, columns]))
}

/// Some samples compared with all, `[num_anchors, num_samples]`.
struct Labelled {
    similarities: Tensor<2>,
    same_class: Tensor<2, Bool>,
    itself: Tensor<2, Bool>,
}

impl Labelled {
    fn new(embeddings: Tensor<2>, labels: Tensor<1, Int>, similarity: Similarity, anchors: Range<usize>) -> Self {
        let ([num_samples, _], [num_labels]) = (embeddings.dims(), labels.dims());
        assert_eq!(num_labels, num_samples, "there must be one label per sample");
        let numbers = Tensor::arange(0..num_samples as i64, &labels.device());
        let compared = |numbers| same_class_of_all(&numbers, anchors.clone());
        let rows = similarity.prepare(embeddings);
        Self {
            similarities: matmul(rows.clone().slice([anchors.clone()]), rows.transpose()),
            same_class: compared(labels),
            itself: compared(numbers),
        }
    }
}

impl Pairs {
    /// Compares samples with labels: every sample is an anchor, its positives are all others of its class, and its negatives are all samples of
    /// other classes. An anchor without a positive or without a negative has no [loss](crate::Losses).
    ///
    /// The loss of an anchor is the mean over its positives of the loss with that positive alone, as in the losses of PyTorch Metric Learning. To
    /// use labels only to leave out false negatives, pass [`same_class`] to the [supervised loss](crate::SupervisedLoss).
    ///
    /// # Shapes
    /// - embeddings: `[num_samples, dim]`
    /// - labels:     `[num_samples]`
    ///
    /// # Panics
    /// Panics if there is not one label per sample.
    ///
    /// ```
    /// use bcl_core::{InfoNceLossConfig, Pairs, Reduction, Similarity};
    /// use burn::tensor::{Device, Tensor};
    ///
    /// let device = Device::flex();
    /// let embeddings = Tensor::<2>::from_data([[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [1.0, 0.0]], &device);
    /// let labels = Tensor::from_data([7, 7, 3, 3], &device);
    ///
    /// let pairs = Pairs::from_labels(embeddings, labels, Similarity::Cosine);
    /// let loss = InfoNceLossConfig::new().init().forward(pairs, Reduction::Mean).into_scalar::<f32>();
    /// assert!((loss - 3f32.ln()).abs() < 1e-6); // one positive, two negatives, all equal
    /// ```
    pub fn from_labels(embeddings: Tensor<2>, labels: Tensor<1, Int>, similarity: Similarity) -> Self {
        let [num_samples, _] = embeddings.dims();
        Self::from_labels_of(embeddings, labels, similarity, 0..num_samples)
    }

    /// Compares only the rows `anchors` of [`from_labels`](Self::from_labels).
    ///
    /// # Panics
    /// Panics as `from_labels` does, or if the range is empty or reaches beyond the samples.
    pub fn from_labels_of(embeddings: Tensor<2>, labels: Tensor<1, Int>, similarity: Similarity, anchors: Range<usize>) -> Self {
        let Labelled {
            similarities,
            same_class,
            itself,
        } = Labelled::new(embeddings, labels, similarity, anchors);
        let mut scores = Scores::multi_positive(similarities.clone(), similarities)
            .with_positives_mask(same_class.clone().bool_and(itself.bool_not()))
            .with_mask(same_class.clone().bool_not())
            .with_least_similarity(similarity.least());
        scores.same_class = Some(same_class);
        scores.into()
    }

    /// Compares the samples `anchors` with all others: as [`from_labels_of`](Self::from_labels_of), but samples of the anchor's class are among
    /// its negatives, too. With the [decoupled loss](crate::DecoupledLoss), whose denominator has only the negatives, this is the supervised
    /// contrastive loss,
    ///
    /// ```text
    /// -1/|P(i)| Σ_{p in P(i)} log( x_p / Σ_{a ≠ i} x_a )
    /// ```
    ///
    /// Source: Khosla et al., [Supervised Contrastive Learning](https://arxiv.org/abs/2004.11362), Eq. 2.
    ///
    /// # Panics
    /// Panics as `from_labels_of` does.
    pub fn from_labels_against_all(
        embeddings: Tensor<2>,
        labels: Tensor<1, Int>,
        similarity: Similarity,
        anchors: Range<usize>,
    ) -> Self {
        let Labelled {
            similarities,
            same_class,
            itself,
        } = Labelled::new(embeddings, labels, similarity, anchors);
        let others = itself.bool_not();
        Scores::multi_positive(similarities.clone(), similarities)
            .with_positives_mask(same_class.bool_and(others.clone()))
            .with_mask(others)
            .with_least_similarity(similarity.least())
            .into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DecoupledLossConfig, InfoNceLossConfig, Reduction, SideInformation, SupervisedLossConfig};
    use burn::tensor::{DType, Device, TensorData};

    const LABELS: [i64; 5] = [0, 1, 0, 1, 1];

    /// Orthogonal classes: a similarity of 1 is a shared class.
    fn views(device: &Device) -> Tensor<2> {
        let rows = LABELS.map(|label| if label == 0 { [1.0, 0.0] } else { [0.0, 1.0] });
        Tensor::from_data(TensorData::new(rows.concat(), [5, 2]), device)
    }

    fn is_similar(pairs: Pairs) -> Vec<bool> {
        let scores = pairs.into_scores().negatives.into_data();
        scores.iter::<f32>().map(|score| score > 0.5).collect()
    }

    fn marks(marks: Tensor<2, Bool>) -> Vec<bool> {
        marks.into_data().iter::<bool>().collect()
    }

    #[test]
    fn classes_have_the_order_of_the_scores() {
        let device = Device::flex();
        let (labels, views) = (Tensor::from_data(LABELS, &device), views(&device));
        for anchors in [0..10, 3..7, 9..10] {
            let pairs = Pairs::from_views_of(views.clone(), views.clone(), Similarity::Cosine, anchors.clone());
            assert_eq!(marks(same_class(&labels, anchors)), is_similar(pairs));
        }
        for anchors in [0..15, 3..12, 9..10] {
            let three = vec![views.clone(); 3];
            let pairs = Pairs::from_many_views_of(three, Similarity::Cosine, anchors.clone());
            assert_eq!(marks(same_class_in_views(&labels, 3, anchors)), is_similar(pairs));
        }
        for anchors in [0..5, 1..4] {
            let pairs = Pairs::from_cross_views_of(views.clone(), views.clone(), Similarity::Cosine, anchors.clone());
            assert_eq!(marks(same_class_across(&labels, anchors)), is_similar(pairs));
        }
    }

    #[test]
    fn labels_choose_positives_and_negatives() {
        let device = Device::flex();
        let numbers: Vec<f32> = (0..5 * 3).map(|i| (1.7 * i as f32).sin()).collect();
        let embeddings = Tensor::<2>::from_data(TensorData::new(numbers, [5, 3]), &device);
        let similarities: Vec<f32> = matmul(embeddings.clone(), embeddings.clone().transpose())
            .into_data()
            .iter()
            .collect();
        let pairs = || Pairs::from_labels(embeddings.clone(), Tensor::from_data(LABELS, &device), Similarity::Dot);
        let loss = InfoNceLossConfig::new().with_temperature(1.0).init();
        let found: Vec<f32> = loss.forward_no_reduction(pairs()).into_data().iter().collect();
        for (anchor, found) in found.into_iter().enumerate() {
            let exponentials = |of_class: bool| {
                let others = (0..5).filter(move |&other| other != anchor && (LABELS[other] == LABELS[anchor]) == of_class);
                others.map(|other| similarities[5 * anchor + other].exp()).collect::<Vec<_>>()
            };
            let (positives, mass) = (exponentials(true), exponentials(false).iter().sum::<f32>());
            let losses = positives.iter().map(|positive| (1.0 + mass / positive).ln());
            let expected = losses.sum::<f32>() / positives.len() as f32;
            assert!((found - expected).abs() < 1e-5, "{found} is not {expected}");
        }
        // All of these negatives are true ones.
        let supervised = SupervisedLossConfig::new().with_temperature(1.0).init();
        let [supervised, plain] = [
            supervised.forward(pairs(), Reduction::Mean),
            loss.forward(pairs(), Reduction::Mean),
        ];
        assert!((supervised - plain).abs().into_scalar::<f32>() < 1e-6);
    }

    #[test]
    fn against_all_others_the_decoupled_loss_is_the_supervised_contrastive_one() {
        let device = Device::flex();
        let numbers: Vec<f64> = (0..5 * 3).map(|i| (1.7 * f64::from(i)).sin()).collect();
        let rows: Vec<&[f64]> = numbers.chunks(3).collect();
        let embeddings = || Tensor::<2>::from_data(TensorData::new(numbers.clone(), [5, 3]), (&device, DType::F64));
        let loss = DecoupledLossConfig::new().with_temperature(0.7).init();
        for anchors in [0..5, 1..3] {
            let labels = Tensor::from_data(LABELS, &device);
            let pairs = Pairs::from_labels_against_all(embeddings(), labels, Similarity::Dot, anchors.clone());
            let found: Vec<f64> = loss.forward_no_reduction(pairs).into_data().iter().collect();
            for (anchor, found) in anchors.zip(found) {
                let others = || (0..5).filter(move |&other| other != anchor);
                let x = |other: usize| (rows[anchor].iter().zip(rows[other]).map(|(a, b)| a * b).sum::<f64>() / 0.7).exp();
                let all: f64 = others().map(x).sum();
                let losses: Vec<f64> = others()
                    .filter(|&other| LABELS[other] == LABELS[anchor])
                    .map(|other| -(x(other) / all).ln())
                    .collect();
                let expected = losses.iter().sum::<f64>() / losses.len() as f64;
                assert!((found - expected).abs() < 1e-10, "{found} is not {expected}");
            }
        }
    }

    #[test]
    fn an_anchor_without_a_positive_or_a_negative_has_no_loss() {
        let device = Device::flex();
        let num_counted = |labels: [i64; 3]| {
            let pairs = Pairs::from_labels(
                Tensor::ones([3, 2], &device),
                Tensor::from_data(labels, &device),
                Similarity::Cosine,
            );
            let losses = crate::Estimator::losses(&InfoNceLossConfig::new().init(), pairs, &SideInformation::none());
            losses.num_counted().expect("there are masks").into_scalar::<f32>()
        };
        assert_eq!(num_counted([4, 4, 5]), 2.0);
        assert_eq!(num_counted([4, 4, 4]), 0.0);
    }

    #[test]
    #[should_panic(expected = "one label per sample")]
    fn each_sample_needs_a_label() {
        let device = Device::flex();
        Pairs::from_labels(
            Tensor::ones([3, 2], &device),
            Tensor::from_data([0, 1], &device),
            Similarity::Dot,
        );
    }
}
