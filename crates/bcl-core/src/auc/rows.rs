//! Macro averages over anchors: each row of scores has an AUC of its own, because scores of different anchors do not compare.

use crate::{Scores, auc::auc};
use burn::tensor::{Bool, Tensor};

/// `AUC_PU`, the probability that an anchor's positive scores above one of its unlabelled negatives, averaged over anchors.
///
/// Ties count one half; anchors without a negative that counts are left out. Runs on the scores' device and reads back three
/// numbers. `None` when no anchor has a negative, or a score that counts is NaN.
///
/// ```
/// use bcl_core::{Scores, auc::auc_unlabelled};
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let positives = Tensor::from_floats([0.5, 0.9], &device);
/// let negatives = Tensor::from_floats([[0.1, 0.7], [0.2, 0.9]], &device);
/// let auc = auc_unlabelled(&Scores::new(positives, negatives)).unwrap();
/// assert!((auc - (0.5 + 0.75) / 2.0).abs() < 1e-6);
/// ```
pub fn auc_unlabelled(scores: &Scores) -> Option<f64> {
    positives_against(scores, scores.mask.clone())
}

/// The label-based AUC of positives: the probability that an anchor's positive scores above one of its **true** negatives, averaged
/// over anchors. `None` when no anchor has a true negative, or a score that counts is NaN.
///
/// This is what [`label_free_alpha`](super::label_free_alpha) estimates from [`auc_unlabelled`].
///
/// # Panics
/// When the scores carry no `same_class`.
pub fn auc_of_positives(scores: &Scores) -> Option<f64> {
    let true_negatives = same_class(scores).bool_not();
    let counted = match &scores.mask {
        Some(mask) => true_negatives.bool_and(mask.clone()),
        None => true_negatives,
    };
    positives_against(scores, Some(counted))
}

/// The label-based AUC of classes: the probability that a **false** negative scores above a true one of the same anchor, averaged over
/// the anchors that have both. `None` when there is no such anchor, or a score that counts is NaN.
///
/// The positive does not take part, so nothing here is easier than a true class mate. This is what the papers take for `α`, as does
/// the authors' "empirical" schedule on labelled batches; [`alpha_of_auc`](super::alpha_of_auc) turns it into the α of their model.
/// Runs on the host.
///
/// # Panics
/// When the scores carry no `same_class`.
pub fn auc_of_classes(scores: &Scores) -> Option<f64> {
    let num_negatives = scores.num_negatives();
    let negatives: Vec<f64> = scores.negatives.to_data().iter::<f64>().collect();
    let same_class = flags(same_class(scores));
    let counted = scores.mask.clone().map(flags);

    let mut aucs = Vec::new();
    for row in 0..scores.num_anchors() {
        let (mut false_negatives, mut true_negatives) = (Vec::new(), Vec::new());
        for index in row * num_negatives..(row + 1) * num_negatives {
            if counted.as_ref().is_none_or(|counted| counted[index]) {
                let class = if same_class[index] {
                    &mut false_negatives
                } else {
                    &mut true_negatives
                };
                class.push(negatives[index]);
            }
        }
        if false_negatives.iter().chain(&true_negatives).any(|score| score.is_nan()) {
            return None;
        }
        aucs.extend(auc(&false_negatives, &true_negatives));
    }
    (!aucs.is_empty()).then(|| aucs.iter().sum::<f64>() / aucs.len() as f64)
}

/// The macro average of positives against the negatives that count.
fn positives_against(scores: &Scores, counted: Option<Tensor<2, Bool>>) -> Option<f64> {
    let positives = scores
        .positives
        .clone()
        .detach()
        .unsqueeze_dim::<2>(1)
        .expand(scores.negatives.dims());
    let negatives = scores.negatives.clone().detach();
    let not_a_number = positives.clone().is_nan().bool_or(negatives.clone().is_nan()).float();
    let wins = positives.clone().greater(negatives.clone()).float();
    let ties = positives.equal(negatives).float();
    let counted = match counted {
        Some(counted) => counted.float(),
        None => wins.ones_like(),
    };
    if (not_a_number * counted.clone()).sum().into_scalar::<f64>() > 0.0 {
        return None;
    }

    let num_counted = counted.clone().sum_dim(1);
    let won = ((wins + ties * 0.5) * counted).sum_dim(1);
    let takes_part = num_counted.clone().greater_elem(0.0).float();
    let num_anchors: f64 = takes_part.sum().into_scalar();
    let total: f64 = (won / num_counted.clamp_min(1.0)).sum().into_scalar();
    (num_anchors > 0.0).then(|| total / num_anchors)
}

fn same_class(scores: &Scores) -> Tensor<2, Bool> {
    scores
        .same_class
        .clone()
        .expect("a label-based AUC needs the truth: give the scores `same_class`")
}

fn flags(mask: Tensor<2, Bool>) -> Vec<bool> {
    mask.into_data().iter::<bool>().collect()
}
