//! Which rows of a table are compared.

use super::{
    row::{ORACLE, REFERENCE, Row},
    statistics,
};
use clap::ValueEnum;
use serde_json::Value;

/// The comparisons of a table. The fewer there are, the smaller the differences that they resolve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Family {
    /// Each row with InfoNCE; all pairs if no row has that loss.
    #[default]
    InfoNce,
    /// All pairs of rows.
    All,
}

impl Family {
    /// The pairs of rows to compare, by their numbers: the second is subtracted from the first. Oracles are not among them.
    ///
    /// Of several rows with InfoNCE, a row is compared with the one whose recipe differs from its own in the fewest values; the temperature counts, the
    /// rest of the loss does not.
    pub(super) fn pairs(self, rows: &[Row]) -> Vec<(usize, usize)> {
        let is_candidate = |row: &usize| rows[*row].loss_name() != ORACLE;
        let candidates: Vec<usize> = (0..rows.len()).filter(is_candidate).collect();
        let references = of_loss(rows, REFERENCE);
        if self == Self::All || references.is_empty() || references.len() == candidates.len() {
            let pairs = statistics::all_pairs(candidates.len());
            return pairs.map(|(row, other)| (candidates[row], candidates[other])).collect();
        }
        with_nearest(
            rows,
            candidates.into_iter().filter(|row| !references.contains(row)),
            &references,
        )
    }
}

/// Each oracle with its InfoNCE, by their numbers.
pub(super) fn oracles(rows: &[Row]) -> Vec<(usize, usize)> {
    with_nearest(rows, of_loss(rows, ORACLE), &of_loss(rows, REFERENCE))
}

fn of_loss(rows: &[Row], loss: &str) -> Vec<usize> {
    (0..rows.len()).filter(|&row| rows[row].loss_name() == loss).collect()
}

/// Each of some rows with the reference that differs from it in the fewest values, or with those that differ in as few.
fn with_nearest(rows: &[Row], some: impl IntoIterator<Item = usize>, references: &[usize]) -> Vec<(usize, usize)> {
    let apart: Vec<Value> = rows.iter().map(apart_from_loss).collect();
    let with_references = some.into_iter().flat_map(|row| {
        let away = |&other: &usize| num_differences(&apart[row], &apart[other]);
        let least = references.iter().map(away).min();
        let nearest = references.iter().filter(|other| Some(away(other)) == least);
        nearest.map(|&other| (row, other)).collect::<Vec<_>>()
    });
    with_references.collect()
}

/// In how many values two recipes differ.
fn num_differences(one: &Value, other: &Value) -> usize {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let of_one = one
                .iter()
                .map(|(key, value)| num_differences(value, other.get(key).unwrap_or(&Value::Null)));
            let of_other = other
                .iter()
                .filter(|(key, value)| !one.contains_key(*key) && !value.is_null());
            of_one.sum::<usize>() + of_other.count()
        }
        _ => usize::from(one != other),
    }
}

/// A recipe without its name, its loss and what detects false negatives, but with the temperature.
fn apart_from_loss(row: &Row) -> Value {
    let mut recipe = row.json();
    let temperature = recipe.pointer("/loss/temperature").cloned();
    if let Some(recipe) = recipe.as_object_mut() {
        recipe.remove("name");
        recipe.remove("recovery");
        recipe.insert("loss".to_owned(), temperature.unwrap_or_default());
    }
    recipe
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::Ranges;

    fn named(family: Family, recipes: &str) -> Vec<String> {
        let rows = Row::find(recipes, None, &[], &Ranges::builtin()).unwrap();
        let pairs = family.pairs(&rows);
        let names = pairs
            .iter()
            .map(|&(row, other)| format!("{} - {}", rows[row].name, rows[other].name));
        names.collect()
    }

    #[test]
    fn rows_are_compared_with_info_nce_unless_asked() {
        let pairs = named(Family::InfoNce, "table10/ml-100k");
        assert_eq!(pairs.len(), 6, "{pairs:?}");
        for pair in pairs {
            let (row, other) = pair.split_once(" - ").unwrap();
            let encoder = row.split('-').next().unwrap();
            assert_eq!(other, format!("{encoder}-infonce"));
        }
        assert_eq!(named(Family::All, "table10/ml-100k").len(), 28);
    }

    #[test]
    fn each_row_of_info_nce_has_an_oracle_if_the_data_have_classes() {
        let with_oracles = |recipes: &str| {
            let mut rows = Row::find(recipes, None, &[], &Ranges::builtin()).unwrap();
            rows.extend(Row::oracles(&rows));
            rows
        };
        let rows = with_oracles("table2/planted");
        let oracle = rows.last().unwrap();
        assert_eq!(
            (&*oracle.name, &*oracle.loss_name(), oracle.is_oracle),
            ("supervised", ORACLE, true)
        );
        assert_eq!(oracle.space.0, rows[0].space.0, "an equal search");
        assert_eq!(oracles(&rows), [(4, 0)]);
        assert!(Family::All.pairs(&rows).iter().all(|pair| pair.0 < 4 && pair.1 < 4));
        // Nobody knows which items a user would like.
        assert!(with_oracles("table10/ml-100k").iter().all(|row| !row.is_oracle));
    }

    #[test]
    fn a_detection_is_compared_with_info_nce_and_has_no_oracle_of_its_own() {
        let mut rows = Row::find("recovery/planted", None, &[], &Ranges::builtin()).unwrap();
        rows.extend(Row::oracles(&rows));
        assert_eq!(rows.iter().filter(|row| row.is_oracle).count(), 1);
        let pairs = named(Family::InfoNce, "recovery/planted");
        assert_eq!(pairs.len(), 3, "{pairs:?}");
        assert!(pairs.iter().all(|pair| pair.ends_with(" - infonce")), "{pairs:?}");
    }

    #[test]
    fn of_several_settings_those_that_are_equal_are_compared() {
        let pairs = named(Family::InfoNce, "crossed/ml-1m");
        assert_eq!(pairs.len(), 6, "{pairs:?}");
        for pair in pairs {
            let (row, other) = pair.split_once(" - ").unwrap();
            let setting = row.rsplit('-').next().unwrap();
            assert_eq!(other, format!("infonce-{setting}"));
        }
    }
}
