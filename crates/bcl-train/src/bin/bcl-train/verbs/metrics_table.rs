//! The metrics of ranked lists as a table.

use bcl_report::{Column, Table, result::Metrics};
use std::collections::{BTreeMap, BTreeSet};

/// One row per metric, and one column per length of the lists; `None` if a metric is not one of lists, such as `ndcg@20`.
pub(super) fn metrics_table(metrics: &Metrics) -> Option<Table> {
    let mut rows: BTreeMap<&str, BTreeMap<usize, f64>> = BTreeMap::new();
    for (name, &value) in metrics {
        let (metric, length) = name.rsplit_once('@')?;
        rows.entry(metric).or_default().insert(length.parse().ok()?, value);
    }
    let lengths: BTreeSet<usize> = rows.values().flat_map(BTreeMap::keys).copied().collect();
    let columns = lengths.iter().map(|length| Column::number(format!("@{length}")));
    let columns: Vec<Column> = std::iter::once(Column::verbatim("metric")).chain(columns).collect();
    let cell = |values: &BTreeMap<usize, f64>, length| values.get(length).map_or(String::new(), |value| format!("{value:.4}"));
    let rows = rows.iter().map(|(metric, values)| {
        let values = lengths.iter().map(|length| cell(values, length));
        std::iter::once((*metric).to_owned()).chain(values).collect::<Vec<String>>()
    });
    Some(Table::new(columns, rows).ruled())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_report::TextStyle;

    #[test]
    fn lengths_are_columns_in_ascending_order() {
        let metrics = [("ndcg@10", 0.25), ("ndcg@5", 0.5), ("recall@5", 1.0)];
        let metrics: Metrics = metrics.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let text = metrics_table(&metrics).unwrap().render(&TextStyle {
            width: None,
            bold: false,
        });
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[0], ["metric", "@5", "@10"]);
        assert_eq!(lines[2..], [vec!["ndcg", "0.5000", "0.2500"], vec!["recall", "1.0000"]]);
        assert!(metrics_table(&Metrics::from([("loss".to_owned(), 1.0)])).is_none());
    }
}
