//! Objectives in two directions, whose anchors are stacked.

use std::ops::Range;

/// Divides a range of anchors between two directions of `per_direction` anchors each: the direction, and the range within it.
pub(super) fn directions(anchors: Range<usize>, per_direction: usize) -> impl Iterator<Item = (usize, Range<usize>)> {
    (0..2).filter_map(move |direction| {
        let first = direction * per_direction;
        let within = anchors.start.max(first)..anchors.end.min(first + per_direction);
        (within.start < within.end).then(|| (direction, within.start - first..within.end - first))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_across_the_border_has_anchors_of_both_directions() {
        let of = |anchors| directions(anchors, 5).collect::<Vec<_>>();
        assert_eq!(of(0..10), [(0, 0..5), (1, 0..5)]);
        assert_eq!(of(3..7), [(0, 3..5), (1, 0..2)]);
        assert_eq!(of(1..4), [(0, 1..4)]);
        assert_eq!(of(5..9), [(1, 0..4)]);
    }
}
