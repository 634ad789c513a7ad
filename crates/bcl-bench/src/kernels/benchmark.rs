//! Kernel times as a table and as JSON.

use super::{Pass, Timing};
use crate::{Spread, environment::Environment, matrix_product};
use bcl_report::{Column, Table};
use serde::{Deserialize, Serialize};
use std::fmt;

/// All measurements of a run.
#[derive(Debug, Serialize, Deserialize)]
pub struct KernelBenchmark {
    /// Machine and build.
    pub environment: Environment,
    /// The rate of a product of two matrices with 1,024 rows and columns in GFLOP/s, if rates were measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub product_gflops: Option<f64>,
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
    /// Floating-point operations by the kernel's definition over its median time, in GFLOP/s. An algorithm with fewer multiplications
    /// exceeds what the device can do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gflops: Option<f64>,
    /// Why there are no times.
    pub note: Option<String>,
}

impl fmt::Display for KernelBenchmark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = ["kernel", "size", "pass"].map(Column::text);
        let numbers = [
            "ms",
            "portable ms",
            "ratio",
            "least",
            "most",
            "rounds",
            "repetitions",
            "GFLOP/s",
            "% of product",
        ]
        .map(Column::number);
        let rows = self
            .measurements
            .iter()
            .map(|measurement| measurement.cells(self.product_gflops));
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
            "Median times; the ratio is the time of Burn's own operations, divided by the kernel's time, with the least and the most of all \
             rounds. {}, {environment}, {} threads.",
            environment.backend, environment.threads
        )?;
        if let Some(product) = self.product_gflops {
            write!(
                f,
                " Rates count operations as defined; a matrix product of size {} reaches {product:.0} GFLOP/s.",
                matrix_product::SIZE
            )?;
        }
        Ok(())
    }
}

impl KernelMeasurement {
    /// Its row of the table. `product` is the rate of a matrix product.
    fn cells(&self, product: Option<f64>) -> Vec<String> {
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
        let share = self.gflops.zip(product).map(|(rate, product)| 100.0 * rate / product);
        cells.extend([self.gflops, share].map(|number| number.map_or("-".to_owned(), |number| format!("{number:.0}"))));
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
            gflops: timing.map(|_| 50.0),
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
            product_gflops: Some(200.0),
            measurements: vec![measurement(Some(timing), None), measurement(None, Some("skipped: too large"))],
        };
        let text = benchmark.to_string();
        assert!(
            text.contains("mass    [8, 6]  with gradients  1.000        2.500   2.50   2.25  2.75       5           10       50            25"),
            "{text}"
        );
        assert!(text.contains("mass [8, 6]: skipped: too large"), "{text}");
        assert!(text.ends_with("a matrix product of size 1024 reaches 200 GFLOP/s."), "{text}");
        let json = serde_json::to_value(&benchmark).expect("plain data");
        assert_eq!(json["measurements"][0]["ratio"]["median"], 2.5);
        assert!(json["measurements"][1].get("ratio").is_none());
    }
}
