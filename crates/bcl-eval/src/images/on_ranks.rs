//! Encoding with the images dealt to the ranks of a [`Collective`].
//!
//! Encoding takes nearly all the time of an evaluation and no image needs another, so ranks share it out. Rank 0 gathers the features and goes on
//! alone. Ranks are dealt whole blocks, those that a single rank would encode, so the features have the bits of a single rank.

use crate::EvaluationError;
use bcl_collective::Collective;
use bcl_report::result::Metrics;
use burn::tensor::{Device, Tensor, TensorData};
use std::ops::Range;

/// Computes `count` rows in blocks, each rank its own, and gathers them on rank 0 in their order: `[count, dim]`; `None` on all other ranks.
///
/// `rows` computes a range of rows that begins at a multiple of `block`, block by block.
///
/// # Errors
/// Returns the error of `rows` on the rank that has it, and one that names this rank on all others.
pub(super) fn gathered(
    count: usize,
    block: usize,
    ranks: &dyn Collective,
    device: &Device,
    rows: impl Fn(Range<usize>) -> Result<Tensor<2>, EvaluationError>,
) -> Result<Option<Tensor<2>>, EvaluationError> {
    if ranks.size() == 1 {
        return rows(0..count).map(Some);
    }
    let own = own_rows(count, block, ranks);
    let computed = if own.is_empty() {
        Ok(Vec::new())
    } else {
        rows(own).map(|rows| rows.into_data().iter::<f32>().collect::<Vec<f32>>())
    };
    let all = ranks.gather_values_on_first(&agreed(computed, ranks)?);
    Ok(ranks.is_first().then(|| {
        let dim = all.len().checked_div(count).unwrap_or(0);
        Tensor::from_data(TensorData::new(all, [count, dim]), device)
    }))
}

/// The rows of this rank: whole blocks.
fn own_rows(count: usize, block: usize, ranks: &dyn Collective) -> Range<usize> {
    let blocks = ranks.share(count.div_ceil(block));
    (blocks.start * block).min(count)..(blocks.end * block).min(count)
}

/// Computes metrics on rank 0, which alone has `features`, and tells them to all.
///
/// # Errors
/// Returns the error of `metrics` on rank 0, and one that names this rank on all others.
pub(super) fn on_first<T>(
    ranks: &dyn Collective,
    features: Option<T>,
    metrics: impl FnOnce(T) -> Result<Metrics, EvaluationError>,
) -> Result<Metrics, EvaluationError> {
    let own = features.map(metrics);
    let of_first = ranks.on_first(|| match &own {
        Some(Ok(metrics)) => Ok(metrics.clone()),
        Some(Err(error)) => Err(error.to_string()),
        None => unreachable!("rank 0 has the features"),
    });
    own.unwrap_or_else(|| of_first.map_err(|problem| EvaluationError::OfRank { rank: 0, problem }))
}

/// Ends the work of all ranks if it failed on one.
fn agreed<T>(own: Result<T, EvaluationError>, ranks: &dyn Collective) -> Result<T, EvaluationError> {
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
    let all = ranks.gather_each(status);
    let first = all.iter().enumerate().find(|(_, status)| status[0] != FINE);
    match (own, first) {
        (Err(error), _) => Err(error),
        (Ok(_), Some((_, status))) if status[0] == INTERRUPTED => Err(EvaluationError::Interrupted),
        (Ok(_), Some((rank, status))) => Err(EvaluationError::OfRank {
            rank,
            problem: String::from_utf8_lossy(&status[1..]).into_owned(),
        }),
        (Ok(own), None) => Ok(own),
    }
}

#[cfg(test)]
mod tests;
