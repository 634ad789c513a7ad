//! Scores of two views of a batch against each other.

use super::Scores;
use crate::Similarity;
use bcl_kernels::matmul;
use burn::tensor::{Tensor, kind::Basic};
use std::ops::Range;

impl Scores {
    /// Compares two views of a batch with each other, as [`Pairs::from_views`](crate::Pairs::from_views).
    ///
    /// # Panics
    /// Panics if the shapes differ or there are fewer than two samples.
    pub(crate) fn from_views(first: Tensor<2>, second: Tensor<2>, similarity: Similarity) -> Self {
        check_views(&first, &second);
        let first = similarity.prepare(first);
        let second = similarity.prepare(second);
        let across = matmul(first.clone(), second.clone().transpose());
        let within_first = matmul(first.clone(), first.clone().transpose());
        let within_second = matmul(second.clone(), second.clone().transpose());
        let positives = (first * second).sum_dim(1).squeeze_dim::<1>(1);

        let of_first = Tensor::cat(vec![off_diagonal(within_first), off_diagonal(across.clone())], 1);
        let of_second = Tensor::cat(vec![off_diagonal(across.transpose()), off_diagonal(within_second)], 1);
        Self {
            least_similarity: similarity.least(),
            ..Self::new(
                Tensor::cat(vec![positives.clone(), positives], 0),
                Tensor::cat(vec![of_first, of_second], 0),
            )
        }
    }

    /// Computes only the rows `anchors` of [`from_views`](Self::from_views).
    ///
    /// # Panics
    /// Panics as `from_views` does, or if the range is empty or reaches beyond the batch.
    pub(crate) fn from_views_of(first: Tensor<2>, second: Tensor<2>, similarity: Similarity, anchors: Range<usize>) -> Self {
        let batch_size = check_views(&first, &second);
        check_anchors(&anchors, 2 * batch_size);
        if anchors == (0..2 * batch_size) {
            // All anchors together share products.
            return Self::from_views(first, second, similarity);
        }
        Self::from_many_views_of(vec![first, second], similarity, anchors)
    }

    /// Compares some rows of any number of views of a batch, as
    /// [`Pairs::from_many_views_of`](crate::Pairs::from_many_views_of).
    ///
    /// # Panics
    /// Panics if the shapes differ, if there are fewer than two samples or views, or if the range is empty or reaches beyond the batch.
    pub(crate) fn from_many_views_of(views: Vec<Tensor<2>>, similarity: Similarity, anchors: Range<usize>) -> Self {
        let batch_size = check_many_views(&views);
        check_anchors(&anchors, views.len() * batch_size);
        let views: Vec<Tensor<2>> = views.into_iter().map(|view| similarity.prepare(view)).collect();
        let (positives, negatives) = samples_of_views(&anchors, views.len(), batch_size)
            .map(|(own, samples)| {
                let rows = |view: usize| views[view].clone().slice([samples.clone()]);
                let others_of_sample = (0..views.len()).filter(|&view| view != own);
                let positives = others_of_sample.map(|view| (rows(own) * rows(view)).sum_dim(1));
                let negatives = views.iter().flat_map(|view| others(rows(own), view, &samples));
                (Tensor::cat(positives.collect(), 1), Tensor::cat(negatives.collect(), 1))
            })
            .unzip();
        Self {
            least_similarity: similarity.least(),
            ..Self::multi_positive(Tensor::cat(positives, 0), Tensor::cat(negatives, 0))
        }
    }

    /// Compares each row of a table with the rows of another one, as
    /// [`Pairs::from_cross_views_of`](crate::Pairs::from_cross_views_of).
    ///
    /// # Panics
    /// Panics if the shapes differ, if there are fewer than two samples, or if the range is empty or reaches beyond the batch.
    pub(crate) fn from_cross_views_of(
        first: Tensor<2>,
        second: Tensor<2>,
        similarity: Similarity,
        anchors: Range<usize>,
    ) -> Self {
        let batch_size = check_views(&first, &second);
        check_anchors(&anchors, batch_size);
        let rows = similarity.prepare(first.slice([anchors.clone()]));
        let second = similarity.prepare(second);
        let positives = (rows.clone() * second.clone().slice([anchors.clone()])).sum_dim(1);
        let negatives = Tensor::cat(others(rows, &second, &anchors), 1);
        Self {
            least_similarity: similarity.least(),
            ..Self::multi_positive(positives, negatives)
        }
    }
}

