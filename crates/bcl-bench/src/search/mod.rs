//! Times of exact search among feature vectors, beside a plain loop.
//!
//! Vectors are random: around random centres, and one in twenty beside an earlier one. The alternatives take turns in every round, so a machine that slows down
//! for a while slows all of them. What takes too long is measured on a part of the vectors and scaled up.

mod alternatives;
mod naive;
mod table;
mod vectors;

pub use alternatives::Method;
pub use table::{SearchBenchmark, SearchMeasurement};

use crate::{Spread, environment::Environment};
use alternatives::Alternative;
use bcl_eval::search::{near_duplicates, nearest};
use vectors::Vectors;

/// What is measured.
#[derive(Debug, Clone)]
pub struct SearchPlan {
    /// Numbers of vectors.
    pub rows: Vec<usize>,
    /// Numbers of values per vector.
    pub dims: Vec<usize>,
    /// Cosine from which two vectors are near-duplicates.
    pub threshold: f32,
    /// Number of rounds.
    pub rounds: usize,
    /// Number of threads.
    pub threads: usize,
}

/// Measures all sizes. `announce` is called before each of them.
///
/// # Panics
/// Panics if a number of the plan is 0.
pub fn run(plan: &SearchPlan, announce: impl Fn(&str)) -> SearchBenchmark {
    let mut measurements = Vec::new();
    for &dim in &plan.dims {
        for &rows in &plan.rows {
            announce(&format!("{rows} vectors of {dim} values"));
            measurements.extend(measure(&Vectors::random(rows, dim), plan));
        }
    }
    SearchBenchmark {
        environment: Environment::read(plan.threads),
        threshold: plan.threshold,
        rounds: plan.rounds,
        measurements,
    }
}

fn measure(vectors: &Vectors, plan: &SearchPlan) -> Vec<SearchMeasurement> {
    let alternatives = Alternative::all(vectors, plan.threshold);
    let mut seconds = vec![Vec::new(); alternatives.len()];
    let mut extra_mib: Vec<Option<f64>> = vec![None; alternatives.len()];
    for _ in 0..plan.rounds {
        for (index, alternative) in alternatives.iter().enumerate() {
            let turn = alternative.turn();
            seconds[index].push(turn.seconds);
            let most = [extra_mib[index], turn.extra_mib].into_iter().flatten().reduce(f64::max);
            extra_mib[index] = most;
        }
    }
    let times_of = |method: Method| {
        let index = alternatives.iter().position(|other| other.method == method);
        &seconds[index.expect("all methods are measured")]
    };
    let measured = alternatives
        .iter()
        .zip(&seconds)
        .zip(extra_mib)
        .map(|((alternative, times), extra_mib)| {
            let ours = times_of(alternative.method.ours());
            let ratios: Vec<f64> = times.iter().zip(ours).map(|(time, ours)| time / ours).collect();
            SearchMeasurement {
                rows: vectors.rows.len(),
                dim: vectors.rows.dim(),
                method: alternative.method,
                seconds: Spread::of(times),
                ratio: Spread::of(&ratios),
                extra_mib: (alternative.scale == 1.0).then_some(extra_mib).flatten(),
                measured: alternative.measured,
                recall: (alternative.method == Method::Duplicates).then(|| recall(vectors, plan.threshold)),
            }
        });
    measured.collect()
}

/// The share of sampled vectors with a near-duplicate whose nearest one is found; 1 if none has any.
fn recall(vectors: &Vectors, threshold: f32) -> f64 {
    let found = near_duplicates(&vectors.rows, threshold);
    let mut nearest_found = vec![None; vectors.rows.len()];
    for member in found.iter().flatten() {
        nearest_found[member.row] = Some(member.nearest);
    }
    let others = nearest(&vectors.rows, &vectors.sample, 2);
    let expected = vectors.sampled.iter().zip(&others).filter_map(|(&row, near)| {
        let near = near.iter().find(|near| near.row != row)?;
        (near.similarity >= threshold).then_some((row, near.row))
    });
    let hits: Vec<bool> = expected.map(|(row, near)| nearest_found[row] == Some(near)).collect();
    match hits.len() {
        0 => 1.0,
        all => hits.iter().filter(|hit| **hit).count() as f64 / all as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_is_measured_at_every_size_and_nothing_is_missed() {
        let plan = SearchPlan {
            rows: vec![300, 9000],
            dims: vec![16],
            threshold: 0.98,
            rounds: 2,
            threads: 1,
        };
        let benchmark = run(&plan, |_| ());
        assert_eq!(benchmark.measurements.len(), 2 * Method::ALL.len());
        for measurement in &benchmark.measurements {
            assert!(measurement.recall.is_none_or(|recall| recall == 1.0), "{measurement:?}");
            let is_ours = measurement.method == measurement.method.ours();
            assert_eq!(is_ours, measurement.ratio.most == 1.0 && measurement.ratio.least == 1.0);
        }
        let text = benchmark.to_string();
        assert!(text.contains("duplicates, loop") && text.contains("9000"), "{text}");
    }
}
