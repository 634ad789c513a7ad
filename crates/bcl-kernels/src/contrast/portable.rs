//! Losses of anchors composed of tensor operations, with a matrix of all scores.

use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, Scalar, TensorMetadata, get_or_init_device_settings};
use burn::tensor::{DType, Shape, TensorData};

use super::{Correction, Excluded, Plan};
use crate::{ProductOps, RankOps};

pub(crate) mod blocks;

/// Stands for minus infinity, so that no difference is NaN: below all scores, and finite in this type.
fn below_all(dtype: DType) -> f64 {
    if dtype == DType::F16 { -6e4 } else { -1e30 }
}

/// The losses, `[num_anchors, 1]`.
pub(crate) fn losses<B: RankOps + ProductOps>(
    anchors: FloatTensor<B>,
    positives: FloatTensor<B>,
    negatives: FloatTensor<B>,
    table: FloatTensor<B>,
    plan: &Plan,
) -> FloatTensor<B> {
    outcome::<B>(&terms::<B>(anchors, positives, negatives, table, plan), plan).loss
}

/// The gradients of anchors, positives and negatives from the gradients of the losses, `[num_anchors, 1]`.
pub(crate) fn gradients<B: RankOps + ProductOps>(
    anchors: FloatTensor<B>,
    positives: FloatTensor<B>,
    negatives: FloatTensor<B>,
    table: FloatTensor<B>,
    grad: FloatTensor<B>,
    plan: &Plan,
) -> (FloatTensor<B>, FloatTensor<B>, FloatTensor<B>) {
    let terms = terms::<B>(anchors.clone(), positives.clone(), negatives.clone(), table, plan);
    let Outcome {
        slope, positive_slope, ..
    } = outcome::<B>(&terms, plan);
    let slopes = B::float_mul(terms.slopes, B::float_mul(slope, grad.clone()));
    let positive_slope = B::float_mul(positive_slope, grad);
    let of_negatives = B::product(B::float_swap_dims(slopes.clone(), 0, 1), anchors.clone());
    let of_positives = B::float_mul(anchors, positive_slope.clone());
    let of_anchors = B::float_add(B::product(slopes, negatives), B::float_mul(positives, positive_slope));
    (of_anchors, of_positives, of_negatives)
}

/// The mass of the negatives of each anchor, relative to the highest of them.
struct Terms<B: Backend> {
    /// `[num_anchors, 1]`
    mass: FloatTensor<B>,
    /// The slopes of the mass in the scores, over the rate, `[num_anchors, num_rows]`.
    slopes: FloatTensor<B>,
    /// How far the highest negative is above the positive, times the rate, `[num_anchors, 1]`.
    above: FloatTensor<B>,
    /// `s+`, `[num_anchors, 1]`.
    positive: FloatTensor<B>,
}

fn terms<B: RankOps + ProductOps>(
    anchors: FloatTensor<B>,
    positives: FloatTensor<B>,
    negatives: FloatTensor<B>,
    table: FloatTensor<B>,
    plan: &Plan,
) -> Terms<B> {
    let positive = B::float_sum_dim(B::float_mul(anchors.clone(), positives), 1);
    let scores = B::product(anchors, B::float_swap_dims(negatives, 0, 1));
    terms_of_scores::<B>(leave_out::<B>(scores, plan), positive, table, plan)
}

/// Computes the losses from the scores of negatives, `[num_anchors, num_negatives]`, and positives, `[num_anchors, 1]`; also returns the derivatives of the
/// losses with respect to the scores of positives and negatives.
pub(crate) fn slopes_of_scores<B: RankOps>(
    scores: FloatTensor<B>,
    positive: FloatTensor<B>,
    table: FloatTensor<B>,
    plan: &Plan,
) -> (FloatTensor<B>, FloatTensor<B>, FloatTensor<B>) {
    let terms = terms_of_scores::<B>(scores, positive, table, plan);
    let Outcome {
        loss,
        slope,
        positive_slope,
    } = outcome::<B>(&terms, plan);
    (loss, positive_slope, B::float_mul(terms.slopes, slope))
}