fn check_anchors(anchors: &Range<usize>, num_anchors: usize) {
    let all = 0..num_anchors;
    assert!(
        !anchors.is_empty() && anchors.end <= all.end,
        "the anchors {anchors:?} must be some of {all:?}"
    );
}

fn check_views(first: &Tensor<2>, second: &Tensor<2>) -> usize {
    let [batch_size, dim] = first.dims();
    assert_eq!(second.dims(), [batch_size, dim], "the two views must have one shape");
    assert!(
        batch_size > 1,
        "in-batch negatives need at least 2 samples, but there is {batch_size}"
    );
    batch_size
}

fn check_many_views(views: &[Tensor<2>]) -> usize {
    assert!(
        views.len() > 1,
        "a positive is another view of the sample, but there is {} view",
        views.len()
    );
    views[1..].iter().map(|view| check_views(&views[0], view)).fold(0, usize::max)
}

/// The samples of anchors that are stacked view after view: the views that have anchors, each with its samples.
pub(crate) fn samples_of_views(
    anchors: &Range<usize>,
    num_views: usize,
    batch_size: usize,
) -> impl Iterator<Item = (usize, Range<usize>)> {
    let Range { start, end } = *anchors;
    (0..num_views).filter_map(move |view| {
        let of_view = |anchor: usize| anchor.clamp(view * batch_size, (view + 1) * batch_size) - view * batch_size;
        let samples = of_view(start)..of_view(end);
        (!samples.is_empty()).then_some((view, samples))
    })
}

/// Products of the rows of some samples with a view of all other samples, from left to right.
fn others(rows: Tensor<2>, view: &Tensor<2>, samples: &Range<usize>) -> Vec<Tensor<2>> {
    let [batch_size, _] = view.dims();
    let with = |columns: Range<usize>| matmul(rows.clone(), view.clone().slice([columns]).transpose());
    let beside = |columns: Range<usize>| (!columns.is_empty()).then(|| with(columns));
    let among = (samples.len() > 1).then(|| off_diagonal(with(samples.clone())));
    [beside(0..samples.start), among, beside(samples.end..batch_size)]
        .into_iter()
        .flatten()
        .collect()
}

