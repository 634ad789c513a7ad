//! Codes of SwAV and the centre of DINO.

use super::{State, reader::Reader, reader::pairs};
use crate::parity::{
    compute::values,
    frameworks::problem::{Problem, ill_formed},
};
use bcl_core::joint_embedding::{DinoLossConfig, SwavLossConfig};
use burn::tensor::Tensor;

pub(super) fn codes(trace: &Reader<'_>) -> Result<Vec<State>, Problem> {
    let config = SwavLossConfig::new()
        .with_epsilon(trace.parameters().number("epsilon")?)
        .with_iterations(trace.parameters().count("iterations")?);
    config.check()?;
    let codes = config.init().codes(trace.tensor("scores")?);
    trace.states([
        ("codes", values(codes.clone())),
        ("row_sums", values(codes.clone().sum_dim(1))),
        ("column_sums", values(codes.sum_dim(0))),
    ])
}

pub(super) fn center(trace: &Reader<'_>) -> Result<Vec<State>, Problem> {
    let config = DinoLossConfig::new()
        .with_student_temperature(trace.parameters().number("student_temperature")?)
        .with_teacher_temperature(trace.parameters().number("teacher_temperature")?)
        .with_center_momentum(trace.parameters().number("center_momentum")?);
    config.check()?;
    let dino = config.init();
    let mut center: Tensor<1> = trace.tensor("initial")?;
    let [teacher, student] = ["teacher", "student"].map(|name| pairs(&trace.trace.given, name));
    let (teacher, student) = (teacher?, student?);
    let (mut states, mut losses) = (Vec::new(), Vec::new());
    for (step, expected) in trace.expected_by_step("centers")? {
        let (Some(teacher), Some(student)) = (teacher.get(step), student.get(step)) else {
            return ill_formed("it needs `teacher` and `student` for each step");
        };
        let views = trace.to_tables(&[teacher.as_slice(), student.as_slice()].concat(), "teacher")?;
        if views[0].dims()[1] != center.dims()[0] {
            return ill_formed("`initial` must have one value per logit");
        }
        let (teacher, student) = views.split_at(2);
        losses.extend(values(dino.forward_no_reduction(teacher, student, center.clone()).mean()));
        center = dino.new_center(center, teacher);
        states.push(State::of_step(step, "centers", values(center.clone()), &expected.values));
    }
    states.push(trace.state("losses", losses)?);
    Ok(states)
}
