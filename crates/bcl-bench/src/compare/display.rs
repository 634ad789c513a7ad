//! Prints a comparison as a table.

use super::{Comparison, Pair, ratio::PAIRED_ROUNDS};
use crate::{Environment, results::duration};
use bcl_report::{Column, Table};
use std::fmt;

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = [
            Column::text("name"),
            Column::number("old"),
            Column::number("new"),
            Column::number("new / old"),
            Column::number("interval"),
            Column::text("verdict"),
        ];
        Table::new(columns, self.pairs.iter().map(Pair::cells)).fmt(f)?;
        writeln!(f)?;
        for (side, names) in [("old", &self.only_old), ("new", &self.only_new)] {
            if !names.is_empty() {
                writeln!(f, "Only in the {side} result: {}.", names.join("; "))?;
            }
        }
        let [old, new] = [&self.old, &self.new].map(revision);
        write!(
            f,
            "Times of {}, old: {old}, new: {new}. A ratio above 1 is slower.",
            self.kind
        )?;
        if self.rounds.iter().any(|&rounds| rounds < PAIRED_ROUNDS) {
            write!(
                f,
                " With fewer than {PAIRED_ROUNDS} rounds per side, other work on the machine may look like a change: measure both in alternation \
                 and name all rounds."
            )?;
        }
        Ok(())
    }
}

fn revision(environment: &Environment) -> &str {
    environment.revision.as_deref().unwrap_or("an unknown revision")
}

impl Pair {
    fn cells(&self) -> [String; 6] {
        let interval = self
            .ratio
            .interval
            .map_or_else(|| "-".to_owned(), |[least, most]| format!("{least:.2} to {most:.2}"));
        [
            self.name.clone(),
            duration(self.old_seconds),
            duration(self.new_seconds),
            format!("{:.2}", self.ratio.ratio),
            interval,
            self.verdict.to_string(),
        ]
    }
}
