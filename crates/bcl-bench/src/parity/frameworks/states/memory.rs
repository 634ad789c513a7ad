//! Memories: queues of keys and of projections, support sets, banks.

use super::{
    State,
    reader::{Reader, flags, number, pairs},
};
use crate::parity::{
    compute::values,
    frameworks::problem::{Problem, ill_formed, unsupported},
    precision::Precision,
};
use bcl_core::{InfoNceLossConfig, Reduction, unit_rows};
use bcl_methods::{KeyQueue, MemoryBank, StoredKeys, nearest};
use burn::tensor::{Int, Tensor};

pub(super) fn queue(trace: &Reader<'_>) -> Result<Vec<State>, Problem> {
    only_in_f32(trace)?;
    wraps(trace)?;
    // The trace starts from a full queue whose next position is 0.
    let mut queue = full(trace, "initial", |rows| rows)?;
    let (mut states, mut pointers) = (Vec::new(), Vec::new());
    for (batch, (step, expected)) in trace.arrays("batches")?.into_iter().zip(trace.expected_by_step("contents")?) {
        let batch: Tensor<2> = trace.to_tensor(batch, "batches")?;
        if batch.dims()[1] != queue.rows().dims()[1] {
            return ill_formed("`batches` must have the columns of `initial`");
        }
        queue = queue.with_keys(batch, &StoredKeys::default());
        states.push(State::of_step(step, "contents", values(queue.rows()), &expected.values));
        pointers.push(queue.position() as f64);
    }
    states.push(trace.state("pointers", pointers)?);
    Ok(states)
}

/// Both directions meet the old queue, then all keys enter. What lightly does in between is another method, and not here.
pub(super) fn symmetric_step(trace: &Reader<'_>) -> Result<Vec<State>, Problem> {
    only_in_f32(trace)?;
    let queue = full(trace, "queue", |rows| rows)?;
    let stored = queue.rows();
    let unit = |name: &str| Ok::<_, Problem>(unit_rows(trace.table_like(name, &stored)?));
    let (queries, keys) = ([unit("q0")?, unit("q1")?], [unit("k0")?, unit("k1")?]);
    if queries.iter().chain(&keys).any(|view| view.dims() != queries[0].dims()) {
        return ill_formed("`q0`, `q1`, `k0` and `k1` must have one shape");
    }
    let config = InfoNceLossConfig::new().with_temperature(trace.parameters().number("temperature")?);
    config.check()?;
    let [first, second] = keys.clone();
    let scores = queue.scores(Tensor::cat(queries.to_vec(), 0), Tensor::cat(vec![second, first], 0));
    let loss = config.init().forward(scores, Reduction::Mean);
    let queue = queue.with_keys(Tensor::cat(keys.to_vec(), 0), &StoredKeys::default());
    let expected = vec![number(&trace.trace.expected, "loss_after")?];
    Ok(vec![
        State::new("loss_after", values(loss), expected),
        trace.state("queue_after", values(queue.rows()))?,
    ])
}

/// Rows move towards the latest embeddings of their images.
pub(super) fn bank(trace: &Reader<'_>) -> Result<Vec<State>, Problem> {
    let momentum = trace.parameters().number("momentum")?;
    let rows: Tensor<2> = trace.tensor("initial")?;
    let [num_images, dim] = rows.dims();
    let mut bank = MemoryBank::of_rows(rows);
    let features = trace.arrays("features")?;
    let steps = trace.arrays("indices")?.into_iter().zip(features);
    let mut states = Vec::new();
    for ((images, features), (step, expected)) in steps.zip(trace.expected_by_step("contents")?) {
        let features: Tensor<2> = trace.to_tensor(features, "features")?;
        let is_image = |image: &f64| image.fract() == 0.0 && (0.0..num_images as f64).contains(image);
        if !images.values.iter().all(is_image) || features.dims() != [images.values.len(), dim] {
            return ill_formed(format!(
                "`indices` must be rows of the bank of {num_images}, with a row of {dim} `features` each"
            ));
        }
        let images: Vec<i64> = images.values.iter().map(|&image| image as i64).collect();
        let images = Tensor::<1, Int>::from_data(images.as_slice(), &trace.arithmetic.device);
        bank = bank.updated(images, features, momentum);
        states.push(State::of_step(step, "contents", values(bank.rows()), &expected.values));
    }
    Ok(states)
}

