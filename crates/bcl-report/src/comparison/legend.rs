//! Explains the columns, as sentences below the tables.

use super::{Choice, Comparison, DataTable, Epochs, Row, RowKind};
use crate::{
    result::{CALIBRATION_ERROR, DataSize},
    units,
};
use std::collections::BTreeSet;

impl Comparison {
    /// Explains the choices of epoch, intervals and seeds that occur in the tables, and repeats [`notes`](Self::notes).
    pub fn legend(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.tables.is_empty() {
            return lines;
        }
        let of_images = |table: &DataTable| matches!(table.data.size, DataSize::Images { .. });
        let of_graphs = |table: &DataTable| matches!(table.data.size, DataSize::Graphs { .. });
        if self.tables.iter().any(|table| table.epochs == Epochs::Chosen) {
            lines.push(
                "validation: test metrics at the epoch chosen on the validation set, after refitting on all training data."
                    .to_owned(),
            );
        }
        let probed_images = |table: &DataTable| of_images(table) && table.data.size.can_be_evaluated();
        let unlabelled = |table: &DataTable| !table.data.size.can_be_evaluated();
        if self.tables.iter().any(|table| of_images(table) && unlabelled(table)) {
            lines.push(
                "Without labelled test images, the quality of the features cannot be measured. alignment: mean squared distance between \
                 two views of an image; uniformity: log of the mean Gaussian potential over all pairs of images. Both use test images, or \
                 training images if there are none."
                    .to_owned(),
            );
        }
        let probed = |epochs| self.tables.iter().any(|table| table.epochs == epochs && probed_images(table));
        if probed(Epochs::Last) {
            lines.push(
                "last epoch: test metrics of frozen features after the last epoch; nothing was chosen on the test set."
                    .to_owned(),
            );
        }
        if probed(Epochs::Mixed) {
            lines.push(
                "last or chosen epoch: test metrics of frozen features after the last epoch, or with selection.held_out at the epoch \
                 chosen on the validation set, after refitting on all training data; nothing was chosen on the test set."
                    .to_owned(),
            );
        }
        if self.tables.iter().any(|table| of_graphs(table) && unlabelled(table)) {
            lines.push("Without graph labels, the quality of the vectors cannot be measured. loss: mean training loss of the last epoch.".to_owned());
        }
        if self.tables.iter().any(|table| of_graphs(table) && !unlabelled(table)) {
            lines.push(
                "Graphs: mean accuracy over the test folds of a cross-validation, with the encoder of the last epoch. Settings of the \
                 classifier are chosen within the training folds. The encoder has seen all graphs, and their classes only with the supervised loss."
                    .to_owned(),
            );
        }
        let has_oracle = self.tables.iter().any(|table| table.has(Choice::Oracle));
        if has_oracle {
            lines.push(
                "oracle: test metrics at the epoch that is best on the test set itself. Too optimistic; shown for comparison with papers \
                 that report it."
                    .to_owned(),
            );
        }
        if self.metrics.iter().any(|metric| metric == CALIBRATION_ERROR) {
            lines.push(format!(
                "{CALIBRATION_ERROR}: P(TN|x) calibration error, the mean difference between the predicted and the observed share of true \
                 negatives after the last epoch. Without a posterior and detected clusters there is none."
            ));
        }
        lines.extend(self.seeds());
        if has_oracle && self.all_rows().any(|row| row.kind == RowKind::Baseline) {
            lines.push("Baselines have no epochs to choose from, so both columns show the same values.".to_owned());
        }
        lines.extend(self.notes.iter().cloned());
        lines
    }

    fn all_rows(&self) -> impl Iterator<Item = &Row> {
        self.tables.iter().flat_map(|table| &table.rows)
    }

    /// Explains the number of seeds and their intervals.
    fn seeds(&self) -> Vec<String> {
        let recipes = || self.all_rows().filter(|row| row.kind == RowKind::Recipe);
        let counts: BTreeSet<usize> = recipes().map(|row| row.seeds.len()).collect();
        let distinct: BTreeSet<&[u64]> = recipes().map(|row| row.seeds.as_slice()).collect();
        let mut lines = Vec::new();
        if let Some(&most) = counts.last().filter(|&&most| most > 1) {
            let seeds = match distinct.first() {
                Some(seeds) if distinct.len() == 1 => format!("{most} seeds ({})", units::numbers(seeds)),
                _ => "the seeds of each row".to_owned(),
            };
            lines.push(format!(
                "±: {} % confidence interval of the mean over {seeds} (Student's t).",
                units::count((self.confidence * 100.0).round() as usize)
            ));
        }
        if counts.contains(&1) {
            lines.push("A single seed has no interval: a difference from it may be chance.".to_owned());
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::super::Comparison;
    use crate::sample;

    fn legend_of(seeds: &[(&str, u64)]) -> String {
        let runs: Vec<_> = seeds
            .iter()
            .map(|&(name, seed)| sample::run(name, "info_nce", seed).0)
            .collect();
        Comparison::new(&runs, &["ndcg@20".to_owned()]).legend().join("\n")
    }

    #[test]
    fn the_legend_says_what_the_choices_mean_and_how_many_seeds_there_are() {
        let legend = legend_of(&[("a", 4), ("a", 5)]);
        assert!(legend.contains("validation: test metrics at the epoch"));
        assert!(legend.contains("Too optimistic"));
        assert!(legend.contains("95 % confidence interval of the mean over 2 seeds (4, 5)"));
        assert!(!legend.contains("single seed"));
    }

    #[test]
    fn one_seed_has_a_note_instead_of_an_interval() {
        let legend = legend_of(&[("a", 4)]);
        assert!(legend.contains("A single seed has no interval") && !legend.contains('±'));
        let legend = legend_of(&[("a", 4), ("bb", 4), ("bb", 5)]);
        assert!(legend.contains("A single seed has no interval") && legend.contains("the seeds of each row"));
    }

    #[test]
    fn without_an_oracle_the_legend_does_not_mention_it() {
        let (mut run, _) = sample::run("a", "info_nce", 0);
        run.oracle = None;
        let legend = Comparison::new([&run], &["ndcg@20".to_owned()]).legend().join("\n");
        assert!(!legend.contains("oracle:"));
    }
}
