//! What the script for PyTorch prints.

use serde::{Deserialize, Serialize};
use std::{fs, path::Path};

/// The time of one batch size in PyTorch.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct TorchMeasurement {
    /// Samples per batch.
    pub batch_size: usize,
    /// Median time in milliseconds: of `InfoNCE`, forward and backward, or of a training step without making views.
    pub median_ms: Option<f64>,
    /// Time of the first call in seconds.
    pub first_seconds: Option<f64>,
    /// Peak of the allocated memory in MiB.
    pub peak_mib: Option<f64>,
    /// Why there is no time.
    pub note: Option<String>,
}

impl TorchMeasurement {
    /// Reads the lines that the script printed; the last may be cut off.
    pub(super) fn read(stdout: &Path) -> Option<Vec<Self>> {
        let text = fs::read_to_string(stdout).ok()?;
        let measurements: Vec<Self> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        (!measurements.is_empty()).then_some(measurements)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the script prints.
    const PRINTED: &str = "\
{\"batch_size\": 256, \"median_ms\": 0.54, \"first_seconds\": 1.25, \"peak_mib\": 12.5}
{\"batch_size\": 1024, \"note\": \"out of memory\"}
{\"batch_si";

    #[test]
    fn printed_lines_are_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(&file, PRINTED).unwrap();
        let read = TorchMeasurement::read(file.path()).unwrap();
        let [measured, failed] = &read[..] else { panic!() };
        let wanted = TorchMeasurement {
            batch_size: 256,
            median_ms: Some(0.54),
            first_seconds: Some(1.25),
            peak_mib: Some(12.5),
            note: None,
        };
        assert_eq!(measured, &wanted);
        assert_eq!(
            (failed.batch_size, failed.median_ms, failed.note.as_deref()),
            (1024, None, Some("out of memory"))
        );
        assert_eq!(TorchMeasurement::read(Path::new("no such file")), None);
    }
}
