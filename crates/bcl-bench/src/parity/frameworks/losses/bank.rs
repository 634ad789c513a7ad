//! CMC's losses with a memory bank.

use super::{Computed, Inputs, scores::masked};
use crate::parity::{
    compute::values,
    frameworks::problem::{Problem, ill_formed, unsupported},
};
use bcl_core::{NoiseContrastiveLossConfig, Reduction, Scores, matmul, unit_rows};
use burn::tensor::Tensor;

/// One direction: the features, the bank of the other view, and the names of the loss and the normaliser.
type Direction = (&'static str, &'static str, &'static str, &'static str);

const DIRECTIONS: [Direction; 2] = [("l", "bank_ab", "loss_l", "z_l"), ("ab", "bank_l", "loss_ab", "z_ab")];

pub(super) fn bank(inputs: &Inputs<'_>) -> Result<Computed, Problem> {
    let mut outputs = Vec::new();
    let mut directions = Vec::new();
    for (features, stored, loss, normaliser) in DIRECTIONS {
        let scores = scores(inputs, features, stored)?;
        let of_direction = match inputs.parameters().text("form")? {
            "softmax" => {
                let (estimator, side) = inputs.estimator(scores.num_anchors())?;
                estimator.forward_with(scores, &side, Reduction::Mean)
            }
            "nce" => {
                let (of_direction, z) = noise_contrastive(inputs, &scores, normaliser)?;
                outputs.push((normaliser, z));
                of_direction
            }
            form => return unsupported(format!("there is no form `{form}` here")),
        };
        outputs.push((loss, values(of_direction.clone())));
        directions.push(of_direction);
    }
    let loss = directions.into_iter().reduce(|first, second| first + second);
    let loss = loss.expect("two directions");
    Ok(Computed { loss, outputs })
}

/// Features against their own entries of the bank and against drawn ones.
fn scores(inputs: &Inputs<'_>, features: &str, stored: &str) -> Result<Scores, Problem> {
    let [of_l, of_ab] = inputs.tables(["l", "ab"])?;
    let features = unit_rows(if features == "l" { of_l } else { of_ab });
    let [batch_size, dim] = features.dims();
    let stored = inputs.table_of(stored, dim)?.detach();
    let num_stored = stored.dims()[0];
    let (_, own) = inputs.rows("indices", num_stored)?;
    let (shape, drawn) = inputs.rows("negatives", num_stored)?;
    if own.len() != batch_size || shape.len() != 2 || shape[0] != batch_size || shape[1] == 0 {
        return ill_formed(format!(
            "it needs {batch_size} `indices` and a table of `negatives` with as many rows"
        ));
    }
    let dims = [batch_size, shape[1]];
    let positives = features.clone() * stored.clone().select(0, inputs.to_device(&own, [batch_size]));
    let similarities = matmul(features, stored.transpose());
    let negatives = similarities.gather(1, inputs.to_device(&drawn, dims));
    let scores = Scores::new(positives.sum_dim(1).squeeze_dim(1), negatives).with_least_similarity(-1.0);
    if !inputs.parameters().flag("mask_collisions")? {
        return Ok(scores);
    }
    let others = drawn.iter().enumerate().map(|(entry, &row)| row != own[entry / dims[1]]);
    Ok(masked(scores, others))
}

/// The mean loss, and Z.
fn noise_contrastive(inputs: &Inputs<'_>, scores: &Scores, normaliser: &str) -> Result<(Tensor<1>, Vec<f64>), Problem> {
    let parameters = inputs.parameters();
    let config = NoiseContrastiveLossConfig::new().with_temperature(parameters.number("t")?);
    config.check()?;
    let loss = config.init();
    let num_stored = parameters.count("num_data")?;
    let log_normaliser = match parameters.get(normaliser) {
        Some(z) if !z.is_null() => inputs.scalar(parameters.number(normaliser)?.ln()),
        _ => loss.log_normaliser(scores, num_stored),
    };
    let mean = loss
        .losses(scores, log_normaliser.clone(), num_stored)
        .reduce(Reduction::Mean);
    Ok((mean, values(log_normaliser.exp())))
}
