//! Summarises a table in sentences.

use super::{FEWEST_SEEDS, Paired, Resolution, RowResult};
use bcl_report::result::Metrics;
use std::collections::BTreeMap;

/// What wins and what is not resolved, by a metric for which more is better.
pub(super) fn verdict(rows: &[RowResult], pairs: &[Paired], baselines: &BTreeMap<String, Metrics>, metric: &str) -> Vec<String> {
    let mut sentences = Vec::new();
    let figure = |row: &RowResult| row.figures.get(metric).map(|interval| interval.mean);
    let ranked: Vec<(&RowResult, f64)> = {
        let mut ranked: Vec<_> = rows.iter().filter_map(|row| Some((row, figure(row)?))).collect();
        ranked.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        ranked
    };
    let Some(((best, top), others)) = ranked.split_first() else {
        return sentences;
    };
    if !others.is_empty() {
        let to_best = |row: &RowResult| {
            pairs.iter().find(|pair| {
                (pair.row == row.name && pair.other == best.name) || (pair.row == best.name && pair.other == row.name)
            })
        };
        let (behind, level): (Vec<&(&RowResult, f64)>, Vec<_>) = others
            .iter()
            .partition(|(row, _)| to_best(row).is_some_and(Paired::is_significant));
        let unresolved: Vec<String> = level.iter().map(|(row, _)| row.name.clone()).collect();
        let above = level
            .iter()
            .filter_map(|(row, _)| match to_best(row)?.resolution() {
                Resolution::NotResolved(above) => above,
                _ => None,
            })
            .max_by(f64::total_cmp);
        sentences.push(if pairs.iter().all(|pair| pair.p.is_none()) {
            format!("{} has the highest mean; a single seed cannot tell rows apart.", best.name)
        } else if level.is_empty() {
            format!("{} is significantly better than every other row.", best.name)
        } else if pairs.iter().any(|pair| pair.resolution() == Resolution::TooFewSeeds) {
            format!(
                "{} has the highest mean; fewer than {FEWEST_SEEDS} seeds cannot tell it from {}.",
                best.name,
                listed(&unresolved)
            )
        } else {
            let would_be = above.map(|above| match level.len() {
                1 => format!(" (a difference above {above:.4} would be)"),
                _ => format!(" (differences above {above:.4} would be)"),
            });
            format!(
                "{} has the highest mean; not resolved from it: {}{}.",
                best.name,
                listed(&unresolved),
                would_be.unwrap_or_default()
            )
        });
        if !behind.is_empty() {
            let verb = if behind.len() == 1 { "is" } else { "are" };
            let names: Vec<String> = behind.iter().map(|(row, _)| row.name.clone()).collect();
            sentences.push(format!("{} {verb} significantly worse than {}.", listed(&names), best.name));
        }
    }
    for (name, figures) in baselines {
        if let Some(baseline) = figures.get(metric) {
            let difference = baseline - top;
            let word = if difference > 0.0 { "above" } else { "below" };
            sentences.push(format!(
                "{name} ({baseline:.4}) is {:.4} {word} the best row.",
                difference.abs()
            ));
        }
    }
    sentences
}

fn listed(names: &[String]) -> String {
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, first)) => format!("{} and {last}", first.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::statistics::{Compared, all_pairs};
    use bcl_report::Interval;

    fn sentences(rows: &[(&str, &[f64])]) -> Vec<String> {
        let compared: Vec<Compared<'_>> = rows
            .iter()
            .map(|(name, values)| Compared {
                name,
                seeds: values.iter().enumerate().map(|(seed, value)| (seed as u64, *value)).collect(),
                users: None,
            })
            .collect();
        let row = |(name, values): &(&str, &[f64])| RowResult {
            name: (*name).to_owned(),
            figures: [("m".to_owned(), Interval::of(values).unwrap())].into(),
            ..RowResult::default()
        };
        let rows: Vec<RowResult> = rows.iter().map(row).collect();
        let baselines = BTreeMap::from([("base".to_owned(), Metrics::from([("m".to_owned(), 0.5)]))]);
        verdict(&rows, &all_pairs(&compared), &baselines, "m")
    }

    #[test]
    fn what_is_not_resolved_is_named_with_the_difference_that_would_be() {
        let found = sentences(&[
            ("a", &[0.40, 0.42, 0.41, 0.43, 0.40]),
            ("b", &[0.41, 0.41, 0.42, 0.42, 0.42]),
            ("c", &[0.30, 0.32, 0.31, 0.33, 0.31]),
        ]);
        let above = "b has the highest mean; not resolved from it: a (a difference above 0.0";
        assert!(found[0].starts_with(above) && found[0].ends_with("would be)."), "{found:?}");
        assert_eq!(found[1], "c is significantly worse than b.");
        assert_eq!(found[2], "base (0.5000) is 0.0840 above the best row.");
        assert!(!found.iter().any(|sentence| sentence.contains("tie")), "{found:?}");
    }

    #[test]
    fn few_seeds_do_not_tie() {
        let few = sentences(&[("a", &[0.40, 0.42, 0.41]), ("b", &[0.41, 0.41, 0.42])]);
        assert_eq!(few[0], "b has the highest mean; fewer than 5 seeds cannot tell it from a.");
        let single = sentences(&[("a", &[0.4]), ("b", &[0.3])]);
        assert_eq!(single[0], "a has the highest mean; a single seed cannot tell rows apart.");
        let clear = sentences(&[("a", &[0.40, 0.42, 0.41]), ("b", &[0.3001, 0.32, 0.31])]);
        assert_eq!(clear[0], "a is significantly better than every other row.");
    }
}
