//! What fine-tuning measured: its file and its table.

use bcl_eval::probe::TopK;
use bcl_files::printable;
use bcl_report::{
    Column, Table, TextStyle,
    result::{Environment, Metrics},
};
use serde::Serialize;

/// Accuracy on the test images of a network or a probe, and the time that training took.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measured {
    pub(super) name: &'static str,
    /// What it is, in words.
    pub(super) about: &'static str,
    pub(super) accuracy: TopK,
    pub(super) seconds: f64,
}

/// The content of `fine-tuning.json`.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Record {
    /// Version of this layout.
    pub(super) schema: u32,
    /// Name of the run.
    pub(super) name: String,
    /// Hash of its recipe.
    pub(super) recipe_hash: String,
    /// Seed of fine-tuning.
    pub(super) seed: u64,
    /// The program, the backend and the device.
    pub(super) environment: Environment,
    /// Name of the data set.
    pub(super) data: String,
    /// Fraction of the training labels.
    pub(super) fraction: f64,
    /// Number of labels.
    pub(super) labels: usize,
    /// Number of test images.
    pub(super) test_images: usize,
    pub(super) epochs: usize,
    pub(super) batch_size: usize,
    /// Peak learning rate.
    pub(super) learning_rate: f64,
    /// Top-1 and, with more than five classes, top-5 accuracy on test, such as `fine_tuned_top1`.
    pub(super) metrics: Metrics,
    /// Seconds of training, by the same names.
    pub(super) seconds: Metrics,
    /// The rows of the table.
    #[serde(skip)]
    pub(super) rows: Vec<Measured>,
}

impl Record {
    /// Adds a measurement.
    pub(super) fn push(&mut self, measured: Measured) {
        let Measured {
            name, accuracy, seconds, ..
        } = measured;
        self.metrics.insert(format!("{name}_top1"), accuracy.top1);
        let top5 = accuracy.top5.map(|top5| (format!("{name}_top5"), top5));
        self.metrics.extend(top5);
        self.seconds.insert(name.to_owned(), seconds);
        self.rows.push(measured);
    }

    /// The record as a JSON file.
    pub(super) fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a record is plain data") + "\n"
    }

    /// Prints the table.
    pub(super) fn print(&self) {
        println!(
            "{} on {} labels ({} %) of {}: accuracy on {} test images",
            self.name,
            self.labels,
            (self.fraction * 1e8).round() / 1e6,
            printable(&self.data),
            self.test_images
        );
        let has_top5 = self.rows.iter().any(|row| row.accuracy.top5.is_some());
        let titles = [Some("top-1"), has_top5.then_some("top-5"), Some("seconds")];
        let columns = std::iter::once(Column::text("")).chain(titles.into_iter().flatten().map(Column::number));
        let rows = self.rows.iter().map(|row| {
            let top5 = row.accuracy.top5.map(|top5| format!("{top5:.4}"));
            let figures = [
                Some(format!("{:.4}", row.accuracy.top1)),
                top5,
                Some(format!("{:.1}", row.seconds)),
            ];
            std::iter::once(row.about.to_owned())
                .chain(figures.into_iter().flatten())
                .collect::<Vec<_>>()
        });
        print!("{}", Table::new(columns, rows).render(&TextStyle::of_stdout()));
    }
}
