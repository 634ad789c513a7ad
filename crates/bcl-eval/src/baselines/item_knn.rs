//! Item-kNN: recommends the neighbours of a user's items.

use crate::ranking::Scorer;
use bcl_data::Interactions;
use rayon::prelude::*;
use thiserror::Error;

/// An error while fitting item-kNN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ItemKnnError {
    /// The users' items make too many pairs to count.
    #[error(
        "item-kNN counts the pairs of items that users have in common: there are {pairs}, and the limit is {limit}; remove \"item_knn\" \
         from evaluation.baselines for this data set"
    )]
    TooManyPairs {
        /// Sum over users of the square of their number of items.
        pairs: u64,
        /// [`ItemKnn::MAX_PAIRS`].
        limit: u64,
    },
    /// The neighbours do not fit into the memory that the baseline may use.
    #[error(
        "item-kNN would keep up to {entries} neighbours, and the limit is {limit}; lower evaluation.knn_neighbours, or remove \"item_knn\" \
         from evaluation.baselines for this data set"
    )]
    TooManyNeighbours {
        /// Items times neighbours.
        entries: u64,
        /// [`ItemKnn::MAX_NEIGHBOURS`].
        limit: u64,
    },
}

/// The item-based nearest-neighbour recommender, with the cosine of binary interactions.
///
/// With `U(i)` the users of item `i` in train, `N(i)` the `k` items most similar to `i`, and λ the shrinkage,
///
/// ```text
/// s(i, j) = |U(i) ∩ U(j)| / (√(|U(i)| |U(j)|) + λ)        score(u, i) = sum of s(i, j) over the items j of u that are in N(i)
/// ```
///
/// Shrinkage lowers the similarity of items with few users. Items without a common user are no neighbours; equally similar items are ordered
/// by id. `k = 100` and `λ = 0` are `RecBole`'s defaults for its `ItemKNN`; source: Deshpande and Karypis, "Item-based top-N recommendation
/// algorithms", ACM TOIS 2004.
///
/// The time of a fit grows with the sum over users of the square of their number of items.
///
/// ```
/// use bcl_data::Interactions;
/// use bcl_eval::{baselines::ItemKnn, ranking::top_items};
///
/// // Whoever took item 0 also took item 1.
/// let train = Interactions::from_pairs(4, 3, [(0, 0), (0, 1), (1, 0), (1, 1), (2, 2), (3, 0)]);
/// let knn = ItemKnn::fit(&train, 100, 0.0)?;
/// assert_eq!(top_items(&knn, &train, 3, 1)?[0].item, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct ItemKnn {
    train: Interactions,
    /// Row `j` is `entries[offsets[j]..offsets[j + 1]]`: the items of which `j` is a neighbour, with the similarity.
    offsets: Vec<usize>,
    entries: Vec<(u32, f32)>,
}

impl ItemKnn {
    /// Maximum sum over users of the square of their number of items; counting so many takes about a minute on a few cores.
    pub const MAX_PAIRS: u64 = 20_000_000_000;

    /// Maximum number of items times neighbours; they take 3.2 GB while they are sorted.
    pub const MAX_NEIGHBOURS: u64 = 200_000_000;

    /// Finds the `k` nearest neighbours of each item.
    ///
    /// # Errors
    /// Returns [`ItemKnnError`] above [`MAX_PAIRS`](Self::MAX_PAIRS) or [`MAX_NEIGHBOURS`](Self::MAX_NEIGHBOURS).
    ///
    /// # Panics
    /// Panics if the shrinkage is negative or not a number.
    pub fn fit(train: &Interactions, k: usize, shrinkage: f64) -> Result<Self, ItemKnnError> {
        assert!(shrinkage >= 0.0, "shrinkage is {shrinkage}, but must be at least 0");
        check_size(train, k)?;
        let num_items = train.num_items();
        let users_of = Interactions::from_pairs(num_items, train.num_users(), train.pairs().map(|(user, item)| (item, user)));
        let neighbours: Vec<Vec<(u32, f32)>> = (0..num_items as u32)
            .into_par_iter()
            .map_init(
                || vec![0_u32; num_items],
                |counts, item| nearest(train, &users_of, item, k, shrinkage, counts),
            )
            .collect();
        let (offsets, entries) = inverted(&neighbours);
        Ok(Self {
            train: train.clone(),
            offsets,
            entries,
        })
    }
}

fn check_size(train: &Interactions, k: usize) -> Result<(), ItemKnnError> {
    let pairs = train.offsets().windows(2).map(|row| ((row[1] - row[0]) as u64).pow(2)).sum();
    if pairs > ItemKnn::MAX_PAIRS {
        return Err(ItemKnnError::TooManyPairs {
            pairs,
            limit: ItemKnn::MAX_PAIRS,
        });
    }
    let entries = pairs.min((train.num_items() as u64).saturating_mul(k as u64));
    if entries > ItemKnn::MAX_NEIGHBOURS {
        return Err(ItemKnnError::TooManyNeighbours {
            entries,
            limit: ItemKnn::MAX_NEIGHBOURS,
        });
    }
    Ok(())
}

/// The neighbours of one item. `counts` is zero for all items, before and after.
fn nearest(
    train: &Interactions,
    users_of: &Interactions,
    item: u32,
    k: usize,
    shrinkage: f64,
    counts: &mut [u32],
) -> Vec<(u32, f32)> {
    let mut common = Vec::new();
    for &user in users_of.items_of(item) {
        for &other in train.items_of(user) {
            if counts[other as usize] == 0 {
                common.push(other);
            }
            counts[other as usize] += 1;
        }
    }
    let num_users = |item: u32| users_of.items_of(item).len() as f64;
    let of_item = num_users(item);
    let similarity = |other: u32, count: u32| (f64::from(count) / ((of_item * num_users(other)).sqrt() + shrinkage)) as f32;
    let mut found: Vec<(u32, f32)> = common
        .iter()
        .filter(|&&other| other != item)
        .map(|&other| (other, similarity(other, counts[other as usize])))
        .collect();
    for &other in &*common {
        counts[other as usize] = 0;
    }
    found.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    found.truncate(k);
    found
}

