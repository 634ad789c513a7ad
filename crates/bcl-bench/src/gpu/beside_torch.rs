//! Compares the times of this program with PyTorch's.

use super::{JobReport, TorchMeasurement};

impl TorchMeasurement {
    /// The time beside this program's, which makes views before a step and not within it.
    pub(super) fn beside(&self, ours: Option<&JobReport>) -> String {
        let ours = ours.and_then(|ours| self.same(ours));
        let batch = self.batch_size;
        match (self.median_ms, ours) {
            (Some(theirs), Some(ours)) => {
                let ratio = times(ours / theirs);
                format!("B = {batch}: {theirs:.2} ms; bcl takes {ours:.2} ms, {ratio} times as long")
            }
            (Some(theirs), None) => format!("B = {batch}: {theirs:.2} ms"),
            (None, _) => format!("B = {batch}: {}", self.note.as_deref().unwrap_or("no time")),
        }
    }

    /// This program's time for the same work in milliseconds.
    fn same(&self, ours: &JobReport) -> Option<f64> {
        const LOSS: &str = "info_nce";
        match ours {
            JobReport::Loss(benchmark) => {
                let mut of_loss = benchmark.measurements.iter().filter(|one| one.loss == LOSS);
                of_loss.find(|one| one.batch_size == self.batch_size)?.median_ms
            }
            JobReport::Step(benchmark) => {
                let step = benchmark.measurements.iter().find(|one| one.name == LOSS)?;
                Some(1e3 * (step.step.median - step.seconds.data))
            }
            _ => None,
        }
    }
}

/// A ratio with two or more digits.
fn times(ratio: f64) -> String {
    let digits = [1.0, 10.0].into_iter().filter(|limit| ratio < *limit).count();
    format!("{ratio:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const THEIRS: TorchMeasurement = TorchMeasurement {
        batch_size: 256,
        median_ms: Some(0.54),
        first_seconds: Some(1.25),
        peak_mib: Some(12.5),
        note: None,
    };

    #[test]
    fn a_loss_is_compared_with_info_nce_of_the_same_batch() {
        let entry = |loss: &str, batch: u32, ms: f64| {
            json!({
                "loss": loss, "batch_size": batch, "num_negatives": 2 * batch - 2, "median_ms": ms, "repetitions": 3,
                "to_info_nce": null, "extra_mib": null, "note": null, "failed": false,
            })
        };
        let environment = serde_json::to_value(crate::Environment::read(1)).unwrap();
        let measurements = json!([
            entry("info_nce", 64, 9.0),
            entry("hard", 256, 9.0),
            entry("info_nce", 256, 1.566)
        ]);
        let benchmark = json!({ "environment": environment, "dim": 8, "measurements": measurements, "growth": [] });
        let ours = JobReport::Loss(serde_json::from_value(benchmark).unwrap());
        assert_eq!(
            THEIRS.beside(Some(&ours)),
            "B = 256: 0.54 ms; bcl takes 1.57 ms, 2.9 times as long"
        );
    }

    #[test]
    fn one_side_of_a_comparison_may_be_missing() {
        assert_eq!(THEIRS.beside(Some(&JobReport::Training(Vec::new()))), "B = 256: 0.54 ms");
        let failed = TorchMeasurement {
            median_ms: None,
            note: Some("out of memory".to_owned()),
            ..THEIRS
        };
        assert_eq!(failed.beside(None), "B = 256: out of memory");
    }

    #[test]
    fn ratios_have_two_or_more_digits() {
        assert_eq!([161.92, 2.94, 0.851].map(times), ["162", "2.9", "0.85"]);
    }
}
