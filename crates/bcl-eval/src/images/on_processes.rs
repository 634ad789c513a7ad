//! Encoding with the images dealt to the processes of a [`Collective`].
//!
//! Encoding takes nearly all the time of an evaluation and no image needs another, so processes share it out. Process 0 gathers the features and goes on
//! alone. Processes are dealt whole blocks, those that a single process would encode, so the features have the bits of a single process.

use crate::EvaluationError;
use bcl_collective::Collective;
use bcl_report::result::Metrics;
use burn::tensor::{Device, Tensor, TensorData};
use std::ops::Range;

/// Computes `count` rows in blocks, each process its own, and gathers them on process 0 in their order: `[count, dim]`; `None` on all other processes.
///
/// `rows` computes a range of rows that begins at a multiple of `block`, block by block.
///
/// # Errors
/// Returns the error of `rows` on the process that has it, and one that names this process on all others.
pub(super) fn gathered(
    count: usize,
    block: usize,
    processes: &dyn Collective,
    device: &Device,
    rows: impl Fn(Range<usize>) -> Result<Tensor<2>, EvaluationError>,
) -> Result<Option<Tensor<2>>, EvaluationError> {
    if processes.size() == 1 {
        return rows(0..count).map(Some);
    }
    let own = own_rows(count, block, processes);
    let computed = if own.is_empty() {
        Ok(Vec::new())
    } else {
        rows(own).map(|rows| rows.into_data().iter::<f32>().collect::<Vec<f32>>())
    };
    let all = processes.gather_values_on_first(&agreed(computed, processes)?);
    Ok(processes.is_first().then(|| {
        let dim = all.len().checked_div(count).unwrap_or(0);
        Tensor::from_data(TensorData::new(all, [count, dim]), device)
    }))
}

/// The rows of this process: whole blocks.
fn own_rows(count: usize, block: usize, processes: &dyn Collective) -> Range<usize> {
    let blocks = processes.share(count.div_ceil(block));
    (blocks.start * block).min(count)..(blocks.end * block).min(count)
}

/// Computes metrics on process 0, which alone has `features`, and tells them to all.
///
/// # Errors
/// Returns the error of `metrics` on process 0, and one that names this process on all others.
pub(super) fn on_first<T>(
    processes: &dyn Collective,
    features: Option<T>,
    metrics: impl FnOnce(T) -> Result<Metrics, EvaluationError>,
) -> Result<Metrics, EvaluationError> {
    let own = features.map(metrics);
    let of_first = processes.on_first(|| match &own {
        Some(Ok(metrics)) => Ok(metrics.clone()),
        Some(Err(error)) => Err(error.to_string()),
        None => unreachable!("process 0 has the features"),
    });
    own.unwrap_or_else(|| of_first.map_err(|problem| EvaluationError::OfProcess { process: 0, problem }))
}

/// Ends the work of all processes if it failed on one.
fn agreed<T>(own: Result<T, EvaluationError>, processes: &dyn Collective) -> Result<T, EvaluationError> {
    const FINE: u8 = 0;
    const INTERRUPTED: u8 = 1;
    const FAILED: u8 = 2;
    let mut status = match &own {
        Ok(_) => vec![FINE],
        Err(EvaluationError::Interrupted) => vec![INTERRUPTED],
        Err(_) => vec![FAILED],
    };
    if let Err(error) = &own {
        status.extend(error.to_string().bytes());
    }
    let all = processes.gather_each(status);
    let first = all.iter().enumerate().find(|(_, status)| status[0] != FINE);
    match (own, first) {
        (Err(error), _) => Err(error),
        (Ok(_), Some((_, status))) if status[0] == INTERRUPTED => Err(EvaluationError::Interrupted),
        (Ok(_), Some((process, status))) => Err(EvaluationError::OfProcess {
            process,
            problem: String::from_utf8_lossy(&status[1..]).into_owned(),
        }),
        (Ok(own), None) => Ok(own),
    }
}

#[cfg(test)]
mod tests;
