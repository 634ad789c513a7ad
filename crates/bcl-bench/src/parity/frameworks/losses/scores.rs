//! Losses of scores: in the batch, with a queue, with a support set.

use super::{Computed, Inputs};
use crate::parity::{
    compute::values,
    frameworks::problem::{Problem, unsupported},
};
use bcl_core::{
    AugmentedLossConfig, DecoupledLossConfig, Estimator, EstimatorConfig, InfoNceLossConfig, Pairs, Reduction, Scores,
    SideInformation, Similarity, matmul, unit_rows,
};
use burn::tensor::{Bool, Tensor, TensorData};

pub(super) fn ntxent(inputs: &Inputs<'_>) -> Result<Computed, Problem> {
    let loss = info_nce(inputs)?;
    Ok(loss.forward(two_views(inputs)?, Reduction::Mean).into())
}

pub(super) fn decoupled(inputs: &Inputs<'_>) -> Result<Computed, Problem> {
    let parameters = inputs.parameters();
    let weighted = parameters.flag("weighted")?;
    let sigma = weighted.then(|| parameters.number("sigma")).transpose()?;
    let config = DecoupledLossConfig::new()
        .with_temperature(parameters.number("temperature")?)
        .with_sigma(sigma);
    config.check()?;
    let (loss, scores) = (config.init(), two_views(inputs)?);
    // Both anchors of a pair have its weight, and the file has one per pair.
    let num_pairs = scores.num_anchors() / 2;
    let weights = values(loss.positive_weights(&scores).slice_dim(0, 0..num_pairs));
    Ok(Computed {
        loss: loss.forward(scores, Reduction::Mean),
        outputs: vec![("weights", weights)],
    })
}

pub(super) fn augmented(inputs: &Inputs<'_>) -> Result<Computed, Problem> {
    let parameters = inputs.parameters();
    let config = AugmentedLossConfig::new()
        .with_temperature(parameters.number("temperature")?)
        .with_lambda(parameters.number("lambda")?)
        .with_rate(inputs.choice("rate")?)
        .with_base(inputs.choice("base")?);
    config.check()?;
    let (loss, scores) = (config.init(), two_views(inputs)?);
    let draws = |role: &str| Ok::<_, Problem>(inputs.vector(role, scores.num_anchors())?.detach());
    let (side, weights) = match parameters.text("draws")? {
        "from_rate" => {
            let draws = draws("g")?;
            let log_rates = loss.log_rates(&scores, loss.log_means(&scores));
            let side = SideInformation::none().with_noise(draws.clone());
            (side, draws * log_rates.neg().exp())
        }
        "given" => {
            let draws = draws("u")?;
            let side = SideInformation::none().with_log_rates(draws.zeros_like());
            (side.with_noise(draws.clone()), draws)
        }
        other => return unsupported(format!("there are no draws `{other}` here")),
    };
    Ok(Computed {
        loss: loss.forward_with(scores, &side, Reduction::Mean),
        outputs: vec![("u", values(weights))],
    })
}

pub(super) fn nnclr(inputs: &Inputs<'_>) -> Result<Computed, Problem> {
    let [z0, z1, p0, p1] = inputs.tables(["z0", "z1", "p0", "p1"])?;
    let [_, dim] = z0.dims();
    let support = inputs.table_of("support", dim)?.detach();
    let nearest = |view: Tensor<2>| {
        let cosines = matmul(unit_rows(view), unit_rows(support.clone()).transpose());
        cosines.argmax(1).squeeze_dim::<1>(1)
    };
    let indices = [z0, z1].map(nearest);
    let [first, second] = indices.clone().map(|indices| support.clone().select(0, indices));
    let info_nce = info_nce(inputs)?;
    let loss = |scores| info_nce.forward(scores, Reduction::Mean);
    let crossed = |anchors: &Tensor<2>, others: &Tensor<2>| {
        let scores = Pairs::from_cross_views(anchors.clone(), others.clone(), Similarity::Cosine).into_scores();
        loss(scores)
    };
    let direction = |neighbours: Tensor<2>, predictions: Tensor<2>| match inputs.parameters().text("form")? {
        "cross" => Ok(crossed(&neighbours, &predictions)),
        "cross_symmetric" => Ok(crossed(&neighbours, &predictions) + crossed(&predictions, &neighbours)),
        "ntxent" => Ok(loss(in_batch(neighbours, predictions))),
        form => unsupported(format!("there is no form `{form}` here")),
    };
    let sum = direction(first, p1)? + direction(second, p0)?;
    let [nearest_0, nearest_1] = indices.map(|indices| indices.into_data().iter::<f64>().collect());
    Ok(Computed {
        loss: sum * 0.5,
        outputs: vec![("nearest_0", nearest_0), ("nearest_1", nearest_1)],
    })
}

pub(super) fn queue(inputs: &Inputs<'_>) -> Result<Computed, Problem> {
    let [queries, keys] = inputs.tables(["q", "k"])?.map(unit_rows);
    let queue = inputs.table_of("queue", queries.dims()[1])?.detach();
    let positives = (queries.clone() * keys.detach()).sum_dim(1).squeeze_dim(1);
    let scores = Scores::new(positives, matmul(queries, queue.transpose())).with_least_similarity(-1.0);
    let [num_anchors, size] = scores.negatives.dims();
    let scores = if inputs.parameters().contains_key("valid") {
        let valid = inputs.parameters().count("valid")?;
        masked(scores, (0..num_anchors * size).map(|entry| entry % size < valid))
    } else {
        scores
    };
    let (estimator, side) = inputs.estimator(num_anchors)?;
    Ok(estimator.forward_with(scores, &side, Reduction::Mean).into())
}

/// Leaves out the negatives that are not marked.
pub(super) fn masked(scores: Scores, marks: impl Iterator<Item = bool>) -> Scores {
    let marks = TensorData::new::<bool, _>(marks.collect(), scores.negatives.dims());
    let mask = Tensor::<2, Bool>::from_data(marks, &scores.negatives.device());
    scores.with_mask(mask)
}

fn two_views(inputs: &Inputs<'_>) -> Result<Scores, Problem> {
    let [first, second] = inputs.tables(["z0", "z1"])?;
    Ok(in_batch(first, second))
}

fn in_batch(first: Tensor<2>, second: Tensor<2>) -> Scores {
    Pairs::from_views(first, second, Similarity::Cosine).into_scores()
}

fn info_nce(inputs: &Inputs<'_>) -> Result<Box<dyn Estimator>, Problem> {
    let temperature = inputs.parameters().number("temperature")?;
    let config = EstimatorConfig::InfoNce(InfoNceLossConfig::new().with_temperature(temperature));
    config.check()?;
    Ok(config.init())
}
