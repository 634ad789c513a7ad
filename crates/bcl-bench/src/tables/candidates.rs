//! Candidates that compete during tuning.

use super::{Row, TablePlan};
use bcl_data::Seed;

/// The first seed of all tuning, both of draws and of runs. No test uses one this large.
pub(super) const TUNING_SEED: u64 = 1_000_003;

/// Settings of a row that are not yet eliminated.
#[derive(Clone)]
pub(super) struct Candidate {
    pub(super) row: usize,
    pub(super) number: usize,
    pub(super) values: Vec<(String, toml::Value)>,
}

/// All settings to try. A row in which nothing is searched has none.
pub(super) fn draws(plan: &TablePlan) -> Vec<Candidate> {
    let seed = Seed(TUNING_SEED).named("draws");
    let of_row = |(row, of): (usize, &Row)| {
        let space = of.space.clone();
        let trials = if space.0.is_empty() { 0 } else { plan.budget };
        (0..trials).map(move |number| Candidate {
            row,
            number,
            values: space.draw(seed, number),
        })
    };
    plan.rows.iter().enumerate().flat_map(of_row).collect()
}

/// The best candidates of each row, by metric, then by number.
pub(super) fn survivors(mut ranked: Vec<(Candidate, Option<f64>)>, rows: usize, keep: usize) -> Vec<Candidate> {
    // Failed trials have no metric and come last. The sort is stable, so ties stay in the order of their numbers.
    ranked.sort_by(|(_, a), (_, b)| {
        let value = |figure: &Option<f64>| figure.unwrap_or(f64::NEG_INFINITY);
        value(b).total_cmp(&value(a))
    });
    (0..rows)
        .flat_map(|row| {
            let of_row = ranked.iter().filter(move |(candidate, _)| candidate.row == row);
            of_row.take(keep).map(|(candidate, _)| candidate.clone()).collect::<Vec<_>>()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranked(figures: &[(usize, Option<f64>)]) -> Vec<(Candidate, Option<f64>)> {
        figures
            .iter()
            .enumerate()
            .map(|(number, (row, figure))| {
                let candidate = Candidate {
                    row: *row,
                    number,
                    values: Vec::new(),
                };
                (candidate, *figure)
            })
            .collect()
    }

    #[test]
    fn each_row_keeps_its_best_and_equals_go_by_number() {
        let candidates = ranked(&[
            (0, Some(0.1)),
            (0, Some(0.3)),
            (0, Some(0.3)),
            (1, None),
            (1, Some(0.01)),
            (1, Some(0.0)),
        ]);
        let kept: Vec<(usize, usize)> = survivors(candidates, 2, 2).iter().map(|of| (of.row, of.number)).collect();
        assert_eq!(kept, [(0, 1), (0, 2), (1, 4), (1, 5)]);
    }
}
