//! Which rows of a table are compared.

use super::{Row, statistics};
use clap::ValueEnum;
use serde_json::Value;

/// Loss that others are compared with.
pub(super) const REFERENCE: &str = "info_nce";

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
    /// The pairs of rows to compare, by their numbers: the second is subtracted from the first.
    ///
    /// Of several rows with InfoNCE, a row is compared with the one whose recipe differs from its own in the fewest values; the temperature counts, the
    /// rest of the loss does not.
    pub(super) fn pairs(self, rows: &[Row]) -> Vec<(usize, usize)> {
        let references: Vec<usize> = (0..rows.len()).filter(|&row| rows[row].loss_name() == REFERENCE).collect();
        if self == Self::All || references.is_empty() || references.len() == rows.len() {
            return statistics::all_pairs(rows.len()).collect();
        }
        let apart: Vec<Value> = rows.iter().map(apart_from_loss).collect();
        let others = (0..rows.len()).filter(|row| !references.contains(row));
        let with_references = others.flat_map(|row| {
            let away = |&other: &usize| num_differences(&apart[row], &apart[other]);
            let least = references.iter().map(away).min();
            let nearest: Vec<usize> = references
                .iter()
                .copied()
                .filter(|other| Some(away(other)) == least)
                .collect();
            nearest.into_iter().map(move |other| (row, other))
        });
        with_references.collect()
    }
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

/// A recipe without its name and its loss, but with the temperature.
fn apart_from_loss(row: &Row) -> Value {
    let mut recipe = row.json();
    let temperature = recipe.pointer("/loss/temperature").cloned();
    if let Some(recipe) = recipe.as_object_mut() {
        recipe.remove("name");
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