fn terms_of_scores<B: RankOps>(scores: FloatTensor<B>, positive: FloatTensor<B>, table: FloatTensor<B>, plan: &Plan) -> Terms<B> {
    let times = |tensor, factor: f64| B::float_mul_scalar(tensor, Scalar::from(factor));
    let hardest = B::float_max_dim(scores.clone(), 1);
    let above = times(B::float_sub(hardest.clone(), positive.clone()), plan.rate);
    let differences = times(B::float_sub(scores.clone(), hardest), plan.rate);
    let plain = B::float_exp(differences.clone());
    let (mass, slopes) = if plan.ranked {
        let terms = B::float_mul(plain, rank_weights::<B>(scores, table, plan));
        (B::float_sum_dim(terms.clone(), 1), terms)
    } else if let Some(hardness) = plan.hardness {
        let weights = leave_out_power::<B>(times(differences, hardness), &plain);
        let total = B::float_sum_dim(weights.clone(), 1);
        let products = B::float_mul(weights.clone(), plain);
        let mean = B::float_div(B::float_sum_dim(products.clone(), 1), total.clone());
        let slopes = B::float_sub(
            times(products, 1.0 + hardness),
            B::float_mul(weights, times(mean.clone(), hardness)),
        );
        (
            times_num_negatives::<B>(mean, plan),
            times_num_negatives::<B>(B::float_div(slopes, total), plan),
        )
    } else {
        (B::float_sum_dim(plain.clone(), 1), plain)
    };
    Terms {
        mass,
        slopes,
        above,
        positive,
    }
}

/// The weight of each score by its rank, in the table of its anchor.
fn rank_weights<B: RankOps>(scores: FloatTensor<B>, table: FloatTensor<B>, plan: &Plan) -> FloatTensor<B> {
    if plan.lengths.is_empty() {
        return B::rank_weights(scores, table);
    }
    let shape = scores.shape();
    let [num_anchors, num_rows] = shape.dims();
    // Ranks begin at 1.
    let start = |anchor| (plan.table_number(plan.num_negatives(anchor)) * num_rows) as i64 - 1;
    let starts: Vec<i64> = (0..num_anchors).map(start).collect();
    let int_dtype = get_or_init_device_settings::<B>(&scores.device()).int_dtype;
    let starts = TensorData::new(starts, Shape::from([num_anchors, 1])).convert_dtype(int_dtype.into());
    let starts = B::int_from_data(starts, &scores.device());
    let entries = B::int_add(B::row_ranks(scores), B::int_expand(starts, shape.clone()));
    let entries = B::int_reshape(entries, Shape::from([shape.num_elements()]));
    B::float_reshape(B::float_select(table, 0, entries), shape)
}

/// Exponentials of these numbers; 0 where the plain exponential is, so that what is left out does not come back if the hardness is 0.
fn leave_out_power<B: Backend>(numbers: FloatTensor<B>, plain: &FloatTensor<B>) -> FloatTensor<B> {
    let bool_dtype = get_or_init_device_settings::<B>(&plain.device()).bool_dtype;
    let left_out = B::float_equal_elem(plain.clone(), Scalar::from(0.0), bool_dtype);
    B::float_mask_fill(B::float_exp(numbers), left_out, Scalar::from(0.0))
}

/// Multiplies each row by the number of the anchor's negatives.
fn times_num_negatives<B: Backend>(rows: FloatTensor<B>, plan: &Plan) -> FloatTensor<B> {
    if let Some(excluded) = plan.excluded.count() {
        return B::float_mul_scalar(rows, Scalar::from((plan.num_rows - excluded) as f64));
    }
    let counts = of_anchors::<B>(&rows, |anchor| plan.num_negatives(anchor) as f64);
    B::float_mul(rows, counts)
}

/// A number per anchor, `[num_anchors, 1]`, in the type of a tensor of as many rows.
fn of_anchors<B: Backend>(rows: &FloatTensor<B>, number: impl FnMut(usize) -> f64) -> FloatTensor<B> {
    let num_anchors = rows.shape()[0];
    let numbers: Vec<f64> = (0..num_anchors).map(number).collect();
    let numbers = TensorData::new(numbers, Shape::from([num_anchors, 1])).convert_dtype(rows.dtype());
    B::float_from_data(numbers, &rows.device())
}

fn leave_out<B: Backend>(scores: FloatTensor<B>, plan: &Plan) -> FloatTensor<B> {
    if plan.excluded == Excluded::None {
        return scores;
    }
    let [num_anchors, num_rows] = scores.shape().dims();
    // Numbers, because backends disagree on how a mask is stored.
    let mut left_out = vec![0f32; num_anchors * num_rows];
    for anchor in 0..num_anchors {
        for row in plan.excluded.rows(anchor, num_rows) {
            left_out[anchor * num_rows + row] = 1.0;
        }
    }
    let mask = TensorData::new(left_out, Shape::from([num_anchors, num_rows]));
    let bool_dtype = get_or_init_device_settings::<B>(&scores.device()).bool_dtype;
    let mask = B::float_from_data(mask, &scores.device());
    let mask = B::float_equal_elem(mask, Scalar::from(1.0), bool_dtype);
    let value = below_all(scores.dtype());
    B::float_mask_fill(scores, mask, Scalar::from(value))
}

