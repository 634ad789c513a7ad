//! Recommendations for one user.

use super::{RankingError, Scorer, TopItems};
use crate::top_k::RankedItem;
use bcl_data::Interactions;

/// The `k` best items for `user`, without the user's training items. Best first; ties are ordered by item number.
///
/// ```
/// use bcl_data::Interactions;
/// use bcl_eval::{baselines::Popularity, ranking::top_items};
///
/// let train = Interactions::from_pairs(2, 4, [(0, 1), (0, 2), (1, 2), (1, 3)]);
/// let best = top_items(&Popularity::new(&train), &train, 0, 2)?;
/// assert_eq!(best.iter().map(|ranked| ranked.item).collect::<Vec<_>>(), [3, 0]);
/// # Ok::<(), bcl_eval::ranking::RankingError>(())
/// ```
///
/// # Errors
/// Returns [`RankingError::NotANumber`] if a score of the user is NaN.
///
/// # Panics
/// Panics if the scorer and `train` have different numbers of items, or if `user` is out of range.
pub fn top_items(scorer: &dyn Scorer, train: &Interactions, user: u32, k: usize) -> Result<Vec<RankedItem>, RankingError> {
    let mut best = Vec::new();
    TopItems::new(scorer, k).excluding(train).of_users(&[user], |_, list| {
        best = list.to_vec();
        Ok::<(), RankingError>(())
    })?;
    Ok(best)
}
