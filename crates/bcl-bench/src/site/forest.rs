//! A picture of each loss minus InfoNCE, over all tables.

use super::Collection;
use crate::tables::{FEWEST_SEEDS, Paired, TableResult};
use bcl_report::chart::{ForestChart, ForestGroup, ForestPanel};

impl Collection {
    /// Draws each row minus InfoNCE, for each table with enough seeds, and what the supervised loss gains. Metrics have an axis each. `None` if no table compares
    /// rows with InfoNCE.
    pub fn forest(&self) -> Option<String> {
        let mut panels: Vec<ForestPanel> = Vec::new();
        for table in self.all_tables() {
            let groups = groups(table);
            let axis = format!("{} minus InfoNCE's", table.select_by);
            match panels.iter_mut().find(|panel| panel.axis == axis) {
                Some(panel) => panel.groups.extend(groups),
                None => panels.push(ForestPanel { axis, groups }),
            }
        }
        let chart = ForestChart {
            title: "Each loss minus InfoNCE, 95 % intervals".to_owned(),
            description:
                "Differences on test, by seed. Shaded: equivalent by the bound of the table. Dotted: the supervised loss."
                    .to_owned(),
            panels: panels.into_iter().filter(|panel| !panel.groups.is_empty()).collect(),
        };
        (!chart.panels.is_empty()).then(|| chart.to_file())
    }
}

/// A group for each InfoNCE row of a table, with the rows that are compared with it.
fn groups(table: &TableResult) -> Vec<ForestGroup> {
    let enough: Vec<&Paired> = table
        .against_reference()
        .filter(|pair| pair.difference.count >= FEWEST_SEEDS)
        .collect();
    let mut references: Vec<&str> = enough.iter().map(|pair| &*pair.other).collect();
    references.sort_unstable();
    references.dedup();
    let is_alone = references.len() == 1;
    let group = |reference: &str| {
        let rows = enough.iter().filter(|pair| pair.other == reference);
        let oracle = table.headroom.iter().find(|headroom| headroom.paired.other == reference);
        let minus = if is_alone {
            String::new()
        } else {
            format!(", minus {reference}")
        };
        ForestGroup {
            name: format!("{}, {} seeds{minus}", table.title, table.seeds.len()),
            rows: rows.map(|pair| (pair.row.clone(), pair.interval())).collect(),
            bound: table.bound,
            reference: oracle.map(|headroom| (headroom.paired.row.clone(), headroom.paired.difference.mean)),
        }
    };
    references.into_iter().map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn committed(folder: &str) -> Collection {
        let tables = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results/tables");
        Collection::read(&tables.join(folder)).unwrap()
    }

    #[test]
    fn every_infonce_of_a_table_has_a_group_and_oracles_a_line() {
        let graphs = committed("pucl2-enzymes").forest().unwrap();
        for reference in ["infograph", "infonce"] {
            assert!(graphs.contains(&format!("{reference}</text>")), "{reference}");
        }
        let communities = committed("headroom-communities").forest().unwrap();
        assert_eq!(communities.matches("supervised -0.").count(), 5);
        assert_eq!(communities.matches(">bayesian-beta-0.5</text>").count(), 5);
    }

    #[test]
    fn tables_with_few_seeds_are_not_drawn() {
        assert_eq!(committed("table2-frog-truck").forest(), None);
    }
}
