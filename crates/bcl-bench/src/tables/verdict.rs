//! Summarises a table in sentences.

use super::{
    FEWEST_SEEDS, Paired, RowResult, TableResult, Verdict,
    row::{ORACLE, REFERENCE},
};
use bcl_report::result::{CALIBRATION_ERROR, DataSize, EFFECTIVE_SAMPLE_SIZE, Metrics, SCORE_SPREAD};
use std::collections::BTreeMap;

impl TableResult {
    /// What is better, worse, equivalent and not known, in sentences.
    pub(super) fn sentences(&self) -> Vec<String> {
        // An oracle is no candidate.
        let candidates = || self.rows.iter().filter(|row| row.loss != ORACLE);
        let mut sentences = if self.is_against_reference() {
            against_references(&self.rows, &self.pairs, self.bound)
        } else {
            let mean = |row: &RowResult| Some((row.name.clone(), row.figures.get(&self.select_by)?.mean));
            let has_oracle = candidates().count() < self.rows.len();
            among_all(candidates().filter_map(mean).collect(), has_oracle, &self.pairs, self.bound)
        };
        sentences.extend(same_figures(&self.rows));
        // Encoders of graphs are trained on all graphs.
        let knows_test = matches!(self.data.size, DataSize::Graphs { .. });
        sentences.extend(self.headroom.iter().map(|headroom| headroom.sentence(self.bound, knows_test)));
        let means = candidates().filter_map(|row| row.figures.get(&self.select_by));
        if let Some(top) = means.map(|figure| figure.mean).max_by(f64::total_cmp) {
            sentences.extend(beside_baselines(top, &self.baselines, &self.select_by));
        }
        sentences
    }

    /// The comparisons of another loss with InfoNCE.
    pub(crate) fn against_reference(&self) -> impl Iterator<Item = &Paired> {
        let is_reference = |name: &str| self.rows.iter().any(|row| row.name == name && row.loss == REFERENCE);
        self.pairs
            .iter()
            .filter(move |pair| is_reference(&pair.other) && !is_reference(&pair.row))
    }

    /// Whether rows are compared with InfoNCE, and not with all others.
    pub(crate) fn is_against_reference(&self) -> bool {
        !self.pairs.is_empty() && self.against_reference().count() == self.pairs.len()
    }
}

const TOO_FEW: &str = "rows are not compared";

/// What InfoNCE's rows are to the rows that are compared with them.
fn against_references(rows: &[RowResult], pairs: &[Paired], bound: Option<f64>) -> Vec<String> {
    let with = |reference: &RowResult| {
        let pairs: Vec<&Paired> = pairs.iter().filter(|pair| pair.other == reference.name).collect();
        (!pairs.is_empty()).then(|| format!("Against {}: {}.", reference.name, grouped(&pairs, bound)))
    };
    rows.iter().filter_map(with).collect()
}

