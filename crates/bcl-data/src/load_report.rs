//! What a load read and left out, and what its test data have that training data lack.

use crate::Interactions;
use crate::k_core::Core;
use crate::read::FileReport;
use serde::{Deserialize, Serialize};

/// Counts of what a load read and left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoadReport {
    /// Interactions in the files; 0 for generated data.
    pub rows: usize,
    /// Interactions left out because their rating is below the threshold.
    pub below_min_rating: usize,
    /// Interactions left out because the same pair occurred before in the same file, or in any of several files that are split together.
    pub repeats: usize,
    /// Users left out because they have too few interactions.
    pub rare_users: usize,
    /// Items left out because they have too few interactions.
    pub rare_items: usize,
    /// Interactions of users or items left out for that reason.
    pub of_rare: usize,
    /// Test users without a training interaction; nothing can be learned about them.
    pub untrained_users: usize,
    /// Test interactions of those users.
    pub of_untrained_users: usize,
    /// Test items without a training interaction.
    pub untrained_items: usize,
    /// Test interactions of those items with other users.
    pub of_untrained_items: usize,
}

impl LoadReport {
    pub(crate) fn add(&mut self, file: FileReport) {
        self.rows += file.rows;
        self.below_min_rating += file.below_min_rating;
    }

    pub(crate) fn add_core(&mut self, core: &Core) {
        (self.rare_users, self.rare_items, self.of_rare) = (core.users, core.items, core.interactions);
    }

    /// Counts what is only in test.
    pub(crate) fn add_untrained(&mut self, train: &Interactions, test: &Interactions) {
        let (trained, tested) = (train.item_counts(), test.item_counts());
        let unknown_user = |user: u32| train.items_of(user).is_empty();
        let unknown_item = |item: u32| trained[item as usize] == 0;
        let users = 0..test.num_users() as u32;
        self.untrained_users = users
            .filter(|&user| unknown_user(user) && !test.items_of(user).is_empty())
            .count();
        let items = 0..test.num_items() as u32;
        self.untrained_items = items.filter(|&item| unknown_item(item) && tested[item as usize] > 0).count();
        self.of_untrained_users = test.pairs().filter(|&(user, _)| unknown_user(user)).count();
        let of_items = test.pairs().filter(|&(user, item)| !unknown_user(user) && unknown_item(item));
        self.of_untrained_items = of_items.count();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_that_a_file_lacks_are_zero() {
        let report: LoadReport = serde_json::from_str(r#"{"rows": 3}"#).unwrap();
        let expected = LoadReport {
            rows: 3,
            ..LoadReport::default()
        };
        assert_eq!(report, expected);
    }
}
