//! Prints a table as text, for the terminal and as Markdown.

use super::{
    FEWEST_SEEDS, Paired, Recovery, RowResult, Search, TableResult, Test, Verdict, expected_best,
    statistics::{LEVEL, POWER},
};
use bcl_report::{CONFIDENCE, Column, Interval, Table, result::DataSize};
use std::fmt;

/// A table in parts, which the terminal, Markdown and the page format in their own ways.
pub(crate) struct Parts {
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl RowResult {
    /// What a search of so many trials would have found on average; `None` if it might have found nothing.
    fn expected_best(&self, trials: usize) -> Option<f64> {
        // A trial that failed is never the best.
        let figures = self.trials.iter().map(|trial| trial.figure.unwrap_or(f64::NEG_INFINITY));
        expected_best(&figures.collect::<Vec<_>>(), trials).filter(|figure| figure.is_finite())
    }
}

impl TableResult {
    /// What was searched and how rows are compared, in a sentence.
    pub fn protocol(&self) -> String {
        let chosen = format!("chosen by {} on held-out training data", self.select_by);
        let whose = self.whose_rows();
        let seeds = match self.tuning_seeds {
            1 => String::new(),
            seeds => format!(", {seeds} seeds each"),
        };
        let searched = match (self.budget, self.search) {
            (0, _) => "Settings come from the recipes, without a search".to_owned(),
            (budget, Search::Random) => format!("{budget} random trials per row{whose}{seeds}, {chosen}"),
            (budget, Search::Halving) => format!("{budget} trials per row{whose}{seeds} by successive halving, {chosen}"),
        };
        let test = match self.pairs.first().map(|pair| pair.test) {
            Some(Test::Bootstrap) => {
                let samples = match self.data.size {
                    DataSize::Interactions { .. } => "users",
                    DataSize::Graphs { .. } => "graphs",
                    DataSize::Images { .. } => "images",
                };
                format!("Student's t with the standard error of a paired bootstrap over {samples} and seeds")
            }
            _ => "Student's t over seeds".to_owned(),
        };
        let with = if self.is_against_reference() { " with InfoNCE" } else { "" };
        let bound = self.bound.map_or(String::new(), |bound| {
            format!(
                " Rows are equivalent if the {:.0} % interval of their difference lies within ± {bound}.",
                100.0 * CONFIDENCE
            )
        });
        let together = match self.corrected_for {
            Some(number) => format!("{number} pairs of the whole sweep"),
            None => format!("{} pairs", self.pairs.len()),
        };
        format!(
            "{searched}; then {} seed(s) on the test set, mean and {:.0} % interval. Rows are compared{with} seed by seed on {}, p-values \
             by {test} and Holm's correction over {together}, level {:.0} %.{bound}{}",
            self.seeds.len(),
            100.0 * CONFIDENCE,
            self.select_by,
            100.0 * LEVEL,
            self.power()
        )
    }

    /// Which differences the table can resolve, in a sentence.
    fn power(&self) -> String {
        let mut resolvable: Vec<f64> = self.pairs.iter().filter_map(|pair| pair.resolvable).collect();
        resolvable.sort_by(f64::total_cmp);
        let (Some(least), Some(most)) = (resolvable.first(), resolvable.last()) else {
            return String::new();
        };
        let caution = if self.seeds.len() < FEWEST_SEEDS {
            format!(" With fewer than {FEWEST_SEEDS} seeds, rows are not compared.")
        } else {
            String::new()
        };
        format!(
            " Power: with this scatter and number of seeds, a true difference of {:.4} (median over pairs; {least:.4} to {most:.4}) would be \
             significant with a probability of about {:.0} %.{caution}",
            median(&resolvable),
            100.0 * POWER
        )
    }

    /// Test metrics, with those that the paper prints if any, and baselines at the bottom.
    pub(crate) fn main(&self) -> Parts {
        let mut header = vec!["row".to_owned()];
        let printed = |metric: &String| self.rows.iter().any(|row| row.printed.contains_key(metric));
        for metric in &self.metrics {
            header.push(metric.clone());
            if printed(metric) {
                header.push("paper".to_owned());
            }
        }
        let cells = |name: &str, figure: &dyn Fn(&String) -> Option<String>, paper: &dyn Fn(&String) -> Option<String>| {
            let mut cells = vec![name.to_owned()];
            for metric in &self.metrics {
                cells.push(figure(metric).unwrap_or_default());
                if printed(metric) {
                    cells.push(paper(metric).unwrap_or_default());
                }
            }
            cells
        };
        let rows = self.rows.iter().map(|row| {
            let figure = |metric: &String| row.figures.get(metric).map(Interval::to_string);
            cells(&row.name, &figure, &|metric: &String| row.paper_cell(metric))
        });
        let baselines = self.baselines.iter().map(|(name, figures)| {
            let figure = |metric: &String| figures.get(metric).map(|figure| format!("{figure:.4}"));
            cells(name, &figure, &|_: &String| None)
        });
        Parts {
            header,
            rows: rows.chain(baselines).collect(),
        }
    }

