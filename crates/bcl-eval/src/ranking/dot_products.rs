//! Scores that are dot products, computed tile by tile.

use super::RankingError;
use super::wanted::Wanted;
use crate::top_k::{RankedItem, TopK};
use faer::{Accum, MatMut, MatRef, Par, linalg::matmul::matmul};
use std::ops::Range;

/// Number of users whose lists are computed together, and number of items per tile. The scores of a tile take 256 KiB, so they are still in a
/// core's cache when the best are selected.
pub(super) const USERS: usize = 64;
const ITEMS: usize = 1024;

/// Vectors of users and items in host memory. The score of an item for a user is their dot product.
#[derive(Debug)]
pub struct DotProducts {
    users: Vec<f32>,
    items: Vec<f32>,
    dim: usize,
}

impl DotProducts {
    /// Keeps the vectors.
    ///
    /// # Shapes
    /// - users: `[num_users, dim]`, row-major
    /// - items: `[num_items, dim]`, row-major
    ///
    /// # Panics
    /// Panics if `dim` is 0 or a last row is not whole.
    pub fn new(users: Vec<f32>, items: Vec<f32>, dim: usize) -> Self {
        assert!(
            dim > 0 && users.len().is_multiple_of(dim) && items.len().is_multiple_of(dim),
            "{} and {} values are no rows of {dim}",
            users.len(),
            items.len()
        );
        Self { users, items, dim }
    }

    /// The best items of each of at most [`USERS`] users, best first.
    ///
    /// Scores do not depend on which users are computed together: the products always have the shape of a full tile.
    pub(super) fn best(&self, users: &[u32], wanted: Wanted<'_>) -> Vec<Result<Vec<RankedItem>, RankingError>> {
        let mut vectors = vec![0.0; USERS * self.dim];
        for (vector, &user) in vectors.chunks_mut(self.dim).zip(users) {
            let start = user as usize * self.dim;
            vector.copy_from_slice(&self.users[start..start + self.dim]);
        }
        let num_items = self.items.len() / self.dim;
        let mut lists: Vec<_> = users.iter().map(|_| Ok(wanted.list())).collect();
        let mut scores = vec![0.0; USERS * ITEMS.min(num_items)];
        for first in (0..num_items).step_by(ITEMS) {
            let items = first..num_items.min(first + ITEMS);
            let scores = &mut scores[..USERS * items.len()];
            self.tile(&vectors, &items, scores);
            for ((list, &user), scores) in lists.iter_mut().zip(users).zip(scores.chunks(items.len())) {
                let Ok(top) = list else { continue };
                if let Err(nan) = top.offer(first as u32, scores, wanted.excluded_for(user)) {
                    *list = Err(RankingError::NotANumber { user, item: nan.item });
                }
            }
        }
        lists.into_iter().map(|list| list.map(TopK::into_list)).collect()
    }

    /// Computes the scores of some items, `[USERS, items.len()]`.
    fn tile(&self, vectors: &[f32], items: &Range<usize>, scores: &mut [f32]) {
        let of_items = &self.items[items.start * self.dim..items.end * self.dim];
        // Threads take different users; within a tile, one thread keeps the order of additions.
        matmul(
            MatMut::from_row_major_slice_mut(scores, USERS, items.len()),
            Accum::Replace,
            MatRef::from_row_major_slice(vectors, USERS, self.dim),
            MatRef::from_row_major_slice(of_items, items.len(), self.dim).transpose(),
            1.0,
            Par::Seq,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_data::{Interactions, Seed};
    use rand::RngExt;

    const DIM: usize = 37;

    /// More items than a tile has, and no multiple of it.
    fn random(num_users: usize) -> DotProducts {
        let mut rng = Seed(3).rng();
        let mut values = |rows: usize| (0..rows * DIM).map(|_| rng.random::<f32>() - 0.5).collect::<Vec<_>>();
        DotProducts::new(values(num_users), values(2 * ITEMS + 77), DIM)
    }

    fn wanted(k: usize, excluded: Option<&Interactions>) -> Wanted<'_> {
        Wanted {
            k,
            excluded,
            order: None,
        }
    }

    #[test]
    fn lists_are_those_of_sorted_dot_products() {
        let products = random(5);
        let excluded = [3, 700, 2000];
        let of_all = Interactions::from_pairs(5, 2 * ITEMS + 77, (0..5).flat_map(|user| excluded.map(|item| (user, item))));
        let lists = products.best(&[4, 1], wanted(30, Some(&of_all)));
        for (user, list) in [4, 1].into_iter().zip(lists) {
            let list = list.unwrap();
            let vector = &products.users[user * DIM..(user + 1) * DIM];
            let mut slow: Vec<(f64, u32)> = products
                .items
                .chunks(DIM)
                .zip(0..)
                .map(|(item, id)| (item.iter().zip(vector).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum(), id))
                .filter(|(_, id)| !excluded.contains(id))
                .collect();
            slow.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            assert_eq!(list.len(), 30);
            for (ranked, (score, item)) in list.iter().zip(slow) {
                assert!((f64::from(ranked.score) - score).abs() < 1e-5);
                assert_eq!(ranked.item, item);
            }
        }
    }

    #[test]
    fn lists_do_not_depend_on_the_other_users() {
        let products = random(USERS);
        let all: Vec<u32> = (0..USERS as u32).collect();
        let together = products.best(&all, wanted(20, None));
        for (user, list) in all.iter().zip(together) {
            let alone = products.best(&[*user], wanted(20, None)).remove(0).unwrap();
            let bits = |list: Vec<RankedItem>| {
                list.iter()
                    .map(|ranked| (ranked.item, ranked.score.to_bits()))
                    .collect::<Vec<_>>()
            };
            assert_eq!(bits(list.unwrap()), bits(alone), "user {user}");
        }
    }

    #[test]
    fn the_first_score_that_is_not_a_number_is_named() {
        let mut products = random(3);
        products.items[(ITEMS + 5) * DIM] = f32::NAN;
        let lists = products.best(&[2, 0], wanted(3, None));
        for (user, list) in [2, 0].into_iter().zip(lists) {
            let item = ITEMS as u32 + 5;
            assert!(matches!(list, Err(RankingError::NotANumber { user: u, item: i }) if (u, i) == (user, item)));
        }
    }
}
