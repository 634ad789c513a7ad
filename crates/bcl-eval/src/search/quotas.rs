//! Equal numbers per class.

/// Divides `count` among classes as evenly as their sizes allow: a class that is too small gives its share to the others, and a remainder goes to the
/// first classes.
///
/// ```
/// use bcl_eval::search::quotas;
///
/// assert_eq!(quotas(&[100, 3, 100], 20), [9, 3, 8]);
/// ```
pub fn quotas(sizes: &[usize], count: usize) -> Vec<usize> {
    let mut quotas = vec![0; sizes.len()];
    let mut left = count.min(sizes.iter().sum());
    while left > 0 {
        let open: Vec<usize> = (0..sizes.len()).filter(|&class| quotas[class] < sizes[class]).collect();
        let share = (left / open.len()).max(1);
        for class in open.into_iter().take(left) {
            let more = share.min(sizes[class] - quotas[class]).min(left);
            quotas[class] += more;
            left -= more;
        }
    }
    quotas
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotas_are_even_where_sizes_allow_and_never_more_than_there_are() {
        assert_eq!(quotas(&[10, 10, 10], 9), [3, 3, 3]);
        assert_eq!(quotas(&[10, 10, 10], 11), [4, 4, 3]);
        assert_eq!(quotas(&[1, 2, 10], 100), [1, 2, 10]);
        assert_eq!(quotas(&[0, 5], 3), [0, 3]);
        assert!(quotas(&[], 3).is_empty());
    }
}
