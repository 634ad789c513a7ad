//! The result of loading or generating data.

use crate::{HoldOut, IdMap, Interactions, LoadReport, Seed, hold_out};

/// A data set, split into train and test, with maps back to the ids of its files.
#[derive(Debug, Clone, PartialEq)]
pub struct InteractionData {
    /// Name in recipes and reports.
    pub name: String,
    /// Training interactions.
    pub train: Interactions,
    /// Test interactions; disjoint from `train`, with the same numbers of users and items.
    pub test: Interactions,
    /// Maps users to their ids in the files.
    pub users: IdMap,
    /// Maps items to their ids in the files.
    pub items: IdMap,
    /// Which items each user truly likes, for planted data.
    pub truth: Option<Truth>,
    /// What was read and left out; zeros for planted data.
    pub report: LoadReport,
    /// How a validation part is held out of train.
    pub hold_out: HoldOut,
}

impl InteractionData {
    /// The test interactions of users with a training interaction. Nothing was learned about others, so no ranking for them says anything
    /// about a model.
    pub fn trained_test(&self) -> Interactions {
        let pairs = self.test.pairs().filter(|&(user, _)| !self.train.items_of(user).is_empty());
        Interactions::from_pairs(self.test.num_users(), self.test.num_items(), pairs)
    }
}

/// The communities behind planted data: a user likes the items of their own community.
///
/// An item of the user's community without an interaction is a *false negative*: unlabelled, yet liked. During training, the test items
/// are among them.
#[derive(Debug, Clone, PartialEq)]
pub struct Truth {
    /// Community of each user. `[num_users]`
    pub user_community: Vec<u32>,
    /// Community of each item. `[num_items]`
    pub item_community: Vec<u32>,
    tau_plus: Vec<f64>,
}

impl Truth {
    /// Computes the truth behind `train` from the communities.
    ///
    /// # Shapes
    /// - `user_community`: `[num_users]`
    /// - `item_community`: `[num_items]`
    ///
    /// # Panics
    /// Panics if the lengths differ from the numbers of users and items in `train`.
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

    /// Whether `user` likes `item`, with or without an interaction.
    ///
    /// # Panics
    /// Panics if `user` or `item` is out of range.
    pub fn same_class(&self, user: u32, item: u32) -> bool {
        self.user_community[user as usize] == self.item_community[item as usize]
    }

    /// τ⁺ of `user`: the fraction of liked items among those without a training interaction, in [0, 1].
    ///
    /// # Panics
    /// Panics if `user` is out of range.
    pub fn tau_plus(&self, user: u32) -> f64 {
        self.tau_plus[user as usize]
    }

    /// Mean of [`tau_plus`](Self::tau_plus) over all users; 0 if there are none.
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

impl InteractionData {
    /// Holds out a validation part of train, which replaces the test part. It follows the rule of the test split: a share of each user's
    /// interactions, one interaction per user, or the newest share of all. A given split, and planted data, count as a random share.
    ///
    /// # Panics
    /// Panics if `ratio` is not in [0, 1).
    ///
    /// ```
    /// use bcl_data::{PlantedConfig, Seed};
    ///
    /// let data = PlantedConfig::default().generate();
    /// let part = data.hold_out(0.1, Seed(0));
    /// assert_eq!(part.train.union(&part.test), data.train);
    /// ```
    #[must_use]
    pub fn hold_out(&self, ratio: f64, seed: Seed) -> Self {
        let (train, test, hold_out) = if self.hold_out == HoldOut::default() {
            let (train, test) = hold_out(&self.train, ratio, seed);
            (train, test, HoldOut::default())
        } else {
            assert!((0.0..1.0).contains(&ratio), "ratio is {ratio}, but must be in [0, 1)");
            self.hold_out.clone().split(&self.train, ratio, seed.named("hold_out"))
        };
        Self {
            name: self.name.clone(),
            train,
            test,
            users: self.users.clone(),
            items: self.items.clone(),
            truth: self.truth.clone(),
            report: self.report,
            hold_out,
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
        // User 0 likes 0, 1, 2 and has 0 and 4: it likes two of 1, 2, 3. User 1 likes 3, 4 and has 3: it likes one of the other four.
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
