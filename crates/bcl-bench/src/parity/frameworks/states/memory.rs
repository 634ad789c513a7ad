//! Queues of keys.

use super::{
    super::{
        super::{
            compute::values,
            precision::{Arithmetic, Precision},
        },
        problem::Problem,
    },
    State,
    given::{array, arrays, number, table_like, tensor},
};
use bcl_core::{Estimator, InfoNceConfig, Reduction, unit_rows};
use bcl_golden::Trace;
use bcl_train::methods::KeyQueue;
use burn::tensor::Tensor;

pub(super) fn queue(trace: &Trace, arithmetic: &Arithmetic) -> Result<Vec<State>, Problem> {
    only_in_f32(arithmetic)?;
    wraps(trace)?;
    // The trace starts from a full queue whose next position is 0.
    let mut queue = full(trace, "initial", arithmetic)?;
    let batches = arrays(&trace.given, "batches")?.into_iter();
    let (mut states, mut pointers) = (Vec::new(), Vec::new());
    for (step, (batch, expected)) in batches.zip(arrays(&trace.expected, "contents")?).enumerate() {
        let batch: Tensor<2> = tensor(batch, "batches", arithmetic)?;
        if batch.dims()[1] != queue.rows().dims()[1] {
            return Err(Problem::IllFormed("`batches` must have the columns of `initial`".to_owned()));
        }
        queue = queue.with_keys(batch, None);
        states.push(State::new(format!("contents of step {step}"), values(queue.rows()), expected));
        pointers.push(queue.position() as f64);
    }
    states.push(State::new("pointers", pointers, array(&trace.expected, "pointers")?));
    Ok(states)
}

/// Both directions meet the old queue, then all keys enter. What lightly does in between is another method, and not here.
pub(super) fn symmetric_step(trace: &Trace, arithmetic: &Arithmetic) -> Result<Vec<State>, Problem> {
    only_in_f32(arithmetic)?;
    let queue = full(trace, "queue", arithmetic)?;
    let stored = queue.rows();
    let unit = |name: &str| Ok::<_, Problem>(unit_rows(table_like(trace, name, &stored, arithmetic)?));
    let (queries, keys) = ([unit("q0")?, unit("q1")?], [unit("k0")?, unit("k1")?]);
    if queries.iter().chain(&keys).any(|view| view.dims() != queries[0].dims()) {
        return Err(Problem::IllFormed("`q0`, `q1`, `k0` and `k1` must have one shape".to_owned()));
    }
    let config = InfoNceConfig::new().with_temperature(trace.parameters.number("temperature")?);
    config.check().map_err(|error| error.to_string())?;
    let [first, second] = keys.clone();
    let scores = queue.scores(Tensor::cat(queries.to_vec(), 0), Tensor::cat(vec![second, first], 0));
    let loss = config.init().forward(scores, Reduction::Mean);
    let queue = queue.with_keys(Tensor::cat(keys.to_vec(), 0), None);
    Ok(vec![
        State {
            name: "loss_after".to_owned(),
            found: values(loss),
            expected: vec![number(&trace.expected, "loss_after")?],
        },
        State::new("queue_after", values(queue.rows()), array(&trace.expected, "queue_after")?),
    ])
}

/// A full queue.
fn full(trace: &Trace, name: &str, arithmetic: &Arithmetic) -> Result<KeyQueue, Problem> {
    let rows: Tensor<2> = tensor(array(&trace.given, name)?, name, arithmetic)?;
    let [size, dim] = rows.dims();
    Ok(KeyQueue::new(size, dim, &arithmetic.device).with_keys(rows, None))
}

/// Memories are stored in f32 for every precision of the networks.
fn only_in_f32(arithmetic: &Arithmetic) -> Result<(), Problem> {
    match arithmetic.precision {
        Precision::F32 => Ok(()),
        Precision::F64 => Err(Problem::unsupported("a queue is stored in f32")),
    }
}

fn wraps(trace: &Trace) -> Result<(), Problem> {
    match trace.parameters.text("rule")? {
        "wrap" => Ok(()),
        rule => Err(Problem::unsupported(format!(
            "a queue wraps around here, the rule `{rule}` is another method"
        ))),
    }
}
