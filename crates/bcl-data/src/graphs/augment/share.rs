//! Counts from ratios.

/// The ratio of `count`, rounded.
pub(super) fn share_of(count: usize, ratio: f64) -> usize {
    (ratio * count as f64).round() as usize
}

/// The number of nodes that remain without the ratio of them: at least 1.
pub(super) fn remaining(num_nodes: usize, ratio: f64) -> usize {
    (num_nodes - share_of(num_nodes, ratio)).max(1)
}
