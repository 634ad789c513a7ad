//! Tests of the module above.

use super::*;
use crate::tables::{Ranges, Row};
use bcl_recipe::find;

#[test]
fn every_printed_row_is_a_recipe() {
    for (table, sets) in Paper::builtin().tables {
        for (dataset, printed) in sets {
            find(&format!("{table}/{dataset}")).unwrap();
            // The deviations of a data set may hold for several parts, whose rows have the same names.
            if printed.rows.is_empty() {
                continue;
            }
            let rows = Row::find(&format!("{table}/{dataset}"), None, &[], &Ranges::builtin()).unwrap();
            for name in printed.rows.keys() {
                assert!(rows.iter().any(|row| row.name == *name), "{table}/{dataset} has no {name}");
            }
        }
    }
}

#[test]
fn printed_figures_are_shares() {
    let paper = Paper::builtin();
    let figures = paper.table("table3", "cifar10", false).figures("bayesian");
    assert_eq!(figures["official_top1"], 0.925);
    let all = paper
        .tables
        .values()
        .flat_map(BTreeMap::values)
        .flat_map(|printed| printed.rows.values());
    assert!(all.flat_map(Metrics::values).all(|figure| (0.0..=1.0).contains(figure)));
}

#[test]
fn every_plus_minus_belongs_to_a_printed_figure() {
    let paper = Paper::builtin();
    let printed = paper.table("table2", "stl10", false);
    assert_eq!(printed.plus_minus("bayesian")["official_top1"], 0.0034);
    assert_eq!(printed.plus_minus("hard"), Metrics::new());
    let mut number = 0;
    for printed in paper.tables.values().flat_map(BTreeMap::values) {
        for (row, plus_minus) in &printed.plus_minus {
            let figures = printed.figures(row);
            for (metric, half_width) in plus_minus {
                assert!(figures.contains_key(metric), "{row} has no {metric}");
                assert!(*half_width > 0.0 && *half_width < 0.01, "{row}: {half_width}");
                number += 1;
            }
        }
    }
    assert!(number >= 8, "{number}");
}

#[test]
fn table_10_has_nine_metrics_in_every_row() {
    let paper = Paper::builtin();
    let table = &paper.tables["table10"];
    assert_eq!(table.len(), 5);
    for (dataset, printed) in table {
        assert_eq!(printed.rows.len(), 8, "{dataset}");
        for (row, figures) in &printed.rows {
            assert_eq!(figures.len(), 9, "{dataset}/{row}");
        }
    }
}
