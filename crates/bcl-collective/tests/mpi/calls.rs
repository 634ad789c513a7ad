//! One call of every operation, with data that differ by process.

use bcl_collective::{Collective, to_bytes};
use std::{fs, path::Path};

/// The results of every operation, as bytes.
pub(super) fn all_calls(collective: &dyn Collective) -> Vec<u8> {
    let (process, size) = (collective.index(), collective.size());
    let mut results = Vec::new();
    let mut note = |result: &[u8]| {
        results.extend((result.len() as u64).to_le_bytes());
        results.extend(result);
    };

    // Lengths differ by process; process 0's is sometimes 0.
    for length in [0, 1, 100, 3000] {
        let mine = random(process, length * process + length / 3);
        note(&collective.all_gather(mine));
        note(&collective.gather_each(random(process, length + process)).concat());
        let lengths: Vec<usize> = (0..size).map(|other| (length * (process + 2 * other)) / 3).collect();
        note(&collective.all_to_all(random(process + 7, lengths.iter().sum()), &lengths));
        note(&collective.broadcast(random(process, length + 5 * process)));
        collective.barrier();
    }

    // Both ways of a sum: short ones are sent whole.
    for count in [0, 1, 2, 255, 5000] {
        let mut single: Vec<f32> = floats(process, count).collect();
        collective.all_reduce(&mut single);
        note(&to_bytes(&single));
        let mut double: Vec<f64> = floats(process, count).map(|x| f64::from(x) / 3.0).collect();
        collective.all_reduce(&mut double);
        note(&to_bytes(&double));
        let lengths: Vec<usize> = (0..size).map(|other| count + 3 * other).collect();
        let values: Vec<f32> = floats(process + 3, lengths.iter().sum()).collect();
        note(&to_bytes(&collective.reduce_scatter(&values, &lengths)));
    }

    for raised in 0..=size {
        note(&[u8::from(collective.any(process == raised))]);
    }
    let text = collective.on_first(|| Ok::<_, String>(vec![format!("process {process} was here")]));
    note(text.unwrap()[0].as_bytes());
    let error = collective.on_first::<u32>(|| Err(format!("process {process} has failed")));
    note(error.unwrap_err().as_bytes());
    let mut values: Vec<f32> = floats(process, 400).collect();
    collective.broadcast_values(&mut values);
    note(&to_bytes(&values));
    results
}

/// Saves the results of a process.
pub(super) fn save(folder: &Path, process: usize, results: &[u8]) {
    let part = folder.join(format!("part-{process}"));
    fs::write(&part, results).unwrap();
    fs::rename(part, folder.join(format!("process-{process}"))).unwrap();
}

/// Whether [`save`] has written the results of a process.
pub(super) fn is_saved(folder: &Path, process: usize) -> bool {
    folder.join(format!("process-{process}")).is_file()
}

/// Reads the results that [`save`] wrote.
pub(super) fn results_of(folder: &Path, process: usize) -> Vec<u8> {
    fs::read(folder.join(format!("process-{process}"))).unwrap()
}

fn random(seed: usize, length: usize) -> Vec<u8> {
    (0..length).map(|i| (i * 31 + seed * 101 + i / 256) as u8).collect()
}

/// Floats of very different sizes, so that a sum depends on its order.
fn floats(seed: usize, count: usize) -> impl Iterator<Item = f32> {
    (0..count).map(move |i| ((i * 7 + seed * 13) as f32 + 0.3).sin() * 10_f32.powi((i + seed * 5) as i32 % 9 - 4))
}
