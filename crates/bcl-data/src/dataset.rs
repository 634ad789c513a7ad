//! What every way of getting data ends in.

use crate::{IdMap, Interactions};

/// A data set, split into train and test, with the way back to the ids of its files.
#[derive(Debug, Clone, PartialEq)]
pub struct InteractionData {
    /// Name, as in recipes and reports.
    pub name: String,
    /// What is learned from.
    pub train: Interactions,
    /// What is held out for evaluation; disjoint from `train`, with as many users and items.
    pub test: Interactions,
    /// The users' ids in the files.
    pub users: IdMap,
    /// The items' ids in the files.
    pub items: IdMap,
    /// Who likes what in truth, where that is known: planted data.
    pub truth: Option<Truth>,
}

/// The communities behind planted data: a user likes the items of the own community.
///
/// An item of the own community that the user has not interacted with is a *false negative*: unlabelled, yet liked.
/// Test items are such, as long as one trains.
#[derive(Debug, Clone, PartialEq)]
pub struct Truth {
    /// Community of each user. `[num_users]`
    pub user_community: Vec<u32>,
    /// Community of each item. `[num_items]`
    pub item_community: Vec<u32>,
    tau_plus: Vec<f64>,
}

impl Truth {
    /// The truth behind `train`, given the communities.
    ///
    /// # Shapes
    /// - `user_community`: `[num_users]`
    /// - `item_community`: `[num_items]`
    ///
    /// # Panics
    /// If the lengths are not those of `train`.
    pub fn new(user_community: Vec<u32>, item_community: Vec<u32>, train: &Interactions) -> Self {
        assert_eq!(
            (user_community.len(), item_community.len()),
            (train.num_users(), train.num_items()),
            "the communities must cover all (users, items)"
        );
        let mut truth = Self {
            user_community,
            item_community,
            tau_plus: Vec::new(),
        };
        truth.tau_plus = (0..train.num_users() as u32)
            .map(|user| truth.tau_plus_among(user, train.items_of(user)))
            .collect();
        truth
    }

    /// Whether `user` likes `item`, interacted or not.
    ///
    /// # Panics
    /// If `user` or `item` is out of range.
    pub fn same_class(&self, user: u32, item: u32) -> bool {
        self.user_community[user as usize] == self.item_community[item as usize]
    }

    /// τ⁺ of `user`: the share of liked items among those that are not in train, in [0, 1].
    ///
    /// # Panics
    /// If `user` is out of range.
    pub fn tau_plus(&self, user: u32) -> f64 {
        self.tau_plus[user as usize]
    }

    /// Mean of [`tau_plus`](Self::tau_plus) over the users; 0 where there is none.
    pub fn mean_tau_plus(&self) -> f64 {
        self.tau_plus.iter().sum::<f64>() / self.tau_plus.len().max(1) as f64
    }

    fn tau_plus_among(&self, user: u32, interacted: &[u32]) -> f64 {
        let community = self.user_community[user as usize];
        let liked = self.item_community.iter().filter(|&&c| c == community).count();
        let known = interacted.iter().filter(|&&item| self.same_class(user, item)).count();
        let unlabelled = self.item_community.len() - interacted.len();
        if unlabelled == 0 {
            0.0
        } else {
            (liked - known) as f64 / unlabelled as f64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tau_plus_is_the_share_of_liked_items_among_the_unlabelled() {
        let train = Interactions::from_pairs(2, 5, [(0, 0), (0, 4), (1, 3)]);
        let truth = Truth::new(vec![0, 1], vec![0, 0, 0, 1, 1], &train);
        // User 0 likes 0, 1, 2 and has 0 and 4: of 1, 2, 3 it likes two. User 1 likes 3, 4 and has 3: of four it likes one.
        assert_eq!(truth.tau_plus(0), 2.0 / 3.0);
        assert_eq!(truth.tau_plus(1), 1.0 / 4.0);
        assert_eq!(truth.mean_tau_plus(), f64::midpoint(2.0 / 3.0, 1.0 / 4.0));
    }

    #[test]
    fn tau_plus_of_a_user_who_has_everything_is_zero() {
        let train = Interactions::from_pairs(1, 2, [(0, 0), (0, 1)]);
        assert_eq!(Truth::new(vec![0], vec![0, 1], &train).tau_plus(0), 0.0);
    }
}
