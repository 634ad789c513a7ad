//! Which part of a whole belongs to which rank.

use std::ops::Range;

/// The contiguous part of `0..total` that belongs to `rank`: the parts of all ranks follow each other and differ by at most one in length.
///
/// ```
/// use bcl_collective::share;
///
/// assert_eq!([0, 1, 2].map(|rank| share(8, rank, 3)), [0..3, 3..6, 6..8]);
/// ```
///
/// # Panics
/// Panics unless `rank` is less than `size`.
pub fn share(total: usize, rank: usize, size: usize) -> Range<usize> {
    assert!(rank < size, "rank {rank} of {size}");
    let (each, longer) = (total / size, total % size);
    let begin = rank * each + rank.min(longer);
    begin..begin + each + usize::from(rank < longer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_cover_everything_once_and_differ_by_at_most_one() {
        for size in 1..9 {
            for total in 0..30 {
                let shares: Vec<_> = (0..size).map(|rank| share(total, rank, size)).collect();
                let covered: Vec<_> = shares.iter().cloned().flatten().collect();
                assert_eq!(covered, (0..total).collect::<Vec<_>>());
                let longest = shares.iter().map(Range::len).max().unwrap();
                assert!(shares.iter().all(|share| longest - share.len() <= 1), "{shares:?}");
            }
        }
    }
}
