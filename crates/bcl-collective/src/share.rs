//! Which part of a whole belongs to which process.

use std::ops::Range;

/// The contiguous part of `0..total` that belongs to `process`: the parts of all processes follow each other and differ by at most one in length.
///
/// ```
/// use bcl_collective::share;
///
/// assert_eq!([0, 1, 2].map(|process| share(8, process, 3)), [0..3, 3..6, 6..8]);
/// ```
///
/// # Panics
/// Panics unless `process` is less than `size`.
pub fn share(total: usize, process: usize, size: usize) -> Range<usize> {
    assert!(process < size, "process {process} of {size}");
    let (each, longer) = (total / size, total % size);
    let begin = process * each + process.min(longer);
    begin..begin + each + usize::from(process < longer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_cover_everything_once_and_differ_by_at_most_one() {
        for size in 1..9 {
            for total in 0..30 {
                let shares: Vec<_> = (0..size).map(|process| share(total, process, size)).collect();
                let covered: Vec<_> = shares.iter().cloned().flatten().collect();
                assert_eq!(covered, (0..total).collect::<Vec<_>>());
                let longest = shares.iter().map(Range::len).max().unwrap();
                assert!(shares.iter().all(|share| longest - share.len() <= 1), "{shares:?}");
            }
        }
    }
}