/// The losses and their slopes, each `[num_anchors, 1]`.
struct Outcome<B: Backend> {
    loss: FloatTensor<B>,
    /// The slope of the loss in the mass, times the rate.
    slope: FloatTensor<B>,
    /// The slope of the loss in the score of the positive.
    positive_slope: FloatTensor<B>,
}

fn outcome<B: Backend>(terms: &Terms<B>, plan: &Plan) -> Outcome<B> {
    let outcome = outcome_with_negatives::<B>(terms, plan);
    if plan.excluded.count().is_some() {
        return outcome;
    }
    let counts = of_anchors::<B>(&outcome.loss, |anchor| plan.num_negatives(anchor) as f64);
    let bool_dtype = get_or_init_device_settings::<B>(&counts.device()).bool_dtype;
    let has_none = B::float_equal_elem(counts, Scalar::from(0.0), bool_dtype);
    let counted = |tensor| B::float_mask_fill(tensor, has_none.clone(), Scalar::from(0.0));
    Outcome {
        loss: counted(outcome.loss),
        slope: counted(outcome.slope),
        positive_slope: counted(outcome.positive_slope),
    }
}

/// The same for anchors that have negatives.
fn outcome_with_negatives<B: Backend>(terms: &Terms<B>, plan: &Plan) -> Outcome<B> {
    let times = |tensor, factor: f64| B::float_mul_scalar(tensor, Scalar::from(factor));
    let Terms {
        mass, above, positive, ..
    } = terms;
    let bool_dtype = get_or_init_device_settings::<B>(&mass.device()).bool_dtype;
    let Some((unlabelled, correction, least)) = plan.correction.terms() else {
        return Outcome {
            loss: B::float_add(B::float_log(mass.clone()), above.clone()),
            slope: times(B::float_recip(mass.clone()), plan.rate),
            positive_slope: B::float_add_scalar(times(mass.clone(), 0.0), Scalar::from(-plan.rate)),
        };
    };
    let larger = |left: FloatTensor<B>, right: FloatTensor<B>| {
        let is_right = B::float_lower(left.clone(), right.clone(), bool_dtype);
        B::float_mask_where(left, is_right, right)
    };
    let least_above = least.map(|least| times(B::float_sub_scalar(positive.clone(), Scalar::from(least)), -plan.rate));
    let shift = B::float_clamp_min(above.clone(), Scalar::from(0.0));
    let shift = match &least_above {
        Some(least_above) => larger(shift, least_above.clone()),
        None => shift,
    };
    let scale = times(B::float_exp(B::float_sub(above.clone(), shift.clone())), unlabelled);
    let positive_mass = B::float_exp(B::float_neg(shift.clone()));
    let pull = B::float_mul(mass.clone(), scale.clone());
    let corrected = B::float_sub(
        pull.clone(),
        times_num_negatives::<B>(times(positive_mass.clone(), correction), plan),
    );
    let floor = match least_above {
        Some(least_above) => times_num_negatives::<B>(B::float_exp(B::float_sub(least_above, shift.clone())), plan),
        None => times(corrected.clone(), 0.0),
    };
    let is_floored = match plan.correction {
        Correction::None => B::float_lower_elem(positive_mass.clone(), Scalar::from(0.0), bool_dtype),
        _ => B::float_lower_equal(corrected.clone(), floor.clone(), bool_dtype),
    };
    let mass = B::float_mask_where(corrected, is_floored.clone(), floor.clone());
    let pull = B::float_mask_where(pull, is_floored.clone(), floor);
    let denominator = B::float_add(mass.clone(), positive_mass);
    let is_shifted = B::float_greater_elem(shift.clone(), Scalar::from(0.0), bool_dtype);
    let loss = B::float_mask_where(
        B::float_log1p(mass),
        is_shifted,
        B::float_add(B::float_log(denominator.clone()), shift),
    );
    let rate_over = times(B::float_recip(denominator), plan.rate);
    Outcome {
        loss,
        slope: B::float_mask_fill(B::float_mul(scale, rate_over.clone()), is_floored, Scalar::from(0.0)),
        positive_slope: B::float_neg(B::float_mul(pull, rate_over)),
    }
}