    /// The settings that were tested.
    pub(crate) fn tuned(&self) -> Parts {
        let row = |row: &RowResult| {
            let tuned: Vec<String> = row.tuned.iter().map(|(key, value)| format!("{key} = {value}")).collect();
            let epochs: Vec<String> = row.epochs.iter().map(usize::to_string).collect();
            vec![
                row.name.clone(),
                tuned.join(", "),
                row.best_trial().map(|best| format!("{best:.4}")).unwrap_or_default(),
                row.weights
                    .map(|[least, most]| format!("{least:.3} to {most:.3}"))
                    .unwrap_or_default(),
                epochs.join(", "),
            ]
        };
        Parts {
            header: ["row", "settings", "on held-out train", "weights", "epochs"]
                .map(str::to_owned)
                .to_vec(),
            rows: self.rows.iter().map(row).collect(),
        }
    }

    /// Rows compared with others.
    pub(crate) fn compared(&self) -> Parts {
        let p = |value: Option<f64>| value.map(|p| format!("{p:.4}")).unwrap_or_default();
        let row = |pair: &Paired| {
            vec![
                format!("{} - {}", pair.row, pair.other),
                pair.text(),
                p(pair.p),
                p(pair.p_holm),
                match pair.verdict(self.bound) {
                    Verdict::Better => "better".to_owned(),
                    Verdict::Worse => "worse".to_owned(),
                    Verdict::Equivalent(bound) => format!("equivalent within {bound}"),
                    Verdict::NotKnown(Some(found)) => format!("not known ({found:.4} would be found)"),
                    Verdict::NotKnown(None) => "not known".to_owned(),
                    Verdict::TooFewSeeds => "too few seeds".to_owned(),
                },
            ]
        };
        let mut header = ["pair", "difference", "p", "p (Holm)", "verdict"].map(str::to_owned).to_vec();
        let mut rows: Vec<Vec<String>> = self.pairs.iter().map(row).collect();
        if !self.headroom.is_empty() {
            header.push("share of the headroom".to_owned());
            for (cells, pair) in rows.iter_mut().zip(&self.pairs) {
                cells.push(self.recovered(pair).unwrap_or_default());
            }
            // What could be gained, for comparison. Its p-value is not corrected for the other pairs.
            rows.extend(self.headroom.iter().map(|headroom| {
                let mut cells = row(&headroom.paired);
                cells[3].clear();
                cells.push(if headroom.is_known() { "1".to_owned() } else { String::new() });
                cells
            }));
        }
        Parts { header, rows }
    }

    /// The share of the headroom that a row gains over InfoNCE, as the text of a table cell.
    fn recovered(&self, pair: &Paired) -> Option<String> {
        let of_reference = self.headroom.iter().find(|headroom| headroom.paired.other == pair.other)?;
        let Recovery { share, bounds } = of_reference.recovered.get(&pair.row)?;
        let [low, high] = bounds;
        of_reference.is_known().then(|| format!("{share:.2} ({low:.2} to {high:.2})"))
    }

    /// What smaller budgets of trials would have found on average, on held-out training data; `None` if trials were not all trained to
    /// their end.
    pub(crate) fn budgets(&self) -> Option<Parts> {
        if self.search != Search::Random || self.budget < 2 {
            return None;
        }
        let mut budgets: Vec<usize> = std::iter::successors(Some(1), |budget| Some(2 * budget))
            .take_while(|budget| *budget < self.budget)
            .collect();
        budgets.push(self.budget);
        let row = |row: &RowResult| {
            let expected = budgets.iter().map(|&budget| row.expected_best(budget));
            let cells = expected.map(|figure| figure.map_or(String::new(), |figure| format!("{figure:.4}")));
            std::iter::once(row.name.clone()).chain(cells).collect()
        };
        let names = budgets.iter().map(|budget| match budget {
            1 => "1 trial".to_owned(),
            budget => format!("best of {budget}"),
        });
        Some(Parts {
            header: std::iter::once("row".to_owned()).chain(names).collect(),
            rows: self.rows.iter().map(row).collect(),
        })
    }

    /// Cautions for readers of the table.
    pub(crate) fn cautions(&self) -> Vec<String> {
        let mut cautions = Vec::new();
        for revision in &self.revisions {
            match revision {
                None => cautions.push("The revision of the source that computed these runs is unknown.".to_owned()),
                Some(revision) if revision.ends_with("-dirty") => cautions.push(format!(
                    "Runs were computed by a build of {revision}: its source had changes that are not in that revision."
                )),
                Some(_) => {}
            }
        }
        if self.revisions.len() > 1 {
            let revisions: Vec<&str> = self
                .revisions
                .iter()
                .map(|revision| revision.as_deref().unwrap_or("unknown"))
                .collect();
            cautions.push(format!("Runs were computed by several builds: {}.", revisions.join(", ")));
        }
        if let [earlier @ .., _] = self.looks.as_slice()
            && !earlier.is_empty()
        {
            let earlier: Vec<String> = earlier
                .iter()
                .map(|look| {
                    let build = look
                        .git_revision
                        .as_deref()
                        .map_or_else(String::new, |revision| format!(", build {revision}"));
                    format!("`{}` ({} seeds{build})", look.command, look.seeds)
                })
                .collect();
            cautions.push(format!("The test set was looked at before: {}.", earlier.join("; ")));
        }
        cautions.extend(self.unequal_search());
        for row in &self.rows {
            for (seed, problem) in &row.failed {
                cautions.push(format!("{}, seed {seed}, has no metrics: {problem}", row.name));
            }
            let Some(most) = row.epochs_at_most else { continue };
            let cut_short = row.epochs.iter().filter(|&&epochs| epochs >= most).count();
            if cut_short > 0 {
                cautions.push(format!(
                    "{} was best after the last of {most} epochs with {cut_short} of {} seeds: longer training may change it.",
                    row.name,
                    row.epochs.len()
                ));
            }
        }
        cautions
    }

