//! Exports a comparison as JSON and CSV.

use super::{Choice, Comparison, DataTable, Intervals};
use std::fmt::Write;

/// Columns of the CSV.
const HEADER: &str = "data,kind,name,reference,choice,metric,mean,low,high,count";

impl Comparison {
    /// The comparison as JSON, with all digits.
    ///
    /// ```text
    /// { "schema": 1, "confidence": 0.95, "metrics": […], "notes": […],
    ///   "tables": [ { "data": {…},
    ///                 "rows": [ { "name", "kind", "recipe_hash", "encoder", "loss", "seeds",
    ///                             "validation": { "ndcg@20": { "mean", "half_width", "count" } }, "oracle": {…} } ],
    ///                 "differences": [ { "name", "reference", "seeds", "validation": {…}, "oracle": {…} } ] } ] }
    /// ```
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self).expect("a comparison has string keys only, so it always serialises")
    }

    /// The comparison as CSV in long format: one line per value, easy to group and plot.
    ///
    /// `kind` is `recipe`, `baseline` or `difference`; `low` and `high` are the ends of the interval, empty if there is none.
    pub fn to_csv(&self) -> String {
        let mut csv = format!("{HEADER}\n");
        for table in &self.tables {
            for choice in Choice::ALL {
                table.push_csv(&mut csv, choice);
            }
        }
        csv
    }
}

impl DataTable {
    fn push_csv(&self, csv: &mut String, choice: Choice) {
        for row in &self.rows {
            let kind = match row.kind {
                super::RowKind::Recipe => "recipe",
                super::RowKind::Baseline => "baseline",
            };
            let start = [&self.data.name, kind, &row.name, "", choice.name()];
            self.push_figures(csv, start, row.figures(choice));
        }
        for difference in &self.differences {
            let start = [
                &self.data.name,
                "difference",
                &difference.name,
                &difference.reference,
                choice.name(),
            ];
            self.push_figures(csv, start, difference.figures(choice));
        }
    }

    fn push_figures(&self, csv: &mut String, start: [&str; 5], figures: &Intervals) {
        let start = start.map(quoted).join(",");
        for metric in &self.metrics {
            let Some(interval) = figures.get(metric) else {
                continue;
            };
            let bounds = interval
                .bounds()
                .map_or(",".to_owned(), |(low, high)| format!("{low},{high}"));
            let metric = quoted(metric);
            // Writing to a string cannot fail.
            let _ = writeln!(csv, "{start},{metric},{},{bounds},{}", interval.mean, interval.count);
        }
    }
}

/// Quotes a CSV field if necessary (RFC 4180).
fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn comparison(name: &str) -> Comparison {
        let runs = [("reference", "info_nce"), (name, "bayesian")]
            .map(|(name, loss)| [0, 1].map(|seed| sample::run(name, loss, seed).0))
            .concat();
        Comparison::new(&runs, &["recall@20".to_owned(), "ndcg@20".to_owned()])
    }

    #[test]
    fn json_holds_rows_differences_and_all_digits() {
        let comparison = comparison("other");
        let json = comparison.to_json();
        let table = &json["tables"][0];
        assert_eq!(json["schema"], 1);
        assert_eq!(table["rows"][1]["loss"], "bayesian");
        assert_eq!(table["rows"][1]["seeds"], serde_json::json!([0, 1]));
        assert_eq!(table["rows"][2]["kind"], "baseline");
        let expected = comparison.tables[0].rows[1].oracle["ndcg@20"].mean;
        assert_eq!(table["rows"][1]["oracle"]["ndcg@20"]["mean"].as_f64(), Some(expected));
        assert_eq!(table["differences"][0]["reference"], "reference");
    }

    #[test]
    fn csv_has_a_line_per_figure() {
        let csv = comparison("other").to_csv();
        let lines: Vec<&str> = csv.lines().collect();
        // Header, (four rows and one difference) x two choices x two metrics.
        assert_eq!(lines.len(), 1 + 5 * 2 * 2);
        assert!(lines.iter().all(|line| line.split(',').count() == HEADER.split(',').count()));
        assert!(lines.contains(&"ml-100k-authors,baseline,ease,,validation,ndcg@20,0.4498,,,1"));
        assert!(csv.contains("difference,other,reference,oracle,recall@20,"));
    }

    #[test]
    fn csv_quotes_names_that_need_it() {
        let csv = comparison("a, \"b\"").to_csv();
        assert!(csv.contains("recipe,\"a, \"\"b\"\"\",,validation"), "{csv}");
    }
}
