//! Computes finished tables again from the metrics of their runs.

use super::{
    Paired, Recovery, Samples, Sensitivity, TableResult, Test,
    statistics::{Bootstrap, correct},
};
use bcl_report::Interval;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Figures that differ by less than this share are equal.
const TOLERANCE: f64 = 1e-9;

impl TableResult {
    /// The same table with all figures, comparisons and sentences computed again from its runs, by the rules of this version. Without the metrics of `samples`,
    /// the standard errors of a bootstrap are taken as they are.
    #[must_use]
    pub(crate) fn recomputed(&self, samples: Option<&Samples>) -> Self {
        let mut table = self.with_pairs(samples);
        // The number of pairs of a whole sweep cannot be told from one of its tables.
        if self.corrected_for.is_none() {
            correct(table.pairs.iter_mut().collect());
        }
        table.verdict = table.sentences();
        table
    }

    /// All but the correction for the number of pairs.
    fn with_pairs(&self, samples: Option<&Samples>) -> Self {
        let samples: Option<Vec<_>> = samples.and_then(|samples| samples.0.iter().map(Option::as_ref).collect());
        let bootstrap = samples.and_then(|samples| Bootstrap::new(&samples));
        let mut table = self.clone();
        for row in &mut table.rows {
            for (metric, figure) in &mut row.figures {
                let values: Vec<f64> = row.runs.values().filter_map(|figures| figures.get(metric).copied()).collect();
                *figure = Interval::of(&values).unwrap_or(*figure);
            }
        }
        for pair in &mut table.pairs {
            *pair = self.again(pair, bootstrap.as_ref());
        }
        for headroom in &mut table.headroom {
            let again = self.again(&headroom.paired, bootstrap.as_ref());
            let [top, base] = [&again.row, &again.other].map(|name| self.of_seeds(name));
            for (name, recovery) in &mut headroom.recovered {
                *recovery = Recovery::of_runs(&self.of_seeds(name), &base, &top).unwrap_or(*recovery);
            }
            headroom.paired = again;
            correct(vec![&mut headroom.paired]);
        }
        table
    }

    /// The metric of each seed, of the row with this name.
    fn of_seeds(&self, name: &str) -> BTreeMap<u64, f64> {
        let row = self.rows.iter().find(|row| row.name == name);
        row.map(|row| row.values(&self.select_by).into_iter().collect())
            .unwrap_or_default()
    }

    /// A comparison, made again.
    fn again(&self, pair: &Paired, bootstrap: Option<&Bootstrap>) -> Paired {
        let (row, other) = (self.of_seeds(&pair.row), self.of_seeds(&pair.other));
        let differences: Vec<f64> = row
            .iter()
            .filter_map(|(seed, value)| Some(value - other.get(seed)?))
            .collect();
        let number = |name: &str| self.rows.iter().position(|row| row.name == name);
        let drawn = bootstrap.and_then(|bootstrap| Some(bootstrap.standard_error(number(&pair.row)?, number(&pair.other)?)));
        let error = match pair.test {
            Test::Bootstrap => drawn.or(pair.standard_error),
            Test::StudentT => None,
        };
        let again = Paired::new(&pair.row, &pair.other, &differences, error);
        let again = again.unwrap_or_else(|| pair.clone());
        Paired {
            p_holm: pair.p_holm,
            resolvable: pair.resolvable,
            ..again
        }
    }
}

impl Sensitivity {
    /// The same curves with all tables [computed again](TableResult::recomputed), with the metrics of samples of each. P-values are corrected again if the
    /// tables of the whole sweep are here.
    #[must_use]
    pub(crate) fn recomputed(&self, samples: &[Option<Samples>]) -> Self {
        let mut again = self.clone();
        let number: usize = self.tables.iter().map(|(_, table)| table.pairs.len()).sum();
        let is_whole = self.tables.iter().all(|(_, table)| table.corrected_for == Some(number));
        for ((_, table), samples) in again.tables.iter_mut().zip(samples) {
            *table = table.with_pairs(samples.as_ref());
        }
        if is_whole {
            let mut tables: Vec<&mut TableResult> = again.tables.iter_mut().map(|(_, table)| table).collect();
            TableResult::correct_together(&mut tables);
        }
        for (_, table) in &mut again.tables {
            table.verdict = table.sentences();
        }
        for curve in &mut again.curves {
            for (value, point) in &mut curve.points {
                let table = again.tables.iter().find(|(at, _)| at == value);
                let row = table.and_then(|(_, table)| table.rows.iter().find(|row| row.name == curve.row));
                *point = row.and_then(|row| row.figures.get(&self.metric)).copied().unwrap_or(*point);
            }
        }
        again
    }
}

/// Where two results differ: the place, what is there, and what follows from the runs.
pub(crate) fn differences(there: &impl Serialize, again: &impl Serialize) -> Vec<String> {
    let mut found = Vec::new();
    compare("", &json(there), &json(again), &mut found);
    found
}

fn json(result: &impl Serialize) -> Value {
    serde_json::to_value(result).expect("a result is plain data")
}

fn compare(place: &str, there: &Value, again: &Value, found: &mut Vec<String>) {
    let none = Value::Null;
    match (there, again) {
        (Value::Object(left), Value::Object(right)) => {
            let keys = left.keys().chain(right.keys().filter(|key| !left.contains_key(*key)));
            for key in keys {
                let (there, again) = (left.get(key).unwrap_or(&none), right.get(key).unwrap_or(&none));
                compare(&format!("{place}.{key}"), there, again, found);
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (index, (there, again)) in left.iter().zip(right).enumerate() {
                compare(&format!("{place}[{index}]"), there, again, found);
            }
        }
        (Value::Number(left), Value::Number(right)) => {
            let [left, right] = [left, right].map(|number| number.as_f64().unwrap_or(f64::NAN));
            if (left - right).abs() > TOLERANCE * left.abs().max(right.abs()) {
                found.push(format!("{}: {left}, but {right} by its runs", place.trim_start_matches('.')));
            }
        }
        _ if there == again => {}
        _ => found.push(format!("{}: {there}, but {again} by its runs", place.trim_start_matches('.'))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::site::Collection;
    use std::path::Path;

    /// The tables and texts in this repository.
    fn committed() -> Collection {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        Collection::read(&folder).unwrap()
    }

    #[test]
    fn committed_tables_follow_from_their_runs_and_texts_from_their_tables() {
        let found = committed();
        assert!(found.tables.len() > 15 && found.sensitivities.len() > 3);
        let problems = found.check().unwrap();
        assert_eq!(problems, Vec::<String>::new());
    }

    #[test]
    fn a_figure_that_does_not_follow_is_found() {
        let (_, mut table) = committed().tables.remove(0);
        table.rows[1].figures.values_mut().next().unwrap().mean += 1e-6;
        table.pairs[0].p = Some(0.5);
        let found = differences(&table, &table.recomputed(None));
        let places: Vec<&str> = found.iter().filter_map(|line| line.split(':').next()).collect();
        assert!(places.iter().any(|place| place.starts_with("rows[1].figures.")), "{places:?}");
        assert!(places.contains(&"pairs[0].p"), "{places:?}");
    }
}
