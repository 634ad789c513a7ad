//! The Mann-Whitney statistic of two samples.

use std::cmp::Ordering;

/// Computes the probability that a random positive scores above a random negative, ties counting one half.
///
/// ```text
/// AUC = ( #{ p > n } + ½ #{ p = n } ) / ( #p · #n )
/// ```
///
/// Both samples are sorted, then scanned once: `O(n log n)`. `None` if either is empty or contains NaN, which is neither above nor
/// below another score.
///
/// ```
/// use bcl_core::auc::auc;
///
/// assert_eq!(auc(&[2.0, 3.0], &[1.0, 2.0]), Some(0.875));
/// assert_eq!(auc(&[], &[1.0]), None);
/// assert_eq!(auc(&[f64::NAN], &[1.0]), None);
/// ```
pub fn auc(positives: &[f64], negatives: &[f64]) -> Option<f64> {
    if positives.is_empty() || negatives.is_empty() || positives.iter().chain(negatives).any(|score| score.is_nan()) {
        return None;
    }
    let (positives, negatives) = (sorted(positives), sorted(negatives));

    let (mut below, mut at_or_below) = (0, 0);
    let mut wins = 0.0;
    for positive in &positives {
        below += count_while(&negatives[below..], |negative| negative < positive);
        at_or_below += count_while(&negatives[at_or_below..], |negative| negative <= positive);
        wins += (below + at_or_below) as f64 / 2.0;
    }
    Some(wins / (positives.len() as f64 * negatives.len() as f64))
}

fn sorted(scores: &[f64]) -> Vec<f64> {
    let mut sorted = scores.to_vec();
    sorted.sort_unstable_by(|left, right| left.partial_cmp(right).unwrap_or(Ordering::Equal));
    sorted
}

fn count_while(scores: &[f64], holds: impl Fn(&f64) -> bool) -> usize {
    scores.iter().take_while(|score| holds(score)).count()
}
