//! Losses of joint-embedding methods.

use super::{Computed, Inputs};
use crate::parity::{
    compute::values,
    frameworks::problem::{Problem, ill_formed, unsupported},
};
use bcl_core::{
    joint_embedding::{
        BarlowTwinsLossConfig, DinoLossConfig, SwavLossConfig, VicRegLossConfig, negative_cosine as rows_of_negative_cosine,
    },
    matmul, unit_rows,
};
use bcl_models::vision::Prototypes;
use burn::{
    module::{Param, ParamId},
    tensor::Tensor,
};

pub(super) fn negative_cosine(inputs: &Inputs<'_>) -> Result<Computed, Problem> {
    let [p0, p1, z0, z1] = inputs.tables(["p0", "p1", "z0", "z1"])?;
    let [first, second] = [(p0, z1), (p1, z0)].map(|(predictions, targets)| rows_of_negative_cosine(predictions, targets).mean());
    let sum = first + second;
    match inputs.parameters().text("form")? {
        "mean" => Ok((sum * 0.5).into()),
        // BYOL's 2 - 2 cos in both directions.
        "byol" => Ok((sum * 2.0 + 4.0).into()),
        form => unsupported(format!("there is no form `{form}` here")),
    }
}

pub(super) fn barlow_twins(inputs: &Inputs<'_>) -> Result<Computed, Problem> {
    let [first, second] = inputs.tables(["z0", "z1"])?;
    let parameters = inputs.parameters();
    let config = BarlowTwinsLossConfig::new()
        .with_lambda(parameters.number("lambda")?)
        .with_scale(parameters.number("scale")?)
        .with_epsilon(parameters.number("eps")?)
        .with_deviation(inputs.choice("normalisation")?);
    config.check()?;
    let loss = config.init();
    let terms = loss.terms(first.clone(), second.clone());
    Ok(Computed {
        loss: loss.forward(first, second),
        outputs: vec![
            ("on_diagonal", values(terms.on_diagonal)),
            ("off_diagonal", values(terms.off_diagonal)),
        ],
    })
}

pub(super) fn vicreg(inputs: &Inputs<'_>) -> Result<Computed, Problem> {
    let [first, second] = inputs.tables(["z0", "z1"])?;
    let parameters = inputs.parameters();
    let config = VicRegLossConfig::new()
        .with_invariance(parameters.number("lambda")?)
        .with_variance(parameters.number("mu")?)
        .with_covariance(parameters.number("nu")?)
        .with_epsilon(parameters.number("eps")?);
    config.check()?;
    let loss = config.init();
    let terms = loss.terms(first.clone(), second.clone());
    Ok(Computed {
        loss: loss.forward(first, second),
        outputs: vec![
            ("invariance", values(terms.invariance)),
            ("variance", values(terms.variance)),
            ("covariance", values(terms.covariance)),
        ],
    })
}

pub(super) fn swav(inputs: &Inputs<'_>) -> Result<Computed, Problem> {
    let parameters = inputs.parameters();
    let config = SwavLossConfig::new()
        .with_temperature(parameters.number("temperature")?)
        .with_epsilon(parameters.number("epsilon")?)
        .with_iterations(parameters.count("iterations")?);
    config.check()?;
    let swav = config.init();
    let (views, queues) = (inputs.views("f")?, inputs.views("queue")?);
    let [first, _] = inputs.tables(["f0", "f1"])?;
    let dim = first.dims()[1];
    let prototypes = inputs.table_of("prototypes", dim)?.transpose();
    if let Some(queue) = queues.first().filter(|queue| queue.dims()[1] != dim) {
        let found = queue.dims()[1];
        return ill_formed(format!("its queues have {found} columns, but must have {dim}"));
    }
    let scored = |rows: &Tensor<2>| matmul(rows.clone(), prototypes.clone());
    let scores: Vec<_> = views.iter().map(|view| scored(&unit_rows(view.clone()))).collect();
    let codes = [0, 1].map(|view: usize| match queues.get(view) {
        Some(queue) => swav.codes_with_queue(scores[view].clone(), scored(queue)),
        None => swav.codes(scores[view].clone()),
    });
    let loss = swav.forward_no_reduction(&codes, &scores).mean();
    let [first, second] = codes.map(values);
    Ok(Computed {
        loss,
        outputs: vec![("codes_0", first), ("codes_1", second)],
    })
}

pub(super) fn dino(inputs: &Inputs<'_>) -> Result<Computed, Problem> {
    let parameters = inputs.parameters();
    let config = DinoLossConfig::new()
        .with_student_temperature(parameters.number("student_temperature")?)
        .with_teacher_temperature(parameters.number("teacher_temperature")?)
        .with_center_momentum(parameters.number("center_momentum")?);
    config.check()?;
    let dino = config.init();
    let [first, ..] = inputs.tables(["t0", "t1", "s0", "s1"])?;
    let (teacher, student) = (inputs.views("t")?, inputs.views("s")?);
    let center = inputs.vector("center", first.dims()[1])?;
    Ok(Computed {
        loss: dino.forward_no_reduction(&teacher, &student, center.clone()).mean(),
        outputs: vec![("new_center", values(dino.new_center(center, &teacher)))],
    })
}

pub(super) fn dino_last_layer(inputs: &Inputs<'_>) -> Result<Computed, Problem> {
    let rows = inputs.table("x")?;
    let weight = inputs.table_of("v", rows.dims()[1])?;
    let cotangent = inputs.table_of("cotangent", weight.dims()[0])?.detach();
    if cotangent.dims()[0] != rows.dims()[0] {
        return ill_formed("`cotangent` must have a row per row of `x`");
    }
    let prototypes = Prototypes {
        weight: Param::initialized(ParamId::new(), weight),
    };
    let logits = prototypes.cosines(rows);
    Ok(Computed {
        loss: (logits.clone() * cotangent).sum(),
        outputs: vec![("logits", values(logits))],
    })
}
