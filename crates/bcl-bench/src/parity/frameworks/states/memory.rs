//! Memories: queues of keys and of projections, support sets, banks.

use super::{
    super::{
        super::{
            compute::values,
            precision::{Arithmetic, Precision},
        },
        problem::Problem,
    },
    State,
    given::{array, arrays, flags, number, pairs, table_like, tables, tensor},
};
use bcl_core::{InfoNceLossConfig, Reduction, unit_rows};
use bcl_golden::Trace;
use bcl_methods::{KeyQueue, MemoryBank, StoredKeys, nearest};
use burn::tensor::{Int, Tensor};

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
        queue = queue.with_keys(batch, &StoredKeys::default());
        states.push(State::of_step(step, "contents", values(queue.rows()), expected));
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
    let config = InfoNceLossConfig::new().with_temperature(trace.parameters.number("temperature")?);
    config.check().map_err(|error| error.to_string())?;
    let [first, second] = keys.clone();
    let scores = queue.scores(Tensor::cat(queries.to_vec(), 0), Tensor::cat(vec![second, first], 0));
    let loss = config.init().forward(scores, Reduction::Mean);
    let queue = queue.with_keys(Tensor::cat(keys.to_vec(), 0), &StoredKeys::default());
    Ok(vec![
        State {
            item: "loss_after",
            step: None,
            found: values(loss),
            expected: vec![number(&trace.expected, "loss_after")?],
        },
        State::new("queue_after", values(queue.rows()), array(&trace.expected, "queue_after")?),
    ])
}

/// Rows move towards the latest embeddings of their images.
pub(super) fn bank(trace: &Trace, arithmetic: &Arithmetic) -> Result<Vec<State>, Problem> {
    let momentum = trace.parameters.number("momentum")?;
    let rows: Tensor<2> = tensor(array(&trace.given, "initial")?, "initial", arithmetic)?;
    let [num_images, dim] = rows.dims();
    let mut bank = MemoryBank::of_rows(rows);
    let features = arrays(&trace.given, "features")?;
    let steps = arrays(&trace.given, "indices")?.into_iter().zip(features);
    let mut states = Vec::new();
    for (step, ((images, features), expected)) in steps.zip(arrays(&trace.expected, "contents")?).enumerate() {
        let features: Tensor<2> = tensor(features, "features", arithmetic)?;
        let is_image = |image: &f64| image.fract() == 0.0 && (0.0..num_images as f64).contains(image);
        if !images.values.iter().all(is_image) || features.dims() != [images.values.len(), dim] {
            let problem = format!("`indices` must be rows of the bank of {num_images}, with a row of {dim} `features` each");
            return Err(Problem::IllFormed(problem));
        }
        let images: Vec<i64> = images.values.iter().map(|&image| image as i64).collect();
        let images = Tensor::<1, Int>::from_data(images.as_slice(), &arithmetic.device);
        bank = bank.updated(images, features, momentum);
        states.push(State::of_step(step, "contents", values(bank.rows()), expected));
    }
    Ok(states)
}

/// Both views find their neighbours before the second view enters. The reference drops what does not fit, so contents are not compared.
pub(super) fn support_set(trace: &Trace, arithmetic: &Arithmetic) -> Result<Vec<State>, Problem> {
    only_in_f32(arithmetic)?;
    let rows: Tensor<2> = tensor(array(&trace.given, "initial")?, "initial", arithmetic)?;
    let [size, dim] = rows.dims();
    let mut support = KeyQueue::new(size, dim, &arithmetic.device).with_keys(unit_rows(rows), &StoredKeys::default());
    let mut states = Vec::new();
    let steps = pairs(&trace.given, "z")?.into_iter().zip(pairs(&trace.expected, "nearest")?);
    for (step, (projections, expected)) in steps.enumerate() {
        let projections = tables(&projections, "z", arithmetic)?;
        if projections[0].dims()[1] != dim {
            return Err(Problem::IllFormed("`z` must have the columns of `initial`".to_owned()));
        }
        let stored = values(support.rows());
        for (projections, expected) in projections.iter().zip(expected) {
            // The library returns rows, so the rows that the reference names are what they must be.
            let row = |index: &f64| stored.chunks(dim).nth(*index as usize).map(<[f64]>::to_vec);
            let rows: Option<Vec<_>> = expected.values.iter().map(row).collect();
            let rows = rows.ok_or_else(|| Problem::IllFormed("`nearest` names a row that is not there".to_owned()))?;
            states.push(State {
                item: "nearest",
                step: Some(step),
                found: values(nearest(&support, unit_rows(projections.clone()))),
                expected: rows.concat(),
            });
        }
        support = support.with_keys(unit_rows(projections[1].clone()), &StoredKeys::default());
    }
    Ok(states)
}

/// The queue of SwAV is a ring buffer here; the reference lists the newest batch first. It is used once it is full.
pub(super) fn queue_of_codes(trace: &Trace, arithmetic: &Arithmetic) -> Result<Vec<State>, Problem> {
    only_in_f32(arithmetic)?;
    let batches = tables(&arrays(&trace.given, "embeddings")?, "embeddings", arithmetic)?;
    let size = trace.parameters.count("length")?;
    let [batch_size, dim] = batches.first().map_or([0, 0], Tensor::dims);
    if batch_size == 0 || size == 0 || size % batch_size != 0 {
        return Err(Problem::unsupported(
            "the batch must divide the queue, whose order is compared by batches",
        ));
    }
    let mut queue = KeyQueue::new(size, dim, &arithmetic.device);
    let (mut states, mut used) = (Vec::new(), Vec::new());
    for (step, (batch, expected)) in batches.into_iter().zip(arrays(&trace.expected, "contents")?).enumerate() {
        used.push(f64::from(u8::from(queue.len() == size)));
        queue = queue.with_keys(batch, &StoredKeys::default());
        let rows = values(queue.rows());
        let blocks: Vec<_> = rows.chunks(batch_size * dim).collect();
        let next = queue.position() / batch_size;
        let newest_first = (1..=blocks.len()).flat_map(|age| blocks[(next + blocks.len() - age) % blocks.len()].to_vec());
        states.push(State::of_step(step, "contents", newest_first.collect(), expected));
    }
    states.push(State {
        item: "used",
        step: None,
        found: used,
        expected: flags(&trace.expected, "used")?,
    });
    Ok(states)
}

/// A full queue.
fn full(trace: &Trace, name: &str, arithmetic: &Arithmetic) -> Result<KeyQueue, Problem> {
    let rows: Tensor<2> = tensor(array(&trace.given, name)?, name, arithmetic)?;
    let [size, dim] = rows.dims();
    Ok(KeyQueue::new(size, dim, &arithmetic.device).with_keys(rows, &StoredKeys::default()))
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