    /// Which rows had trials, unless all had.
    fn whose_rows(&self) -> &'static str {
        if self.rows.iter().any(|row| row.space.0.is_empty()) {
            " with parameters to search"
        } else {
            ""
        }
    }

    /// Says so if rows were searched in spaces of unequal size, and how much each row's search would still have gained.
    fn unequal_search(&self) -> Option<String> {
        let sizes: Vec<usize> = self.rows.iter().map(|row| row.space.0.len()).collect();
        if self.budget < 2 || sizes.iter().all(|size| *size == sizes[0]) {
            return None;
        }
        // Successive halving has no expected best of fewer trials.
        let is_random = self.search == Search::Random;
        let half = self.budget / 2;
        let gain = |row: &RowResult| Some(row.expected_best(self.budget)? - row.expected_best(half)?);
        let rows = self.rows.iter().map(|row| {
            let gain = gain(row).filter(|_| is_random);
            let gain = gain.map_or(String::new(), |gain| format!(" (+{gain:.4})"));
            format!("{} {}{gain}", row.name, row.space.0.len())
        });
        let rows = rows.collect::<Vec<_>>().join(", ");
        let rose = if is_random {
            format!(
                ", in brackets how much their expected best on held-out data rose from {half} to {} trials",
                self.budget
            )
        } else {
            String::new()
        };
        Some(format!(
            "Each row{} had {} trials, but not the same number of parameters to search{rose}: {rows}.",
            self.whose_rows(),
            self.budget
        ))
    }

    /// Formats the table as Markdown.
    pub fn to_markdown(&self) -> String {
        let environment = &self.environment;
        let revision = environment.git_revision.as_ref().map(|of| format!(" ({of})"));
        let place = format!(
            "`{}`, bcl {}{}, {} on {}\n",
            self.command,
            environment.version,
            revision.unwrap_or_default(),
            environment.backend,
            environment.device
        );
        let heading = |title: &str| format!("## {title}\n");
        let sections = [
            format!("# {}\n", self.title),
            list(&self.verdict),
            format!("{}\n", self.protocol()),
            self.main().markdown(),
            list(&self.cautions()),
            heading("Settings"),
            self.tuned().markdown(),
            self.budgets()
                .map(|budgets| heading("Expected best of fewer trials, on held-out training data") + "\n" + &budgets.markdown())
                .unwrap_or_default(),
            heading("Pairs"),
            self.compared().markdown(),
            heading("Deviations from the paper"),
            list(&self.deviations),
            place,
        ];
        sections
            .into_iter()
            .filter(|section| !section.is_empty())
            .collect::<Vec<_>>()
            .join("\n")
    }
}

impl fmt::Display for TableResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.title)?;
        let budgets = self.budgets().map(|budgets| (budgets, 1));
        for (parts, words) in [(self.main(), 1), (self.tuned(), 2), (self.compared(), 1)]
            .into_iter()
            .chain(budgets)
        {
            parts.table(words).fmt(f)?;
            writeln!(f)?;
        }
        for sentence in self.verdict.iter().chain(&self.cautions()) {
            writeln!(f, "{sentence}")?;
        }
        write!(f, "\n{}", self.protocol())?;
        for sentence in &self.deviations {
            write!(f, "\n- {sentence}")?;
        }
        Ok(())
    }
}

/// The value in the middle of sorted ones, or the mean of the two in the middle.
fn median(sorted: &[f64]) -> f64 {
    let (below, above) = (sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
    f64::midpoint(below, above)
}

/// Formats sentences as a Markdown list.
fn list(sentences: &[String]) -> String {
    let mut text = String::new();
    for sentence in sentences {
        text += &["- ", sentence, "\n"].concat();
    }
    text
}

impl Parts {
    /// The table for the terminal. The first `words` columns are text, the others numbers.
    pub(super) fn table(self, words: usize) -> Table {
        let (texts, numbers) = self.header.split_at(words);
        Table::new(Column::list(texts, numbers), self.rows)
    }

    fn markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let rule = format!("|{}\n", " --- |".repeat(self.header.len()));
        line(&self.header) + &rule + &self.rows.iter().map(|row| line(row)).collect::<String>()
    }
}
