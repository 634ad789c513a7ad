//! Codes of SwAV and the centre of DINO.

use super::{
    super::{
        super::{compute::values, precision::Arithmetic},
        problem::Problem,
    },
    State,
    given::{array, arrays, pairs, tables, tensor},
};
use bcl_core::joint_embedding::{DinoLossConfig, SwavLossConfig};
use bcl_golden::Trace;
use burn::tensor::Tensor;

pub(super) fn codes(trace: &Trace, arithmetic: &Arithmetic) -> Result<Vec<State>, Problem> {
    let config = SwavLossConfig::new()
        .with_epsilon(trace.parameters.number("epsilon")?)
        .with_iterations(trace.parameters.count("iterations")?);
    config.check().map_err(|error| error.to_string())?;
    let codes = config
        .init()
        .codes(tensor(array(&trace.given, "scores")?, "scores", arithmetic)?);
    [
        ("codes", codes.clone()),
        ("row_sums", codes.clone().sum_dim(1)),
        ("column_sums", codes.sum_dim(0)),
    ]
    .into_iter()
    .map(|(name, found)| Ok(State::new(name, values(found), array(&trace.expected, name)?)))
    .collect()
}

pub(super) fn center(trace: &Trace, arithmetic: &Arithmetic) -> Result<Vec<State>, Problem> {
    let config = DinoLossConfig::new()
        .with_student_temperature(trace.parameters.number("student_temperature")?)
        .with_teacher_temperature(trace.parameters.number("teacher_temperature")?)
        .with_center_momentum(trace.parameters.number("center_momentum")?);
    config.check().map_err(|error| error.to_string())?;
    let dino = config.init();
    let mut center: Tensor<1> = tensor(array(&trace.given, "initial")?, "initial", arithmetic)?;
    let (teacher, student) = (pairs(&trace.given, "teacher")?, pairs(&trace.given, "student")?);
    let (mut states, mut losses) = (Vec::new(), Vec::new());
    for (step, expected) in arrays(&trace.expected, "centers")?.into_iter().enumerate() {
        let (Some(teacher), Some(student)) = (teacher.get(step), student.get(step)) else {
            return Err(Problem::IllFormed(
                "it needs `teacher` and `student` for each step".to_owned(),
            ));
        };
        let views = tables(&[teacher.as_slice(), student.as_slice()].concat(), "teacher", arithmetic)?;
        if views[0].dims()[1] != center.dims()[0] {
            return Err(Problem::IllFormed("`initial` must have one value per logit".to_owned()));
        }
        let (teacher, student) = views.split_at(2);
        losses.extend(values(dino.forward_no_reduction(teacher, student, center.clone()).mean()));
        center = dino.new_center(center, teacher);
        states.push(State::of_step(step, "centers", values(center.clone()), expected));
    }
    states.push(State::new("losses", losses, array(&trace.expected, "losses")?));
    Ok(states)
}