/// Turns lists of neighbours into rows of the items that each is a neighbour of, in compressed rows.
fn inverted(neighbours: &[Vec<(u32, f32)>]) -> (Vec<usize>, Vec<(u32, f32)>) {
    let mut offsets = vec![0; neighbours.len() + 1];
    for &(other, _) in neighbours.iter().flatten() {
        offsets[other as usize + 1] += 1;
    }
    for row in 0..neighbours.len() {
        offsets[row + 1] += offsets[row];
    }
    let mut next = offsets.clone();
    let mut entries = vec![(0, 0.0); offsets[neighbours.len()]];
    for (item, list) in (0_u32..).zip(neighbours) {
        for &(other, similarity) in list {
            entries[next[other as usize]] = (item, similarity);
            next[other as usize] += 1;
        }
    }
    (offsets, entries)
}

impl Scorer for ItemKnn {
    fn num_items(&self) -> usize {
        self.train.num_items()
    }

    fn score(&self, users: &[u32], out: &mut Vec<f32>) {
        let num_items = self.train.num_items();
        out.clear();
        out.resize(users.len() * num_items, 0.0);
        if num_items == 0 {
            return;
        }
        out.par_chunks_mut(num_items).zip(users).for_each(|(scores, &user)| {
            for &item in self.train.items_of(user) {
                let row = self.offsets[item as usize]..self.offsets[item as usize + 1];
                for &(other, similarity) in &self.entries[row] {
                    scores[other as usize] += similarity;
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Users: 0 has items 0, 1; 1 has 0, 1, 2; 2 has 0; 3 has 3.
    fn train() -> Interactions {
        Interactions::from_pairs(4, 4, [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2), (2, 0), (3, 3)])
    }

    fn scores(k: usize, shrinkage: f64, user: u32) -> Vec<f32> {
        let mut scores = Vec::new();
        ItemKnn::fit(&train(), k, shrinkage).unwrap().score(&[user], &mut scores);
        scores
    }

    fn assert_close(found: &[f32], expected: [f64; 4]) {
        for (found, expected) in found.iter().zip(expected) {
            assert!((f64::from(*found) - expected).abs() < 1e-6, "{found} is not {expected}");
        }
    }

    #[test]
    fn scores_are_sums_of_cosines_with_the_users_items() {
        // s(0, 1) = 2 / √6, s(0, 2) = 1 / √3, s(1, 2) = 1 / √2; item 3 shares no user.
        let [zero_one, zero_two, one_two] = [2.0 / 6f64.sqrt(), 1.0 / 3f64.sqrt(), 1.0 / 2f64.sqrt()];
        assert_close(&scores(9, 0.0, 0), [zero_one, zero_one, zero_two + one_two, 0.0]);
        assert_close(&scores(9, 0.0, 2), [0.0, zero_one, zero_two, 0.0]);
        assert_eq!(scores(9, 0.0, 3), [0.0; 4]);
    }

    #[test]
    fn a_single_neighbour_is_that_of_the_recommended_item() {
        // The nearest item of 2 is 1, not 0, so a user of item 0 alone has no score for it.
        assert_close(&scores(1, 0.0, 2), [0.0, 2.0 / 6f64.sqrt(), 0.0, 0.0]);
    }

    #[test]
    fn shrinkage_is_added_to_the_denominator() {
        let shrunk = |common: f64, product: f64| common / (product.sqrt() + 10.0);
        assert_close(&scores(9, 10.0, 2), [0.0, shrunk(2.0, 6.0), shrunk(1.0, 3.0), 0.0]);
    }

    #[test]
    fn a_fit_is_the_same_on_any_number_of_threads() {
        let pairs = (0..20_000_u32).map(|index| (index % 97, index.wrapping_mul(2_654_435_761) % 301));
        let train = Interactions::from_pairs(97, 301, pairs);
        let fit = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let knn = pool.install(|| ItemKnn::fit(&train, 20, 0.0).unwrap());
            (knn.offsets, knn.entries)
        };
        assert_eq!(fit(1), fit(3));
    }

    #[test]
    fn data_too_large_are_refused_with_the_remedy() {
        let wide = Interactions::from_pairs(1, 150_000, (0..150_000).map(|item| (0, item)));
        let error = ItemKnn::fit(&wide, 100, 0.0).unwrap_err();
        assert_eq!(
            error,
            ItemKnnError::TooManyPairs {
                pairs: 22_500_000_000,
                limit: ItemKnn::MAX_PAIRS
            }
        );
        assert!(error.to_string().contains("remove \"item_knn\" from evaluation.baselines"));
        let wide = Interactions::from_pairs(1, 100_000, (0..100_000).map(|item| (0, item)));
        let error = ItemKnn::fit(&wide, 10_000, 0.0).unwrap_err().to_string();
        assert!(error.contains("lower evaluation.knn_neighbours"), "{error}");
    }

    #[test]
    fn an_empty_catalogue_has_no_scores() {
        let mut scores = vec![1.0];
        let train = Interactions::from_pairs(1, 0, []);
        ItemKnn::fit(&train, 1, 0.0).unwrap().score(&[0], &mut scores);
        assert_eq!(scores, [0.0; 0]);
    }
}
