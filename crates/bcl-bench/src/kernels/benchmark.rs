//! Kernel times as a table and as JSON.

use super::{Pass, Timing};
use crate::{Spread, environment::Environment};
use bcl_report::{Column, Table};
use serde::{Deserialize, Serialize};
use std::fmt;

/// All measurements of a run.
#[derive(Debug, Serialize, Deserialize)]
pub struct KernelBenchmark {
    /// Machine and build.
    pub environment: Environment,
    /// One entry per kernel, size and pass.
    pub measurements: Vec<KernelMeasurement>,
}

/// The time of one kernel at one size.
#[derive(Debug, Serialize, Deserialize)]
pub struct KernelMeasurement {
    /// Name of the function.
    pub kernel: String,
    /// Sizes of its inputs.
    pub size: String,
    /// Which passes were measured.
    pub pass: Pass,
    /// The times, if measured.
    #[serde(flatten)]
    pub timing: Option<Timing>,
    /// Why there are no times.
    pub note: Option<String>,
}

impl fmt::Display for KernelBenchmark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = ["kernel", "size", "pass"].map(Column::text);
        let numbers = ["ms", "portable ms", "ratio", "least", "most", "rounds", "repetitions"].map(Column::number);
        let rows = self.measurements.iter().map(KernelMeasurement::cells);
        Table::new(names.into_iter().chain(numbers), rows).fmt(f)?;
        writeln!(f)?;
        for measurement in &self.measurements {
            if let Some(note) = &measurement.note {
                writeln!(f, "{} {}: {note}", measurement.kernel, measurement.size)?;
            }
        }
        let environment = &self.environment;
        write!(
            f,
            "Median times; the ratio is the time of the same function in Burn's own operations over that of the kernel, with the least and the \
             most of all rounds. {}, {environment}, {} threads.",
            environment.backend, environment.threads
        )
    }
}

impl KernelMeasurement {
    fn cells(&self) -> Vec<String> {
        let mut cells = vec![self.kernel.clone(), self.size.clone(), self.pass.to_string()];
        match &self.timing {
            Some(timing) => {
                cells.extend([timing.kernel_ms, timing.portable_ms].map(|ms| format!("{:.3}", ms.median)));
                let Spread { median, least, most } = timing.ratio;
                cells.extend([median, least, most].map(|ratio| format!("{ratio:.2}")));
                cells.extend([timing.rounds, timing.repetitions].map(|count| count.to_string()));
            }
            None => cells.resize(10, "-".to_owned()),
        }
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unmeasured_losses_have_dashes_and_a_note() {
        let measurement = |timing: Option<Timing>, note: Option<&str>| KernelMeasurement {
            kernel: "mass".to_owned(),
            size: "[8, 6]".to_owned(),
            pass: Pass::Gradients,
            timing,
            note: note.map(str::to_owned),
        };
        let timing = Timing {
            kernel_ms: Spread::of(&[1.0, 0.9, 3.0]),
            portable_ms: Spread::of(&[2.5]),
            ratio: Spread::of(&[2.5, 2.25, 2.75]),
            rounds: 5,
            repetitions: 10,
        };
        let benchmark = KernelBenchmark {
            environment: Environment::read(1),
            measurements: vec![measurement(Some(timing), None), measurement(None, Some("skipped: too large"))],
        };
        let text = benchmark.to_string();
        assert!(
            text.contains("mass    [8, 6]  with gradients  1.000        2.500   2.50   2.25  2.75       5           10"),
            "{text}"
        );
        assert!(text.contains("mass [8, 6]: skipped: too large"), "{text}");
        let json = serde_json::to_value(&benchmark).expect("plain data");
        assert_eq!(json["measurements"][0]["ratio"]["median"], 2.5);
        assert!(json["measurements"][1].get("ratio").is_none());
    }
}
