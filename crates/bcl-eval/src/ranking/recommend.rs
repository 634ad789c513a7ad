//! Recommendations for one user.

use super::top_k::{RankedItem, top_k};
use super::{RankingError, Scorer};
use bcl_data::Interactions;

/// The `k` best items for `user`, without the user's training items. Best first; ties are ordered by item id.
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
    assert_eq!(
        scorer.num_items(),
        train.num_items(),
        "scorer and training interactions must have the same number of items"
    );
    let mut scores = Vec::new();
    scorer.score(&[user], &mut scores);
    top_k(&scores, train.items_of(user), k).map_err(|nan| RankingError::NotANumber { user, item: nan.item })
}