/// Drops the diagonal of a square matrix by slices alone: cut off the first entry, and rows one longer end with a diagonal entry.
///
/// # Shapes
/// - square: `[n, n]`
/// - output: `[n, n - 1]`, columns in order
pub(crate) fn off_diagonal<K: Basic>(square: Tensor<2, K>) -> Tensor<2, K> {
    let [n, _] = square.dims();
    square
        .reshape([n * n])
        .slice(1..n * n)
        .reshape([n - 1, n + 1])
        .slice([0..n - 1, 0..n])
        .reshape([n, n - 1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::tensor::{Device, TensorData, Tolerance};

    #[test]
    fn each_anchor_meets_every_other_sample_but_its_positive() {
        let device = Device::flex();
        let first = Tensor::<2>::from_data([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]], &device);
        let second = Tensor::<2>::from_data([[10.0, 0.0], [20.0, 0.0], [30.0, 0.0]], &device);
        let scores = Scores::from_views(first, second, Similarity::Dot);
        scores
            .positives
            .into_data()
            .assert_eq(&TensorData::from([[10.0f32], [40.0], [90.0], [10.0], [40.0], [90.0]]), true);
        scores.negatives.into_data().assert_eq(
            &TensorData::from([
                [2.0f32, 3.0, 20.0, 30.0],
                [2.0, 6.0, 20.0, 60.0],
                [3.0, 6.0, 30.0, 60.0],
                [20.0, 30.0, 200.0, 300.0],
                [20.0, 60.0, 200.0, 600.0],
                [30.0, 60.0, 300.0, 600.0],
            ]),
            true,
        );
    }

    #[test]
    fn some_anchors_are_rows_of_all() {
        let device = Device::flex();
        let view = |phase: f32| {
            let values: Vec<f32> = (0..5 * 3).map(|i| (1.7 * i as f32 + phase).sin()).collect();
            Tensor::<2>::from_data(TensorData::new(values, [5, 3]), &device)
        };
        let (first, second) = (view(0.0), view(0.9));
        let all = Scores::from_views(first.clone(), second.clone(), Similarity::Cosine);
        for (start, end) in (0..10).flat_map(|start| (start + 1..=10).map(move |end| (start, end))) {
            let some = Scores::from_views_of(first.clone(), second.clone(), Similarity::Cosine, start..end);
            let close = Tolerance::<f32>::absolute(1e-6);
            let (positives, negatives) = (all.positives.clone(), all.negatives.clone());
            some.positives
                .into_data()
                .assert_approx_eq(&positives.slice_dim(0, start..end).into_data(), close);
            some.negatives
                .into_data()
                .assert_approx_eq(&negatives.slice_dim(0, start..end).into_data(), close);
        }
    }

    #[test]
    fn of_many_views_the_positives_are_all_others_of_the_sample() {
        let device = Device::flex();
        let value = |view: usize, sample: usize| (10 * view + sample + 1) as f32;
        let view = |view: usize| {
            let rows: Vec<f32> = (0..2).map(|sample| value(view, sample)).collect();
            Tensor::<2>::from_data(TensorData::new(rows, [2, 1]), &device)
        };
        for anchors in [0..6, 1..4, 5..6] {
            let scores = Scores::from_many_views_of((0..3).map(view).collect(), Similarity::Dot, anchors.clone());
            let rows = |tensor: Tensor<2>| tensor.into_data().iter::<f32>().collect::<Vec<_>>();
            let (mut positives, mut negatives) = (Vec::new(), Vec::new());
            for anchor in anchors {
                let (own, sample) = (anchor / 2, anchor % 2);
                let product = |view: usize, other: usize| value(own, sample) * value(view, other);
                positives.extend((0..3).filter(|&view| view != own).map(|view| product(view, sample)));
                negatives.extend((0..3).map(|view| product(view, 1 - sample)));
            }
            assert_eq!((rows(scores.positives), rows(scores.negatives)), (positives, negatives));
        }
    }

    #[test]
    fn of_crossed_views_each_anchor_meets_the_other_view_alone() {
        let device = Device::flex();
        let view = |phase: f32| {
            let values: Vec<f32> = (0..5 * 3).map(|i| (1.7 * i as f32 + phase).sin()).collect();
            Tensor::<2>::from_data(TensorData::new(values, [5, 3]), &device)
        };
        let (first, second) = (view(0.0), view(0.9));
        // In all scores of two views, the first half of the negatives of the first view are those within it.
        let all = Scores::from_views(first.clone(), second.clone(), Similarity::Cosine);
        for anchors in [0..5, 0..1, 1..4, 4..5] {
            let crossed = Scores::from_cross_views_of(first.clone(), second.clone(), Similarity::Cosine, anchors.clone());
            let close = Tolerance::<f32>::absolute(1e-6);
            let expected = all.positives.clone().slice([anchors.clone()]);
            crossed.positives.into_data().assert_approx_eq(&expected.into_data(), close);
            let expected = all.negatives.clone().slice([anchors.clone(), 4..8]);
            crossed.negatives.into_data().assert_approx_eq(&expected.into_data(), close);
        }
    }

    #[test]
    #[should_panic(expected = "8..11 must be some of 0..10")]
    fn anchors_beyond_the_batch_are_refused() {
        let view = Tensor::<2>::ones([5, 3], &Device::flex());
        Scores::from_views_of(view.clone(), view, Similarity::Dot, 8..11);
    }

    #[test]
    #[should_panic(expected = "at least 2 samples")]
    fn one_sample_has_no_negatives() {
        let z = Tensor::<2>::ones([1, 4], &Device::flex());
        Scores::from_views(z.clone(), z, Similarity::Cosine);
    }

    #[test]
    fn a_row_of_zeros_has_a_gradient_of_zeros() {
        let device = Device::flex().autodiff();
        let z = Tensor::<2>::zeros([2, 3], &device).require_grad();
        let scores = Scores::from_views(z.clone(), Tensor::ones([2, 3], &device), Similarity::Cosine);
        let gradients = (scores.positives.sum() + scores.negatives.sum()).backward();
        let gradient = z.grad(&gradients).expect("z takes part").into_data();
        assert!(gradient.iter::<f32>().all(|slope| slope == 0.0));
    }

    #[test]
    fn cosines_have_a_least_value_and_dot_products_have_none() {
        let view = Tensor::<2>::ones([3, 4], &Device::flex());
        for (similarity, least) in [(Similarity::Cosine, Some(-1.0)), (Similarity::Dot, None)] {
            for anchors in [0..6, 1..2] {
                let scores = Scores::from_views_of(view.clone(), view.clone(), similarity, anchors);
                assert_eq!(scores.least_similarity, least);
            }
        }
    }
}
