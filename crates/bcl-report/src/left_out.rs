//! What a run on interactions left out of its files, and what its test data have that training data lack.

use crate::units::count;
use serde::{Deserialize, Serialize};

/// Counts of interactions that a run left out, and of test data that nothing was learned about.
///
/// ```
/// use bcl_report::LeftOut;
///
/// let counts = LeftOut { rows: 100, repeats: 3, untrained_users: 1, of_untrained_users: 2, ..LeftOut::default() };
/// assert_eq!(counts.left_out().unwrap(), "3 repeated interactions, of 100 in the files");
/// assert_eq!(counts.untrained(20).unwrap(), "2 of 20 test interactions are not evaluated: 1 user has no training interaction");
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LeftOut {
    /// Interactions in the files; 0 for generated data.
    pub rows: usize,
    /// Interactions below `data.min_rating`.
    pub below_min_rating: usize,
    /// Interactions whose user and item occurred before.
    pub repeats: usize,
    /// Users with too few interactions.
    pub rare_users: usize,
    /// Items with too few interactions.
    pub rare_items: usize,
    /// Interactions of those users and items.
    pub of_rare: usize,
    /// Test users without a training interaction, who are not evaluated.
    pub untrained_users: usize,
    /// Test interactions of those users.
    pub of_untrained_users: usize,
    /// Test items without a training interaction, which count as missed.
    pub untrained_items: usize,
    /// Test interactions of those items with users who are evaluated.
    pub of_untrained_items: usize,
}

impl LeftOut {
    /// What was left out of the files, in words; `None` if nothing was.
    pub fn left_out(&self) -> Option<String> {
        let of_rare = format!(
            "{} of {} with too few interactions",
            counted(self.of_rare, "interaction"),
            users_and_items(self.rare_users, self.rare_items)
        );
        let parts = [
            (
                self.below_min_rating,
                format!("{} below data.min_rating", counted(self.below_min_rating, "interaction")),
            ),
            (self.repeats, counted(self.repeats, "repeated interaction")),
            (self.of_rare, of_rare),
        ];
        let parts: Vec<String> = parts
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(_, text)| text)
            .collect();
        (!parts.is_empty()).then(|| format!("{}, of {} in the files", parts.join(", "), count(self.rows)))
    }

    /// What nothing could be learned about, in words, given the number of test interactions; `None` if there is nothing.
    pub fn untrained(&self, test: usize) -> Option<String> {
        let parts = [
            (self.of_untrained_users, self.untrained_users, "user", "are not evaluated"),
            (self.of_untrained_items, self.untrained_items, "item", "count as missed"),
        ];
        let parts = parts.into_iter().filter(|(interactions, ..)| *interactions > 0);
        let parts: Vec<String> = parts
            .map(|(interactions, number, noun, what)| {
                format!(
                    "{} of {} test interactions {what}: {} {} no training interaction",
                    count(interactions),
                    count(test),
                    counted(number, noun),
                    if number == 1 { "has" } else { "have" },
                )
            })
            .collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

fn users_and_items(users: usize, items: usize) -> String {
    let parts = [(users, "user"), (items, "item")].into_iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts.map(|(count, noun)| counted(count, noun)).collect();
    parts.join(" and ")
}

fn counted(number: usize, noun: &str) -> String {
    format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_left_out_is_nothing_to_say() {
        let counts = LeftOut {
            rows: 7,
            ..LeftOut::default()
        };
        assert_eq!((counts.left_out(), counts.untrained(3)), (None, None));
    }

    #[test]
    fn every_reason_is_named_with_its_count() {
        let counts = LeftOut {
            rows: 100_000,
            below_min_rating: 44_625,
            repeats: 1,
            rare_users: 20,
            rare_items: 1,
            of_rare: 1500,
            untrained_users: 2,
            of_untrained_users: 45,
            untrained_items: 30,
            of_untrained_items: 31,
        };
        assert_eq!(
            counts.left_out().unwrap(),
            "44,625 interactions below data.min_rating, 1 repeated interaction, 1,500 interactions of 20 users and 1 item with too few \
             interactions, of 100,000 in the files"
        );
        assert_eq!(
            counts.untrained(20_000).unwrap(),
            "45 of 20,000 test interactions are not evaluated: 2 users have no training interaction; 31 of 20,000 test interactions \
             count as missed: 30 items have no training interaction"
        );
    }

    #[test]
    fn counts_that_a_file_lacks_are_zero() {
        let counts: LeftOut = serde_json::from_str(r#"{"rows": 3}"#).unwrap();
        assert_eq!(
            counts,
            LeftOut {
                rows: 3,
                ..LeftOut::default()
            }
        );
    }
}
