//! Summarises a table in sentences.

use super::{FEWEST_SEEDS, Paired, Resolution};
use bcl_report::result::Metrics;
use std::collections::BTreeMap;

/// What wins and what is not resolved, given the mean of each row by a metric for which more is better.
pub(super) fn verdict(
    mut means: Vec<(&str, f64)>,
    pairs: &[Paired],
    baselines: &BTreeMap<String, Metrics>,
    metric: &str,
) -> Vec<String> {
    let mut sentences = Vec::new();
    means.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let Some((&(best, top), others)) = means.split_first() else {
        return sentences;
    };
    if !others.is_empty() {
        let to_best = |row: &str| pairs.iter().find(|pair| pair.is_of(row, best));
        let names = others.iter().map(|(name, _)| *name);
        let (behind, level): (Vec<&str>, Vec<&str>) = names.partition(|row| to_best(row).is_some_and(Paired::is_significant));
        let above = level.iter().filter_map(|row| match to_best(row)?.resolution() {
            Resolution::NotResolved(above) => above,
            _ => None,
        });
        sentences.push(if pairs.iter().all(|pair| pair.p.is_none()) {
            format!("{best} has the highest mean; a single seed cannot tell rows apart.")
        } else if level.is_empty() {
            format!("{best} is significantly better than every other row.")
        } else if pairs.iter().any(|pair| pair.resolution() == Resolution::TooFewSeeds) {
            format!(
                "{best} has the highest mean; fewer than {FEWEST_SEEDS} seeds cannot tell it from {}.",
                listed(&level)
            )
        } else {
            let would_be = above.max_by(f64::total_cmp).map(|above| match level.len() {
                1 => format!(" (a difference above {above:.4} would be)"),
                _ => format!(" (differences above {above:.4} would be)"),
            });
            format!(
                "{best} has the highest mean; not resolved from it: {}{}.",
                listed(&level),
                would_be.unwrap_or_default()
            )
        });
        if !behind.is_empty() {
            let verb = if behind.len() == 1 { "is" } else { "are" };
            sentences.push(format!("{} {verb} significantly worse than {best}.", listed(&behind)));
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

fn listed(names: &[&str]) -> String {
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, first)) => format!("{} and {last}", first.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::statistics::{Compared, all_pairs};
    use bcl_report::Interval;

    fn sentences(rows: &[(&'static str, &[f64])]) -> Vec<String> {
        let compared: Vec<Compared<'_>> = rows
            .iter()
            .map(|(name, values)| Compared {
                name,
                seeds: values.iter().enumerate().map(|(seed, value)| (seed as u64, *value)).collect(),
                users: None,
            })
            .collect();
        let mean = |(name, values): &(&'static str, &[f64])| (*name, Interval::of(values).unwrap().mean);
        let means = rows.iter().map(mean).collect();
        let baselines = BTreeMap::from([("base".to_owned(), Metrics::from([("m".to_owned(), 0.5)]))]);
        verdict(means, &all_pairs(&compared), &baselines, "m")
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