/// What rows with the same figures probably are.
fn same_figures(rows: &[RowResult]) -> Vec<String> {
    let mut groups: Vec<Vec<&RowResult>> = Vec::new();
    for row in rows.iter().filter(|row| row.loss != ORACLE && row.runs.len() > 1) {
        let is_like = |group: &Vec<&RowResult>| of_encoders(group[0]).eq(of_encoders(row));
        match groups.iter_mut().find(|group| is_like(group)) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    let groups = groups.iter().filter(|group| group.len() > 1);
    let sentence = |group: &Vec<&RowResult>| {
        let names: Vec<&str> = group.iter().map(|row| &*row.name).collect();
        format!(
            "{} have the same figures with every seed: at these settings they are probably one loss.",
            listed(&names)
        )
    };
    groups.map(sentence).collect()
}

/// The metrics of each run that depend on the trained encoder only, and not on what a loss says of its own weights.
fn of_encoders(row: &RowResult) -> impl Iterator<Item = (u64, &str, f64)> {
    const OF_LOSSES: [&str; 3] = [CALIBRATION_ERROR, EFFECTIVE_SAMPLE_SIZE, SCORE_SPREAD];
    let metrics = row
        .runs
        .iter()
        .flat_map(|(seed, metrics)| metrics.iter().map(move |(name, value)| (*seed, &**name, *value)));
    metrics.filter(|(_, name, _)| !OF_LOSSES.contains(name))
}

/// Rows by the verdict on them.
fn grouped(pairs: &[&Paired], bound: Option<f64>) -> String {
    let verdicts: Vec<(&str, Verdict)> = pairs.iter().map(|pair| (&*pair.row, pair.verdict(bound))).collect();
    if verdicts.iter().all(|(_, verdict)| *verdict == Verdict::TooFewSeeds) {
        return format!("fewer than {FEWEST_SEEDS} seeds, so {TOO_FEW}");
    }
    let of = |is_of: fn(&Verdict) -> bool| -> Vec<&str> {
        let rows = verdicts.iter().filter(|(_, verdict)| is_of(verdict));
        rows.map(|(row, _)| *row).collect()
    };
    let found = verdicts.iter().filter_map(|(_, verdict)| match verdict {
        Verdict::NotKnown(found) => *found,
        _ => None,
    });
    let found = found.max_by(f64::total_cmp);
    let found = found.map(|found| format!(", where {found:.4} would be found"));
    let groups = [
        ("better".to_owned(), of(|verdict| *verdict == Verdict::Better)),
        ("worse".to_owned(), of(|verdict| *verdict == Verdict::Worse)),
        (
            format!("equivalent within {}", bound.unwrap_or_default()),
            of(|verdict| matches!(verdict, Verdict::Equivalent(_))),
        ),
        (
            format!("not known{}", found.unwrap_or_default()),
            of(|verdict| matches!(verdict, Verdict::NotKnown(_))),
        ),
        (
            format!("not compared, with fewer than {FEWEST_SEEDS} seeds"),
            of(|verdict| *verdict == Verdict::TooFewSeeds),
        ),
    ];
    let groups = groups.iter().filter(|(_, rows)| !rows.is_empty());
    let groups: Vec<String> = groups.map(|(word, rows)| format!("{word}: {}", listed(rows))).collect();
    groups.join("; ")
}

/// The row with the highest mean beside all others. Supervised rows (`has_oracle`) are not among them.
fn among_all(mut means: Vec<(String, f64)>, has_oracle: bool, pairs: &[Paired], bound: Option<f64>) -> Vec<String> {
    let aside = if has_oracle { ", supervised rows aside" } else { "" };
    means.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let Some(((best, _), others)) = means.split_first() else {
        return Vec::new();
    };
    let to_best = |row: &str| pairs.iter().find(|pair| pair.is_of(row, best));
    let of = |is_of: fn(&Verdict) -> bool| -> Vec<&str> {
        let is_of = |row: &&str| to_best(row).is_some_and(|pair| is_of(&pair.verdict(bound)));
        others.iter().map(|(row, _)| &**row).filter(is_of).collect()
    };
    let behind = of(|verdict| matches!(verdict, Verdict::Better | Verdict::Worse));
    let equivalent = of(|verdict| matches!(verdict, Verdict::Equivalent(_)));
    let not_known = of(|verdict| matches!(verdict, Verdict::NotKnown(_)));
    let too_few = of(|verdict| *verdict == Verdict::TooFewSeeds);
    if others.is_empty() {
        return Vec::new();
    }
    if too_few.len() == others.len() {
        return vec![format!(
            "{best} has the highest mean{aside}; with fewer than {FEWEST_SEEDS} seeds, {TOO_FEW}."
        )];
    }
    if behind.len() == others.len() {
        return vec![format!("{best} is significantly better than every other row{aside}.")];
    }
    let mut parts = vec![format!("{best} has the highest mean{aside}")];
    if !equivalent.is_empty() {
        parts.push(format!(
            "equivalent within {}: {}",
            bound.unwrap_or_default(),
            listed(&equivalent)
        ));
    }
    if !not_known.is_empty() {
        let found = not_known.iter().filter_map(|row| match to_best(row)?.verdict(bound) {
            Verdict::NotKnown(found) => found,
            _ => None,
        });
        let found = found.max_by(f64::total_cmp);
        let found = found.map(|found| format!(" (a difference of {found:.4} would be)"));
        parts.push(format!(
            "not resolved from it: {}{}",
            listed(&not_known),
            found.unwrap_or_default()
        ));
    }
    if !too_few.is_empty() {
        parts.push(format!(
            "not compared, with fewer than {FEWEST_SEEDS} seeds: {}",
            listed(&too_few)
        ));
    }
    let mut sentences = vec![parts.join("; ") + "."];
    if !behind.is_empty() {
        let verb = if behind.len() == 1 { "is" } else { "are" };
        sentences.push(format!("{} {verb} significantly worse than {best}.", listed(&behind)));
    }
    sentences
}

/// How far each baseline is from the highest mean.
fn beside_baselines(top: f64, baselines: &BTreeMap<String, Metrics>, metric: &str) -> Vec<String> {
    let sentence = |(name, figures): (&String, &Metrics)| {
        let baseline = figures.get(metric)?;
        let difference = baseline - top;
        let word = if difference > 0.0 { "above" } else { "below" };
        Some(format!(
            "{name} ({baseline:.4}) is {:.4} {word} the best row.",
            difference.abs()
        ))
    };
    baselines.iter().filter_map(sentence).collect()
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
    use crate::tables::statistics::{Compared, all_pairs, compare, correct};

    /// Rows with a figure per seed; the first is compared with InfoNCE, or all with each other.
    fn compared(rows: &[(&'static str, &[f64])], pairs: &[(usize, usize)]) -> (Vec<RowResult>, Vec<Paired>) {
        let of_seeds = |values: &[f64]| values.iter().enumerate().map(|(seed, value)| (seed as u64, *value)).collect();
        let compared: Vec<Compared<'_>> = rows
            .iter()
            .map(|(name, values)| Compared {
                name,
                seeds: of_seeds(values),
                samples: None,
            })
            .collect();
        let row = |(name, values): &(&str, &[f64])| RowResult {
            name: (*name).to_owned(),
            runs: (0..)
                .zip(values.iter().map(|value| Metrics::from([("m".to_owned(), *value)])))
                .collect(),
            ..RowResult::default()
        };
        let mut pairs = compare(&compared, pairs.iter().copied());
        correct(pairs.iter_mut().collect());
        (rows.iter().map(row).collect(), pairs)
    }

    fn among(rows: &[(&'static str, &[f64])]) -> Vec<String> {
        let (_, pairs) = compared(rows, &all_pairs(rows.len()).collect::<Vec<_>>());
        let mean = |(name, values): &(&str, &[f64])| ((*name).to_owned(), values.iter().sum::<f64>() / values.len() as f64);
        among_all(rows.iter().map(mean).collect(), false, &pairs, Some(0.001))
    }

    #[test]
    fn supervised_rows_are_no_candidates_and_the_sentence_says_so() {
        let means = vec![("a".to_owned(), 0.4), ("b".to_owned(), 0.3)];
        let found = among_all(means, true, &[], None);
        assert_eq!(found, ["a has the highest mean, supervised rows aside."]);
    }

    #[test]
    fn what_is_not_resolved_is_named_with_the_difference_that_would_be() {
        let found = among(&[
            ("a", &[0.40, 0.42, 0.41, 0.43, 0.40]),
            ("b", &[0.41, 0.41, 0.42, 0.42, 0.42]),
            ("c", &[0.30, 0.32, 0.31, 0.33, 0.31]),
        ]);
        let above = "b has the highest mean; not resolved from it: a (a difference of 0.0";
        assert!(found[0].starts_with(above) && found[0].ends_with("would be)."), "{found:?}");
        assert_eq!(found[1], "c is significantly worse than b.");
    }

    #[test]
    fn few_seeds_decide_nothing() {
        let few = "with fewer than 5 seeds, rows are not compared.";
        for rows in [
            &[("a", &[0.40, 0.42, 0.41][..]), ("b", &[0.3001, 0.32, 0.31])],
            &[("a", &[0.4][..]), ("b", &[0.3])],
        ] {
            assert_eq!(among(rows), [format!("a has the highest mean; {few}")]);
        }
    }

    #[test]
    fn rows_are_grouped_by_what_they_are_to_info_nce() {
        let base = [0.40, 0.42, 0.41, 0.43, 0.40];
        let shifted = |by: f64, noise: f64| -> Vec<f64> {
            let noise = [1.0, -1.0, 0.5, -0.5, 0.0].map(|unit| unit * noise);
            base.iter().zip(noise).map(|(value, noise)| value + by + noise).collect()
        };
        let (up, down, same, unclear) = (
            shifted(0.01, 1e-4),
            shifted(-0.01, 1e-4),
            shifted(0.0, 1e-4),
            shifted(0.0, 0.01),
        );
        let rows: [(&'static str, &[f64]); 5] = [
            ("infonce", &base),
            ("up", &up),
            ("down", &down),
            ("same", &same),
            ("unclear", &unclear),
        ];
        let (rows, pairs) = compared(&rows, &[(1, 0), (2, 0), (3, 0), (4, 0)]);
        let found = against_references(&rows[..1], &pairs, Some(0.001));
        assert_eq!(found.len(), 1);
        let start = "Against infonce: better: up; worse: down; equivalent within 0.001: same; not known, where 0.0";
        assert!(
            found[0].starts_with(start) && found[0].ends_with(" would be found: unclear."),
            "{found:?}"
        );
        // Without a bound, nothing is equivalent.
        let found = against_references(&rows[..1], &pairs, None);
        assert!(found[0].ends_with("would be found: same and unclear."), "{found:?}");
    }

    #[test]
    fn rows_with_the_same_figures_are_said_to_be_one_loss() {
        let base = [0.40, 0.42, 0.41, 0.43, 0.40];
        let other = [0.40, 0.42, 0.41, 0.40, 0.43];
        let rows: [(&'static str, &[f64]); 4] = [("infonce", &base), ("bayesian", &base), ("other", &other), ("hard", &base)];
        let (mut rows, _) = compared(&rows, &[]);
        // What a loss says of its weights is not of the encoder.
        rows[1].runs.get_mut(&0).unwrap().insert(CALIBRATION_ERROR.to_owned(), 0.1);
        // Equal means are not equal figures.
        let sentence =
            "infonce, bayesian and hard have the same figures with every seed: at these settings they are probably one loss.";
        assert_eq!(same_figures(&rows), [sentence]);
        // One metric may be the same at its end, such as an accuracy of 1.
        rows[3].runs.get_mut(&4).unwrap().insert("other".to_owned(), 0.5);
        assert_eq!(
            same_figures(&rows),
            [sentence.replace("infonce, bayesian and hard", "infonce and bayesian")]
        );
        let (rows, _) = compared(&[("a", &[0.4]), ("b", &[0.4])], &[]);
        assert!(same_figures(&rows).is_empty(), "one seed says little");
    }

    #[test]
    fn a_row_with_too_few_seeds_does_not_hide_the_others() {
        let (base, up) = ([0.40, 0.42, 0.41, 0.43, 0.40], [0.50, 0.52, 0.51, 0.53, 0.5001]);
        let rows: [(&'static str, &[f64]); 3] = [("infonce", &base), ("up", &up), ("failed", &base[..4])];
        let (rows, pairs) = compared(&rows, &[(1, 0), (2, 0)]);
        let found = against_references(&rows[..1], &pairs, Some(0.001));
        assert_eq!(
            found,
            ["Against infonce: better: up; not compared, with fewer than 5 seeds: failed."]
        );
        let found = among(&[("infonce", &base), ("up", &up), ("failed", &base[..4])]);
        assert_eq!(
            found,
            [
                "up has the highest mean; not compared, with fewer than 5 seeds: failed.",
                "infonce is significantly worse than up."
            ]
        );
    }

    #[test]
    fn baselines_are_beside_the_best_row() {
        let baselines = BTreeMap::from([("base".to_owned(), Metrics::from([("m".to_owned(), 0.5)]))]);
        assert_eq!(
            beside_baselines(0.416, &baselines, "m"),
            ["base (0.5000) is 0.0840 above the best row."]
        );
    }
}
