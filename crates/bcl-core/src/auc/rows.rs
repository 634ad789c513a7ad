//! AUCs averaged over anchors: each row of scores has its own AUC, because scores of different anchors are not comparable.

use crate::{Scores, auc::auc, side_information::check_same_class};
use burn::tensor::{Bool, Tensor};

/// Computes `AUC_PU`, the probability that an anchor's positive scores above one of its unlabelled negatives, averaged over anchors.
///
/// Ties count one half, and an anchor with several positives counts with their mean. Anchors without a negative or a positive that
/// counts are left out. Runs on the scores' device and reads back three numbers. `None` if no anchor is left, or if a score that counts
/// is NaN.
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

/// Computes the label-based AUC of positives: the probability that an anchor's positive scores above one of its **true** negatives, averaged
/// over anchors. `None` if no anchor has a true negative, or if a score that counts is NaN.
///
/// [`label_free_alpha`](super::label_free_alpha) estimates this from [`auc_unlabelled`].
///
/// # Shapes
/// - `same_class`: `[num_anchors, num_negatives]`, true where a negative shares its anchor's class
///
/// # Panics
/// Panics if `same_class` does not have the shape of the negatives.
pub fn auc_of_positives(scores: &Scores, same_class: &Tensor<2, Bool>) -> Option<f64> {
    check_same_class(same_class, scores);
    let true_negatives = same_class.clone().bool_not();
    let counted = match &scores.mask {
        Some(mask) => true_negatives.bool_and(mask.clone()),
        None => true_negatives,
    };
    positives_against(scores, Some(counted))
}

/// Computes the label-based AUC of classes: the probability that a **false** negative scores above a true one of the same anchor, averaged over
/// the anchors that have both. `None` if there is no such anchor, or if a score that counts is NaN.
///
/// The positive does not take part, because augmented positives are easier than true class mates. The papers use this AUC as `α`, and
/// so does the authors' "empirical" schedule on labelled batches; [`alpha_of_auc`](super::alpha_of_auc) converts it to the α of their
/// model. Runs on the host.
///
/// # Shapes
/// - `same_class`: `[num_anchors, num_negatives]`, true where a negative shares its anchor's class
///
/// # Panics
/// Panics if `same_class` does not have the shape of the negatives.
pub fn auc_of_classes(scores: &Scores, same_class: &Tensor<2, Bool>) -> Option<f64> {
    check_same_class(same_class, scores);
    let num_negatives = scores.num_negatives();
    let negatives: Vec<f64> = scores.negatives.to_data().iter::<f64>().collect();
    let same_class = flags(same_class.clone());
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
    let negatives = scores.negatives.clone().detach();
    let counted = match counted {
        Some(counted) => counted.float(),
        None => negatives.clone().is_nan().float().ones_like(),
    };
    let num_negatives = counted.clone().sum_dim(1);
    let (mut won, mut num_positives) = (num_negatives.zeros_like(), num_negatives.zeros_like());
    let mut not_a_number = num_negatives.zeros_like();
    for column in 0..scores.num_positives() {
        let positives = scores.positives.clone().detach().narrow(1, column, 1);
        let takes_part = match &scores.positives_mask {
            Some(mask) => mask.clone().narrow(1, column, 1).float(),
            None => num_negatives.ones_like(),
        };
        let positives = positives.expand(scores.negatives.dims());
        let nans = positives.clone().is_nan().bool_or(negatives.clone().is_nan()).float();
        let wins = positives.clone().greater(negatives.clone()).float();
        let ties = positives.equal(negatives.clone()).float();
        not_a_number = not_a_number + (nans * counted.clone()).sum_dim(1) * takes_part.clone();
        won = won + ((wins + ties * 0.5) * counted.clone()).sum_dim(1) * takes_part.clone();
        num_positives = num_positives + takes_part;
    }
    if not_a_number.sum().into_scalar::<f64>() > 0.0 {
        return None;
    }
    let num_pairs = num_negatives * num_positives;
    let takes_part = num_pairs.clone().greater_elem(0.0).float();
    let num_anchors: f64 = takes_part.sum().into_scalar();
    let total: f64 = (won / num_pairs.clamp_min(1.0)).sum().into_scalar();
    (num_anchors > 0.0).then(|| total / num_anchors)
}

fn flags(mask: Tensor<2, Bool>) -> Vec<bool> {
    mask.into_data().iter::<bool>().collect()
}
