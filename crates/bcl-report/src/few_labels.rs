//! Names of the metrics of linear probes on a fraction of the training labels.

/// Millionths of a percent per unit: names tell fractions apart that differ by at least this much.
const RESOLUTION: f64 = 1e8;

/// The name of a linear probe on a fraction of the training labels; its metrics have `_top1` and `_top5` behind it.
///
/// ```
/// use bcl_report::few_labels_probe;
///
/// assert_eq!([0.01, 0.1, 0.0025].map(few_labels_probe), ["probe_1%", "probe_10%", "probe_0.25%"]);
/// ```
pub fn few_labels_probe(fraction: f64) -> String {
    format!("probe_{}%", (fraction * RESOLUTION).round() * 100.0 / RESOLUTION)
}

/// The percentage of labels as text, if a metric is of a linear probe on a fraction of them.
pub(super) fn percentage(metric: &str) -> Option<&str> {
    let (percentage, top) = metric.strip_prefix("probe_")?.split_once("%_")?;
    let is_number = percentage.parse::<f64>().is_ok_and(f64::is_finite);
    (is_number && ["top1", "top5"].contains(&top)).then_some(percentage)
}

/// Sort key among the metrics of linear probes: fewer labels first, all labels before them.
pub(super) fn order(metric: &str) -> u64 {
    let percentage = percentage(metric).and_then(|text| text.parse::<f64>().ok());
    percentage.map_or(0, |percentage| {
        2 * (percentage * RESOLUTION).round() as u64 + u64::from(metric.ends_with("top5"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_are_short_and_read_back() {
        for (fraction, text) in [
            (0.07, "7"),
            (0.29, "29"),
            (0.001, "0.1"),
            (1e-6, "0.0001"),
            (1.0 / 3.0, "33.333333"),
        ] {
            let name = few_labels_probe(fraction);
            assert_eq!(name, format!("probe_{text}%"));
            assert_eq!(percentage(&format!("{name}_top5")), Some(text));
        }
        for other in [
            "probe_top1",
            "probe_x%_top1",
            "probe_1%_top9",
            "probe_inf%_top1",
            "knn_1%_top1",
        ] {
            assert_eq!((percentage(other), order(other)), (None, 0), "{other}");
        }
    }

    #[test]
    fn fewer_labels_come_first() {
        let mut metrics = [
            "probe_10%_top5",
            "probe_10%_top1",
            "probe_9.5%_top5",
            "probe_top1",
            "probe_1%_top1",
        ];
        metrics.sort_by_key(|metric| order(metric));
        assert_eq!(
            metrics,
            [
                "probe_top1",
                "probe_1%_top1",
                "probe_9.5%_top5",
                "probe_10%_top1",
                "probe_10%_top5"
            ]
        );
    }
}
