//! What fine-tuning measured: its file and its table.

use bcl_eval::probe::TopK;
use bcl_report::result::{Environment, Metrics};
use serde::Serialize;

/// Accuracy on the test images of a network or a probe, and the time that training took.
#[derive(Debug, Clone, Copy)]
pub struct Measured {
    /// Its name among the metrics.
    pub name: &'static str,
    /// What it is, in words.
    pub about: &'static str,
    /// Accuracy on the test images.
    pub accuracy: TopK,
    /// Seconds of training.
    pub seconds: f64,
}

/// The content of `fine-tuning.json`.
#[derive(Debug, Clone, Serialize)]
pub struct FineTuning {
    /// Version of this layout.
    pub schema: u32,
    /// Name of the run.
    pub name: String,
    /// Hash of its recipe.
    pub recipe_hash: String,
    /// Seed of fine-tuning.
    pub seed: u64,
    /// The program, the backend and the device.
    pub environment: Environment,
    /// Name of the data set.
    pub data: String,
    /// Fraction of the training labels.
    pub fraction: f64,
    /// Number of labels.
    pub labels: usize,
    /// Number of test images.
    pub test_images: usize,
    /// Passes over the labelled images.
    pub epochs: usize,
    /// Images per batch.
    pub batch_size: usize,
    /// Peak learning rate.
    pub learning_rate: f64,
    /// Top-1 and, with more than five classes, top-5 accuracy on test, such as `fine_tuned_top1`.
    pub metrics: Metrics,
    /// Seconds of training, by the same names.
    pub seconds: Metrics,
    /// The rows of the table.
    #[serde(skip)]
    pub rows: Vec<Measured>,
}

impl FineTuning {
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
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a record is plain data") + "\n"
    }
}
