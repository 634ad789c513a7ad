//! Sizes and durations in words.

use std::time::Duration;

/// A size in bytes with a binary prefix and two decimals: `1.50 GiB`.
///
/// ```
/// use bcl_files::bytes;
///
/// assert_eq!([512, 1536, 3 << 30].map(bytes), ["512 B", "1.50 KiB", "3.00 GiB"]);
/// ```
pub fn bytes(size: u64) -> String {
    if size < 1024 {
        return format!("{size} B");
    }
    let mut value = size as f64 / 1024.0;
    let mut prefixes = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].into_iter();
    let mut prefix = prefixes.next().unwrap_or_default();
    for next in prefixes {
        if value < 1024.0 {
            break;
        }
        value /= 1024.0;
        prefix = next;
    }
    format!("{value:.2} {prefix}B")
}

/// A duration in its largest unit of which there are at least one and a half: `90 seconds`, `2 minutes`, `36 hours`.
///
/// ```
/// use bcl_files::about;
/// use std::time::Duration;
///
/// let texts = [0, 1, 17, 89, 90, 5_400, 200_000].map(|seconds| about(Duration::from_secs(seconds)));
/// assert_eq!(texts, ["0 seconds", "1 second", "17 seconds", "89 seconds", "2 minutes", "2 hours", "2 days"]);
/// ```
pub fn about(duration: Duration) -> String {
    const UNITS: [(f64, &str); 4] = [(86_400.0, "day"), (3_600.0, "hour"), (60.0, "minute"), (1.0, "second")];
    let seconds = duration.as_secs_f64();
    let fits = |(length, _): &(f64, &str)| seconds >= 1.5 * length;
    let (length, name) = UNITS.into_iter().find(fits).unwrap_or((1.0, "second"));
    let number = (seconds / length).round();
    format!("{number} {name}{}", if number == 1.0 { "" } else { "s" })
}
