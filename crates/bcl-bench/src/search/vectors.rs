//! Random vectors with clusters and near-duplicates.

use bcl_data::Seed;
use bcl_eval::search::UnitRows;
use rand::{Rng, RngExt};

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
pub(super) struct Vectors {
    pub(super) rows: UnitRows,
    /// Indices of the sample.
    pub(super) sampled: Vec<usize>,
    pub(super) sample: UnitRows,
}

impl Vectors {
    pub(super) fn random(num_rows: usize, dim: usize) -> Self {
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
    pub(super) fn part(&self, most: usize) -> UnitRows {
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
