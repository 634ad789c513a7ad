//! Exact search among feature vectors, beside a plain loop.
//!
//! Vectors are random: around random centres, and one in twenty beside an earlier one. What takes too long is measured on a part of the vectors and scaled up.

use crate::timing::Case;
use bcl_data::Seed;
use bcl_eval::search::{UnitRows, near_duplicates, near_duplicates_of_all_pairs, nearest};
use rand::{Rng, RngExt};
use std::hint::black_box;

/// Queries and neighbours of each.
const QUERIES: usize = 10;
const TOP: usize = 12;
/// The most vectors of which all pairs are compared; more are scaled up.
const ALL_PAIRS: usize = 20_000;
const LOOP: usize = 3000;

/// Vectors per cluster.
const CLUSTER: usize = 100;
/// Length of the difference from a centre, of length one.
const SPREAD: f32 = 0.8;
/// Length of the difference of near-duplicates.
const NEAR: f32 = 0.1;
/// One of so many vectors is beside an earlier one.
const COPIES: usize = 20;
/// Number of vectors whose near-duplicates are checked.
const SAMPLE: usize = 1000;

/// Vectors that are searched, and some of them.
pub struct Vectors {
    rows: UnitRows,
    /// Indices of the sample.
    sampled: Vec<usize>,
    sample: UnitRows,
}

impl Vectors {
    /// Draws the same vectors every time.
    pub fn random(num_rows: usize, dim: usize) -> Self {
        let mut rng = Seed(1).rng();
        let num_centres = num_rows.div_ceil(CLUSTER);
        let mut centres = vec![0.0; num_centres * dim];
        centres.chunks_mut(dim).for_each(|centre| move_by(centre, 1.0, &mut rng));
        let mut values = vec![0.0; num_rows * dim];
        for row in 0..num_rows {
            let (earlier, rest) = values.split_at_mut(row * dim);
            let (of, near, length) = if row % COPIES == COPIES - 1 {
                (&*earlier, rng.random_range(0..row), NEAR)
            } else {
                (&*centres, rng.random_range(0..num_centres), SPREAD)
            };
            let own = &mut rest[..dim];
            own.copy_from_slice(&of[near * dim..(near + 1) * dim]);
            move_by(own, length, &mut rng);
        }
        let rows = unit(values, dim);
        let sampled: Vec<usize> = (0..num_rows.min(SAMPLE)).map(|_| rng.random_range(0..num_rows)).collect();
        let sample = rows_of(&rows, sampled.iter().copied());
        Self { rows, sampled, sample }
    }

    /// At most `most` of the vectors, at equal distances.
    fn part(&self, most: usize) -> UnitRows {
        let count = most.min(self.rows.len());
        rows_of(&self.rows, (0..count).map(|index| index * self.rows.len() / count))
    }
}

fn rows_of(rows: &UnitRows, chosen: impl Iterator<Item = usize>) -> UnitRows {
    let values = chosen.flat_map(|row| rows.row(row).iter().copied()).collect();
    unit(values, rows.dim())
}

fn unit(values: Vec<f32>, dim: usize) -> UnitRows {
    UnitRows::new(values, dim).expect("random vectors are finite")
}

/// Adds a random vector of about this length.
fn move_by(vector: &mut [f32], length: f32, rng: &mut impl Rng) {
    // The sum of a uniform number's squares over n values is n / 12 on average.
    let scale = length * (12.0 / vector.len() as f32).sqrt();
    for value in vector {
        *value += scale * (rng.random::<f32>() - 0.5);
    }
}

impl Vectors {
    /// Neighbours of a few queries: our function, and a loop on one thread.
    pub fn neighbours(&self) -> [Case<'_>; 2] {
        let (queries, rows) = (self.part(QUERIES), &self.rows);
        let same = queries.clone();
        [
            Case::new(self.name("neighbours"), move || {
                black_box(nearest(rows, &queries, TOP));
            }),
            Case::new(self.name("neighbours, loop"), move || {
                black_box(nearest_in_loop(rows, &same, TOP));
            }),
        ]
    }

