//! What the script for PyTorch prints, beside this program's times.

use crate::timing::{Benchmark, duration};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A line of the script: the time of one batch size.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Measured {
    batch_size: usize,
    /// `InfoNCE`, forward and backward, or a training step without making views.
    median_ms: Option<f64>,
    first_seconds: Option<f64>,
    /// Peak of the allocated memory in MiB.
    peak_mib: Option<f64>,
    /// Why there is no time.
    note: Option<String>,
}

/// What the script printed, beside this program's times for the same work; the last line may be cut off.
pub(super) fn beside(printed: &str, ours: Option<&Value>) -> (String, Option<Value>) {
    let measured: Vec<Measured> = printed.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let ours: Option<Benchmark> = ours.and_then(|ours| serde_json::from_value(ours.clone()).ok());
    let line = |theirs: &Measured| {
        let batch = theirs.batch_size;
        let Some(ms) = theirs.median_ms else {
            return format!("B = {batch}: {}", theirs.note.as_deref().unwrap_or("no time"));
        };
        let shown = format!("B = {batch}: {}", duration(1e-3 * ms));
        match ours.as_ref().and_then(|ours| same_work(ours, batch)) {
            Some(seconds) => format!(
                "{shown}; bcl takes {}, {:.2} times as long",
                duration(seconds),
                1e3 * seconds / ms
            ),
            None => shown,
        }
    };
    let lines: Vec<String> = measured.iter().map(line).collect();
    let report = serde_json::to_value(&measured).expect("plain data");
    (lines.join("\n"), (!measured.is_empty()).then_some(report))
}

/// This program's time for the same work, which makes views before a step and not within it.
fn same_work(ours: &Benchmark, batch_size: usize) -> Option<f64> {
    let names = [format!("info_nce batch {batch_size}"), "info_nce".to_owned()];
    let case = ours.measurements.iter().find(|one| names.contains(&one.name))?;
    let part = |name: &str| Some(case.parts.iter().find(|part| part.name == name)?.seconds.median);
    let whole = case.seconds?.median;
    // A difference of medians is not the median of the differences, so it only stands in for a part that was not timed.
    Some(part("without data").unwrap_or_else(|| whole - part("data").unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timing::Environment;
    use serde_json::json;

    #[test]
    fn printed_lines_are_compared_with_info_nce_of_the_same_batch() {
        let printed = "{\"batch_size\": 256, \"median_ms\": 0.5, \"first_seconds\": 1.25, \"peak_mib\": 12.5}\n\
                       {\"batch_size\": 1024, \"note\": \"out of memory\"}\n{\"batch_si";
        let spread = |seconds: f64| json!({ "median": seconds, "least": seconds, "most": seconds });
        let case = |name: &str, seconds: f64| json!({ "name": name, "seconds": spread(seconds) });
        let ours = |cases: Value| json!({ "verb": "loss", "environment": Environment::read(1), "settings": {}, "measurements": cases, "notes": [] });
        let loss = ours(json!([case("hard batch 256", 9.0), case("info_nce batch 256", 0.001_566)]));
        let (text, report) = beside(printed, Some(&loss));
        assert_eq!(
            text,
            "B = 256: 500 µs; bcl takes 1.57 ms, 3.13 times as long\nB = 1024: out of memory"
        );
        assert_eq!(report.unwrap().as_array().unwrap().len(), 2);

        let mut step = case("info_nce", 0.003);
        step["parts"] = json!([{ "name": "data", "seconds": spread(0.002) }]);
        let (text, _) = beside(printed, Some(&ours(json!([step.clone()]))));
        assert!(text.starts_with("B = 256: 500 µs; bcl takes 1.00 ms, 2.00 times"), "{text}");
        step["parts"] =
            json!([{ "name": "data", "seconds": spread(0.002) }, { "name": "without data", "seconds": spread(0.000_75) }]);
        let (text, _) = beside(printed, Some(&ours(json!([step]))));
        assert!(text.starts_with("B = 256: 500 µs; bcl takes 750 µs, 1.50 times"), "{text}");
        assert_eq!(beside("nothing", None), (String::new(), None));
    }
}
