//! Farthest-first traversal: a subset that covers all rows.

use super::UnitRows;
use super::unit_rows::dot;
use rayon::prelude::*;

/// The rows that were chosen, and how well they cover the candidates.
#[derive(Debug, Clone, PartialEq)]
pub struct Cover {
    /// The chosen rows, in the order in which they were chosen: the first n are the result for n.
    pub chosen: Vec<usize>,
    /// The smallest cosine of a candidate with the nearest row that was given or chosen: 1 if all are chosen.
    pub least_similarity: f32,
}

/// Chooses `count` of the candidates such that every other candidate is near one of them: each choice is the candidate that is farthest from
/// all rows chosen before. Rows in `given` count as chosen already and are not chosen again. Without any, the first choice is `start`.
///
/// For unit vectors the largest distance from a row to the nearest chosen one is at most twice the smallest possible: "Clustering to minimize the
/// maximum intercluster distance" (Gonzalez, Theoretical Computer Science 1985). Active learning calls it k-center greedy or a core-set.
/// The order of cosines and of Euclidean distances is the same, because vectors have unit length. It takes `count · num_candidates · dim` operations.
///
/// # Panics
/// Panics if `start` or another row is out of range.
pub fn farthest_first(rows: &UnitRows, candidates: &[usize], given: &[usize], count: usize, start: usize) -> Cover {
    let mut nearest = vec![f32::NEG_INFINITY; candidates.len()];
    let mut taken = vec![false; rows.len()];
    for &row in given {
        taken[row] = true;
        approach(rows, candidates, row, &mut nearest);
    }
    let mut chosen = Vec::new();
    while chosen.len() < count {
        let next = if given.is_empty() && chosen.is_empty() {
            Some(start)
        } else {
            farthest(candidates, &nearest, &taken)
        };
        let Some(next) = next else { break };
        taken[next] = true;
        approach(rows, candidates, next, &mut nearest);
        chosen.push(next);
    }
    let open = candidates.iter().zip(&nearest).filter(|(row, _)| !taken[**row]);
    let least_similarity = open.map(|(_, &similarity)| similarity).fold(1.0, f32::min);
    Cover {
        chosen,
        least_similarity,
    }
}

/// Raises the largest cosine of each candidate to that with `row`.
fn approach(rows: &UnitRows, candidates: &[usize], row: usize, nearest: &mut [f32]) {
    let target = rows.row(row);
    nearest
        .par_iter_mut()
        .with_min_len(1024)
        .zip(candidates)
        .for_each(|(nearest, &candidate)| *nearest = nearest.max(dot(rows.row(candidate), target)));
}

/// The open candidate that is farthest from all chosen rows; the first one if several are.
fn farthest(candidates: &[usize], nearest: &[f32], taken: &[bool]) -> Option<usize> {
    let open = candidates.iter().zip(nearest).filter(|(row, _)| !taken[**row]);
    open.min_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(&row, _)| row)
}

/// The candidate with the largest sum of cosines with all candidates, which is the medoid for this similarity; `None` without candidates.
pub fn medoid(rows: &UnitRows, candidates: &[usize]) -> Option<usize> {
    let mut sum = vec![0.0_f64; rows.dim()];
    for &row in candidates {
        sum.iter_mut()
            .zip(rows.row(row))
            .for_each(|(sum, &value)| *sum += f64::from(value));
    }
    let score = |row: usize| -> f64 {
        rows.row(row)
            .iter()
            .zip(&sum)
            .map(|(&value, sum)| f64::from(value) * sum)
            .sum()
    };
    let scores: Vec<(usize, f64)> = candidates.par_iter().map(|&row| (row, score(row))).collect();
    // `max_by` returns the last of equals, but ties go to the first.
    scores
        .into_iter()
        .rev()
        .max_by(|(_, a), (_, b)| a.total_cmp(b))
        .map(|(row, _)| row)
}

#[cfg(test)]
mod tests {
    use super::super::unit_rows::tests::random;
    use super::*;

    fn all(rows: &UnitRows) -> Vec<usize> {
        (0..rows.len()).collect()
    }

    /// Compares every candidate with every chosen row again in each step.
    fn slow(rows: &UnitRows, given: &[usize], count: usize, start: usize) -> Vec<usize> {
        let mut chosen = given.to_vec();
        if given.is_empty() {
            chosen.push(start);
        }
        while chosen.len() < given.len() + count {
            let near = |row: usize| chosen.iter().map(|&other| rows.cosine(row, other)).fold(f32::MIN, f32::max);
            let open = (0..rows.len()).filter(|row| !chosen.contains(row));
            chosen.push(open.min_by(|&a, &b| near(a).total_cmp(&near(b))).unwrap());
        }
        chosen.split_off(given.len())
    }

    #[test]
    fn every_choice_is_the_farthest_row() {
        let rows = random(300, 20, 1);
        assert_eq!(farthest_first(&rows, &all(&rows), &[], 40, 7).chosen, slow(&rows, &[], 40, 7));
        assert_eq!(
            farthest_first(&rows, &all(&rows), &[3, 8], 10, 0).chosen,
            slow(&rows, &[3, 8], 10, 0)
        );
    }

    #[test]
    fn a_longer_subset_begins_with_a_shorter_one_and_covers_no_less() {
        let rows = random(500, 10, 2);
        let [short, long] = [5, 50].map(|count| farthest_first(&rows, &all(&rows), &[], count, 0));
        assert_eq!(long.chosen[..5], short.chosen);
        assert!(long.least_similarity > short.least_similarity);
    }

    #[test]
    fn duplicates_come_last_and_no_row_is_chosen_twice() {
        let rows = UnitRows::new(vec![1.0, 0.0, 1.0, 0.0, 0.0, 1.0, -1.0, 0.0], 2).unwrap();
        let cover = farthest_first(&rows, &all(&rows), &[], 9, 0);
        assert_eq!(cover.chosen, [0, 3, 2, 1]);
        assert!((cover.least_similarity - 1.0).abs() < 1e-6);
        assert!(farthest_first(&rows, &all(&rows), &[0, 1, 2, 3], 2, 0).chosen.is_empty());
    }

    #[test]
    fn the_medoid_is_the_row_most_similar_to_all() {
        let rows = random(200, 6, 3);
        let sum = |row: usize| -> f32 { (0..200).map(|other| rows.cosine(row, other)).sum() };
        let best = (0..200).max_by(|&a, &b| sum(a).total_cmp(&sum(b)));
        assert_eq!(medoid(&rows, &all(&rows)), best);
        assert_eq!(medoid(&rows, &[]), None);
        let equal = UnitRows::new([1.0, 0.0].repeat(4), 2).unwrap();
        assert_eq!(medoid(&equal, &[2, 3]), Some(2));
    }
}