    /// Pairs with at least this cosine: our function, the same with all pairs, and two nested loops on one thread.
    pub fn duplicates(&self, threshold: f32) -> [Case<'_>; 3] {
        let [pairs, looped] = [ALL_PAIRS, LOOP].map(|most| self.part(most));
        let scale = |part: &UnitRows| (self.rows.len() as f64 / part.len() as f64).powi(2);
        let scales = [&pairs, &looped].map(scale);
        let name = |what: &str, part: &UnitRows| match part.len() {
            all if all == self.rows.len() => self.name(what),
            some => self.name(&format!("{what}, scaled up from {some}")),
        };
        let names = [name("duplicates, all pairs", &pairs), name("duplicates, loop", &looped)];
        let [all_pairs, in_loop] = names;
        [
            Case::new(self.name("duplicates"), move || {
                black_box(near_duplicates(&self.rows, threshold));
            }),
            Case::new(all_pairs, move || {
                black_box(near_duplicates_of_all_pairs(&pairs, threshold));
            })
            .scaled(scales[0]),
            Case::new(in_loop, move || {
                black_box(duplicates_in_loop(&looped, threshold));
            })
            .scaled(scales[1]),
        ]
    }

    fn name(&self, what: &str) -> String {
        format!("{} x {} {what}", self.rows.len(), self.rows.dim())
    }

    /// The share of sampled vectors with a near-duplicate whose nearest one is found; 1 if none has any.
    pub fn recall(&self, threshold: f32) -> f64 {
        let found = near_duplicates(&self.rows, threshold);
        let mut nearest_found = vec![None; self.rows.len()];
        for member in found.iter().flatten() {
            nearest_found[member.row] = Some(member.nearest);
        }
        let others = nearest(&self.rows, &self.sample, 2);
        let expected = self.sampled.iter().zip(&others).filter_map(|(&row, near)| {
            let near = near.iter().find(|near| near.row != row)?;
            (near.similarity >= threshold).then_some((row, near.row))
        });
        let hits: Vec<bool> = expected.map(|(row, near)| nearest_found[row] == Some(near)).collect();
        match hits.len() {
            0 => 1.0,
            all => hits.iter().filter(|hit| **hit).count() as f64 / all as f64,
        }
    }
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The `top` most similar rows of each query.
fn nearest_in_loop(rows: &UnitRows, queries: &UnitRows, top: usize) -> Vec<Vec<usize>> {
    let of_query = |query: usize| {
        let mut found: Vec<(f32, usize)> = (0..rows.len())
            .map(|row| (cosine(queries.row(query), rows.row(row)), row))
            .collect();
        found.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        found.into_iter().take(top).map(|(_, row)| row).collect()
    };
    (0..queries.len()).map(of_query).collect()
}

/// All pairs whose cosine is at least the threshold.
fn duplicates_in_loop(rows: &UnitRows, threshold: f32) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for a in 0..rows.len() {
        for b in a + 1..rows.len() {
            if cosine(rows.row(a), rows.row(b)) >= threshold {
                pairs.push((a, b));
            }
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timing::{Plan, measure};
    use bcl_backend::{Backend, BackendChoice};

    #[test]
    fn every_way_is_measured_and_nothing_is_missed() {
        let backend = Backend::open(BackendChoice::Flex, None).expect("it is in every build");
        let plan = Plan::of_turns(1, 1);
        for rows in [300, 9000] {
            let vectors = Vectors::random(rows, 16);
            assert_eq!(vectors.recall(0.98), 1.0);
            let measured = measure(vectors.duplicates(0.98).into(), &plan, &backend);
            assert_eq!(measured.len(), 3);
            assert_eq!(measured[2].name.ends_with("loop"), rows == 300, "{measured:?}");
            assert_eq!(measure(vectors.neighbours().into(), &plan, &backend).len(), 2);
        }
    }
}
