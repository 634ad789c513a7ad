//! Summarises the JSON reports of the programs in a few lines each. A report may be incomplete; missing entries are left out.

use serde_json::Value;

/// The numbers under `key`, one per entry that has one.
fn numbers(list: &[Value], key: &str) -> Vec<f64> {
    list.iter().filter_map(|entry| entry[key].as_f64()).collect()
}

fn list<'a>(report: &'a Value, key: &str) -> &'a [Value] {
    report[key].as_array().map_or(&[], Vec::as_slice)
}

fn text<'a>(entry: &'a Value, key: &str) -> &'a str {
    entry[key].as_str().unwrap_or_default()
}

/// The distinct strings under `key`, in order.
fn each_once<'a>(list: &'a [Value], key: &str) -> Vec<&'a str> {
    let mut names = Vec::new();
    for name in list.iter().filter_map(|entry| entry[key].as_str()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Summarises `devices`: name, memory and precisions of each device.
pub(super) fn devices(report: &Value) -> Vec<String> {
    let line = |device: &Value| {
        let memory = device["memory_bytes"]
            .as_f64()
            .map(|bytes| format!("{:.0} GiB", bytes / f64::from(1 << 30)));
        let precisions = list(device, "precisions").iter().filter_map(Value::as_str);
        let words = [
            Some(text(device, "name").to_owned()),
            memory,
            Some(precisions.collect::<Vec<_>>().join(" ")),
        ];
        format!(
            "{} {}: {}",
            text(device, "backend"),
            device["index"],
            words.into_iter().flatten().collect::<Vec<_>>().join(", ")
        )
    };
    list(report, "devices").iter().map(line).collect()
}

/// Summarises `parity`: how many comparisons exceed their tolerance.
pub(super) fn parity(report: &Value) -> Vec<String> {
    let (cases, rows) = (list(report, "estimators"), list(report, "weights"));
    let line = |precision: &str| {
        let of = |list: &[Value], key: &str| -> u64 {
            let entries = list.iter().filter(|entry| entry["precision"] == precision);
            entries.filter_map(|entry| entry[key].as_u64()).sum()
        };
        let rounded = of(cases, "rounded");
        format!(
            "{precision}: {} cases and {} rows of weights, {} out of tolerance{}",
            of(cases, "cases"),
            of(rows, "rows"),
            of(cases, "failed") + of(rows, "failed"),
            if rounded > 0 {
                format!(", {rounded} because of rounding only")
            } else {
                String::new()
            }
        )
    };
    let mut precisions = each_once(cases, "precision");
    precisions.extend(
        each_once(rows, "precision")
            .into_iter()
            .filter(|precision| each_once(cases, "precision").iter().all(|known| known != precision)),
    );
    precisions.into_iter().map(line).collect()
}

/// Summarises `kernels`: how much slower the portable version of each kernel is.
pub(super) fn kernels(report: &Value) -> Vec<String> {
    let all = list(report, "measurements");
    let line = |kernel: &str| {
        let of: Vec<Value> = all.iter().filter(|entry| entry["kernel"] == kernel).cloned().collect();
        let mut ratios = numbers(&of, "ratio");
        ratios.sort_by(f64::total_cmp);
        let (least, most) = (ratios.first()?, ratios.last()?);
        let slowest = of.iter().filter(|entry| entry["kernel_ms"].is_f64()).max_by(|left, right| {
            let milliseconds = |entry: &Value| entry["kernel_ms"].as_f64().unwrap_or_default();
            milliseconds(left).total_cmp(&milliseconds(right))
        })?;
        let milliseconds = slowest["kernel_ms"].as_f64()?;
        Some(format!(
            "{kernel}: {milliseconds:.3} ms at {}; portable takes {least:.1} to {most:.1} times as long",
            text(slowest, "size")
        ))
    };
    each_once(all, "kernel").into_iter().filter_map(line).collect()
}

/// Summarises `loss`: the cost of each loss at the largest batch measured, and how it grows.
pub(super) fn losses(report: &Value) -> Vec<String> {
    let all = list(report, "measurements");
    let line = |growth: &Value| {
        let loss = text(growth, "loss");
        let measured = all
            .iter()
            .filter(|entry| entry["loss"] == loss && entry["median_ms"].is_f64());
        let largest = measured.max_by_key(|entry| entry["batch_size"].as_u64())?;
        let exponent = |key: &str, name: &str| growth[key].as_f64().map(|power| format!(", {name} ~ N^{power:.2}"));
        let relative = largest["to_info_nce"].as_f64().filter(|_| loss != "info_nce");
        Some(format!(
            "{loss}: {:.1} ms at B = {}{}{}{}",
            largest["median_ms"].as_f64()?,
            largest["batch_size"],
            relative.map_or(String::new(), |ratio| format!(", {ratio:.2} x InfoNCE")),
            exponent("time_at_the_end", "time").unwrap_or_default(),
            exponent("memory_at_the_end", "memory").unwrap_or_default()
        ))
    };
    list(report, "growth").iter().filter_map(line).collect()
}

/// Summarises `step`: the time per step and the loss's share of it.
pub(super) fn steps(report: &Value) -> Vec<String> {
    let line = |entry: &Value| {
        let milliseconds = 1e3 * entry["step"]["median"].as_f64()?;
        let share = 100.0 * entry["loss_share"].as_f64()?;
        Some(format!(
            "{} {milliseconds:.1} ms per step, {share:.2} % of it in the loss",
            text(entry, "loss")
        ))
    };
    list(report, "measurements").iter().filter_map(line).collect()
}

/// The metrics that a short training reports, with their labels.
const FIGURES: [(&str, &str); 3] = [("probe_top1", "probe"), ("knn_top1", "neighbours"), ("ndcg@20", "NDCG@20")];

/// Summarises a training run: its last epoch and its final metrics.
pub(super) fn training(report: &Value) -> Vec<String> {
    let epochs = list(report, "epochs");
    let last = epochs.last().and_then(|epoch| {
        let seconds = epoch["train_seconds"].as_f64()?;
        Some(format!("epoch {} ({}): {seconds:.1} s", epochs.len(), text(epoch, "phase")))
    });
    let metrics = &report["result"]["validation"]["metrics"];
    let figure = |(key, name): (&str, &str)| Some(format!("{name} {:.4}", metrics[key].as_f64()?));
    let figures: Vec<String> = FIGURES.into_iter().filter_map(figure).collect();
    let figures = Some(figures.join(", ")).filter(|figures| !figures.is_empty());
    last.into_iter().chain(figures).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_summary_of_parity_is_by_precision() {
        let case = |precision: &str, failed: u32, rounded: u32| json!({"precision": precision, "cases": 10, "failed": failed, "rounded": rounded});
        let row = |precision: &str| json!({"precision": precision, "rows": 4, "failed": 1});
        let report = json!({"estimators": [case("f64", 0, 0), case("f64", 2, 0), case("f32", 0, 3)], "weights": [row("f64"), row("bf16")]});
        assert_eq!(
            parity(&report),
            [
                "f64: 20 cases and 4 rows of weights, 3 out of tolerance",
                "f32: 10 cases and 0 rows of weights, 0 out of tolerance, 3 because of rounding only",
                "bf16: 0 cases and 4 rows of weights, 1 out of tolerance",
            ]
        );
    }

    #[test]
    fn the_summary_of_a_kernel_is_its_slowest_size() {
        let entry = |size: &str, ms: f64, ratio: f64| json!({"kernel": "mass", "size": size, "kernel_ms": ms, "ratio": ratio});
        let report = json!({"measurements": [entry("small", 1.0, 9.0), entry("large", 5.0, 2.0), {"kernel": "mass", "size": "huge", "note": "skipped"}]});
        assert_eq!(
            kernels(&report),
            ["mass: 5.000 ms at large; portable takes 2.0 to 9.0 times as long"]
        );
    }

    #[test]
    fn the_summary_of_a_loss_is_its_largest_batch() {
        let entry =
            |batch: u32, ms: Option<f64>| json!({"loss": "bayesian", "batch_size": batch, "median_ms": ms, "to_info_nce": 1.25});
        let growth = json!([{"loss": "bayesian", "time_at_the_end": 2.0, "memory_at_the_end": null}]);
        let report =
            json!({"measurements": [entry(256, Some(1.0)), entry(4096, Some(30.0)), entry(16384, None)], "growth": growth});
        assert_eq!(
            losses(&report),
            ["bayesian: 30.0 ms at B = 4096, 1.25 x InfoNCE, time ~ N^2.00"]
        );
    }

    #[test]
    fn the_summary_of_a_step_has_the_share_of_its_loss() {
        let report = json!({"measurements": [{"loss": "bayesian", "step": {"median": 0.25}, "loss_share": 0.004}]});
        assert_eq!(steps(&report), ["bayesian 250.0 ms per step, 0.40 % of it in the loss"]);
    }

    #[test]
    fn the_summary_of_a_stopped_training_is_its_last_epoch() {
        let epoch = |phase: &str, seconds: f64| json!({"phase": phase, "epoch": 1, "train_seconds": seconds});
        let epochs = json!([epoch("selection", 9.0), epoch("refit", 4.0)]);
        assert_eq!(
            training(&json!({"epochs": epochs, "result": null})),
            ["epoch 2 (refit): 4.0 s"]
        );
        let result = json!({"validation": {"metrics": {"probe_top1": 0.5, "knn_top1": 0.25}}});
        let report = json!({"epochs": [], "result": result});
        assert_eq!(training(&report), ["probe 0.5000, neighbours 0.2500"]);
        assert!(training(&json!({"epochs": []})).is_empty());
    }

    #[test]
    fn the_summary_of_devices_has_memory_and_precisions() {
        let device = json!({"backend": "cuda", "index": 0, "name": "a GPU", "memory_bytes": 8_589_934_592_u64, "precisions": ["f32", "bf16"]});
        assert_eq!(devices(&json!({"devices": [device]})), ["cuda 0: a GPU, 8 GiB, f32 bf16"]);
    }
}