/// Both views find their neighbours before the second view enters. The reference drops what does not fit, so contents are not compared.
pub(super) fn support_set(trace: &Reader<'_>) -> Result<Vec<State>, Problem> {
    only_in_f32(trace)?;
    let mut support = full(trace, "initial", unit_rows)?;
    let [_, dim] = support.rows().dims();
    let mut states = Vec::new();
    let steps = pairs(&trace.trace.given, "z")?.into_iter();
    let steps = steps.zip(pairs(&trace.trace.expected, "nearest")?);
    for (step, (projections, expected)) in steps.enumerate() {
        let projections = trace.to_tables(&projections, "z")?;
        if projections[0].dims()[1] != dim {
            return ill_formed("`z` must have the columns of `initial`");
        }
        let stored = values(support.rows());
        for (projections, expected) in projections.iter().zip(expected) {
            // The library returns rows, so the rows that the reference names are what they must be.
            let row = |index: &f64| stored.chunks(dim).nth(*index as usize).map(<[f64]>::to_vec);
            let rows: Option<Vec<_>> = expected.values.iter().map(row).collect();
            let expected = rows
                .ok_or_else(|| "`nearest` names a row that is not there".to_owned())?
                .concat();
            let found = values(nearest(&support, unit_rows(projections.clone())));
            states.push(State::of_step(step, "nearest", found, &expected));
        }
        support = support.with_keys(unit_rows(projections[1].clone()), &StoredKeys::default());
    }
    Ok(states)
}

/// The queue of SwAV is a ring buffer here; the reference lists the newest batch first. It is used once it is full.
pub(super) fn queue_of_codes(trace: &Reader<'_>) -> Result<Vec<State>, Problem> {
    only_in_f32(trace)?;
    let batches = trace.to_tables(&trace.arrays("embeddings")?, "embeddings")?;
    let size = trace.parameters().count("length")?;
    let [batch_size, dim] = batches.first().map_or([0, 0], Tensor::dims);
    if batch_size == 0 || size == 0 || size % batch_size != 0 {
        return unsupported("the batch must divide the queue, whose order is compared by batches");
    }
    let mut queue = KeyQueue::new(size, dim, &trace.arithmetic.device);
    let (mut states, mut used) = (Vec::new(), Vec::new());
    for (batch, (step, expected)) in batches.into_iter().zip(trace.expected_by_step("contents")?) {
        used.push(f64::from(u8::from(queue.len() == size)));
        queue = queue.with_keys(batch, &StoredKeys::default());
        let rows = values(queue.rows());
        let blocks: Vec<_> = rows.chunks(batch_size * dim).collect();
        let next = queue.position() / batch_size;
        let newest_first = (1..=blocks.len()).flat_map(|age| blocks[(next + blocks.len() - age) % blocks.len()].to_vec());
        states.push(State::of_step(step, "contents", newest_first.collect(), &expected.values));
    }
    states.push(State::new("used", used, flags(&trace.trace.expected, "used")?));
    Ok(states)
}

/// A full queue.
fn full(trace: &Reader<'_>, name: &str, stored: fn(Tensor<2>) -> Tensor<2>) -> Result<KeyQueue, Problem> {
    let rows: Tensor<2> = trace.tensor(name)?;
    let [size, dim] = rows.dims();
    Ok(KeyQueue::new(size, dim, &trace.arithmetic.device).with_keys(stored(rows), &StoredKeys::default()))
}

/// Memories are stored in f32 for every precision of the networks.
fn only_in_f32(trace: &Reader<'_>) -> Result<(), Problem> {
    match trace.arithmetic.precision {
        Precision::F32 => Ok(()),
        Precision::F64 => unsupported("a queue is stored in f32"),
    }
}

fn wraps(trace: &Reader<'_>) -> Result<(), Problem> {
    match trace.parameters().text("rule")? {
        "wrap" => Ok(()),
        rule => unsupported(format!("a queue wraps around here, the rule `{rule}` is another method")),
    }
}
