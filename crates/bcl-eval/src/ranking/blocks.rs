//! Ranks the items for many users, one block of users at a time.

use super::wanted::Wanted;
use super::{DotProducts, ItemOrder, RankingError, Scorer, dot_products};
use crate::Interrupt;
use crate::top_k::RankedItem;
use bcl_data::Interactions;
use rayon::prelude::*;

/// Maximum size of the scores of one block of users, in bytes; a block has at least one user.
pub(super) const BLOCK_BYTES: usize = 32 << 20;

/// How the users are divided into blocks, and what stops the work between two of them.
#[derive(Debug, Clone)]
pub(super) struct Blocks {
    pub(super) bytes: usize,
    pub(super) interrupt: Interrupt,
}

impl Default for Blocks {
    fn default() -> Self {
        Self {
            bytes: BLOCK_BYTES,
            interrupt: Interrupt::default(),
        }
    }
}

/// Users whose dot products are computed before the interrupt is checked again.
const USERS_AT_A_TIME: usize = 4096;

impl Blocks {
    /// Computes the list of each user on all threads, hands it to `rank` there, and calls `each` with the outcomes in the order of the users,
    /// so that the rounding of sums does not depend on the number of threads.
    pub(super) fn run<T: Send, E: From<RankingError>>(
        &self,
        scorer: &dyn Scorer,
        users: &[u32],
        wanted: Wanted<'_>,
        rank: impl Fn(u32, Vec<RankedItem>) -> T + Sync,
        mut each: impl FnMut(u32, T) -> Result<(), E>,
    ) -> Result<(), E> {
        let num_items = scorer.num_items();
        if num_items == 0 {
            return users.iter().try_for_each(|&user| each(user, rank(user, Vec::new())));
        }
        let products = scorer.dot_products();
        let block_users = match products {
            Some(_) => USERS_AT_A_TIME,
            None => (self.bytes / size_of::<f32>() / num_items).max(1),
        };
        let mut scores = Vec::new();
        for users in users.chunks(block_users) {
            if self.interrupt.is_requested() {
                return Err(RankingError::Interrupted.into());
            }
            let rankings = match products {
                Some(products) => of_dot_products(products, users, wanted, &rank),
                None => of_rows(scorer, users, wanted, &mut scores, &rank),
            };
            for (&user, ranking) in users.iter().zip(rankings) {
                each(user, ranking?)?;
            }
        }
        Ok(())
    }
}

fn of_dot_products<T: Send>(
    products: &DotProducts,
    users: &[u32],
    wanted: Wanted<'_>,
    rank: &(impl Fn(u32, Vec<RankedItem>) -> T + Sync),
) -> Vec<Result<T, RankingError>> {
    let of_some = |users: &[u32]| {
        let lists = products.best(users, wanted);
        let ranked = users.iter().zip(lists).map(|(&user, list)| Ok(rank(user, list?)));
        ranked.collect::<Vec<_>>()
    };
    users.par_chunks(dot_products::USERS).flat_map_iter(of_some).collect()
}

fn of_rows<T: Send>(
    scorer: &dyn Scorer,
    users: &[u32],
    wanted: Wanted<'_>,
    scores: &mut Vec<f32>,
    rank: &(impl Fn(u32, Vec<RankedItem>) -> T + Sync),
) -> Vec<Result<T, RankingError>> {
    let num_items = scorer.num_items();
    scorer.score(users, scores);
    assert_eq!(
        scores.len(),
        users.len() * num_items,
        "scores must have the shape [num_users, num_items]"
    );
    let of_one = |(&user, scores): (&u32, &[f32])| {
        let list = wanted.of_row(user, scores);
        let list = list.map_err(|nan| RankingError::NotANumber { user, item: nan.item })?;
        Ok(rank(user, list))
    };
    users.par_iter().zip(scores.par_chunks(num_items)).map(of_one).collect()
}

/// The best items for many users, computed as [`RankingEvaluator`](super::RankingEvaluator) ranks them: in blocks of users on all threads.
///
/// ```
/// use bcl_data::Interactions;
/// use bcl_eval::{baselines::Popularity, ranking::{RankedItem, RankingError, TopItems}};
///
/// let train = Interactions::from_pairs(2, 4, [(0, 1), (0, 2), (1, 2), (1, 3)]);
/// let mut lists = Vec::new();
/// TopItems::new(&Popularity::new(&train), 2).excluding(&train).of_users(&[0, 1], |user, list| {
///     lists.push((user, list.iter().map(|ranked| ranked.item).collect::<Vec<_>>()));
///     Ok::<(), RankingError>(())
/// })?;
/// assert_eq!(lists, [(0, vec![3, 0]), (1, vec![1, 0])]);
/// # Ok::<(), RankingError>(())
/// ```
#[allow(missing_debug_implementations, reason = "a scorer need not be printable")]
pub struct TopItems<'a> {
    scorer: &'a dyn Scorer,
    excluded: Option<&'a Interactions>,
    order: Option<&'a ItemOrder>,
    k: usize,
    blocks: Blocks,
}

impl<'a> TopItems<'a> {
    /// Ranks by `scorer` and keeps the `k` best items.
    pub fn new(scorer: &'a dyn Scorer, k: usize) -> Self {
        Self {
            scorer,
            excluded: None,
            order: None,
            k,
            blocks: Blocks::default(),
        }
    }

    /// Leaves out each user's items in `seen`.
    ///
    /// # Panics
    /// Panics if the scorer and `seen` have different numbers of items.
    pub fn excluding(mut self, seen: &'a Interactions) -> Self {
        assert_eq!(
            self.scorer.num_items(),
            seen.num_items(),
            "scorer and interactions must have the same number of items"
        );
        self.excluded = Some(seen);
        self
    }

    /// Lists only the items of an order, and ties in this order instead of the items' numbers.
    ///
    /// # Panics
    /// Panics if the scorer and the order have different numbers of items.
    pub fn in_order(mut self, order: &'a ItemOrder) -> Self {
        assert_eq!(
            self.scorer.num_items(),
            order.num_items(),
            "scorer and order must have the same number of items"
        );
        self.order = Some(order);
        self
    }

    /// Stops with [`RankingError::Interrupted`] once `is_requested` returns `true`, which is checked before each block of users.
    pub fn with_interrupt(mut self, is_requested: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.blocks.interrupt = Interrupt::when(is_requested);
        self
    }

    /// Calls `each` with every user and the user's best items, best first, in the order of `users`. Ties are ordered by item number. A list
    /// is shorter than `k` if fewer items remain.
    ///
    /// # Errors
    /// Returns [`RankingError::NotANumber`] if a score is NaN, [`RankingError::Interrupted`], or the error of `each`.
    ///
    /// # Panics
    /// Panics if a user is out of range.
    pub fn of_users<E: From<RankingError>>(
        &self,
        users: &[u32],
        mut each: impl FnMut(u32, &[RankedItem]) -> Result<(), E>,
    ) -> Result<(), E> {
        let wanted = Wanted {
            k: self.k,
            excluded: self.excluded,
            order: self.order,
        };
        self.blocks
            .run(self.scorer, users, wanted, |_, list| list, |user, list| each(user, &list))
    }
}
