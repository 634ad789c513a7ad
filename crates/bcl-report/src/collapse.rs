//! Says whether the features of an image encoder have collapsed.

use crate::result::{EFFECTIVE_RANK, FEATURE_STD, Metrics};

/// Features have collapsed to a point if their [`FEATURE_STD`] is below this: cosines between images are then above 0.9996 on average.
pub const LEAST_STD: f64 = 0.02;

/// Features have collapsed to a line if their [`EFFECTIVE_RANK`] is below this.
pub const LEAST_RANK: f64 = 1.5;

/// Says that features have collapsed, as the continuation of "the features …"; `None` if they have not, or metrics of a run of an earlier
/// version do not tell.
///
/// ```
/// use bcl_report::collapse::collapse;
///
/// let metrics = |std, rank| [("feature_std".to_owned(), std), ("effective_rank".to_owned(), rank)].into();
/// assert_eq!(collapse(&metrics(0.8, 40.0)), None);
/// assert!(collapse(&metrics(0.001, 40.0)).is_some_and(|text| text.contains("to a point")));
/// assert!(collapse(&metrics(0.8, 1.01)).is_some_and(|text| text.contains("to a line")));
/// ```
pub fn collapse(metrics: &Metrics) -> Option<String> {
    let below = |name, least| metrics.get(name).filter(|&&value| value < least);
    if let Some(std) = below(FEATURE_STD, LEAST_STD) {
        return Some(format!(
            "have collapsed to a point: all images have nearly the same ({FEATURE_STD} {std:.4}, below {LEAST_STD})"
        ));
    }
    let rank = below(EFFECTIVE_RANK, LEAST_RANK)?;
    Some(format!(
        "have collapsed to a line: they differ in one direction only ({EFFECTIVE_RANK} {rank:.2}, below {LEAST_RANK})"
    ))
}
