//! One list: the best items for a user or beside an item, with notes on how far to trust them.

use super::saved::TrainedRecommender;
use bcl_data::InteractionData;
use bcl_eval::ranking::RankedItem;
use serde::Serialize;
use std::path::PathBuf;

/// A list of items, best first.
#[derive(Debug, PartialEq, Serialize)]
pub struct Recommendations {
    /// Folder of the run.
    pub run: PathBuf,
    /// Whom or what the list is for.
    #[serde(flatten)]
    pub subject: Subject,
    /// The items, best first.
    pub items: Vec<RecommendedItem>,
}

/// Whom or what a list is for.
#[derive(Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Subject {
    /// A user of the run.
    User {
        /// The user's id.
        user: String,
        /// Whether the user has a training interaction. If not, the user's vector is still its initial value.
        user_in_train: bool,
        /// The user's test items, by dense id.
        #[serde(skip)]
        test: Vec<u32>,
    },
    /// A new user.
    NewUser {
        /// Ids of the user's items.
        new_user_items: Vec<String>,
        /// How many of them have no training interaction.
        items_not_in_train: usize,
    },
    /// An item, whose similar items are listed.
    Item {
        /// The item's id.
        item: String,
        /// The item's title.
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// Whether the item has a training interaction.
        item_in_train: bool,
    },
}

/// An item of a list.
#[derive(Debug, PartialEq, Serialize)]
pub struct RecommendedItem {
    /// The item's id.
    pub item: String,
    /// The item's title, if there is a file of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its score.
    pub score: f64,
    /// Whether the user interacted with the item in the test data; only users of the run have test data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_test: Option<bool>,
}

impl Subject {
    /// A user of the run.
    pub(super) fn of_user(data: &InteractionData, user: u32) -> Self {
        Self::User {
            user: data.users.raw(user).to_owned(),
            user_in_train: !data.train.items_of(user).is_empty(),
            test: data.test.items_of(user).to_vec(),
        }
    }

    /// A new user with some items.
    pub(super) fn of_new_user(saved: &TrainedRecommender, items: &[u32]) -> Self {
        let counts = saved.data.train.item_counts();
        Self::NewUser {
            new_user_items: items.iter().map(|&item| saved.data.items.raw(item).to_owned()).collect(),
            items_not_in_train: items.iter().filter(|&&item| counts[item as usize] == 0).count(),
        }
    }

    /// An item.
    pub(super) fn of_item(saved: &TrainedRecommender, item: u32) -> Self {
        Self::Item {
            item: saved.data.items.raw(item).to_owned(),
            title: saved.title(item).map(str::to_owned),
            item_in_train: saved.data.train.item_counts()[item as usize] > 0,
        }
    }

    fn tested(&self, item: u32) -> Option<bool> {
        match self {
            Self::User { test, .. } => Some(test.contains(&item)),
            _ => None,
        }
    }
}

impl Recommendations {
    /// Adds ids, titles and marks to ranked items.
    pub(super) fn new(saved: &TrainedRecommender, subject: Subject, ranked: &[RankedItem]) -> Self {
        Self::with_titles(saved.run.clone(), &saved.data, subject, ranked, |item| saved.title(item))
    }

    fn with_titles<'a>(
        run: PathBuf,
        data: &InteractionData,
        subject: Subject,
        ranked: &[RankedItem],
        title: impl Fn(u32) -> Option<&'a str>,
    ) -> Self {
        let items = ranked.iter().map(|ranked| RecommendedItem {
            item: data.items.raw(ranked.item).to_owned(),
            title: title(ranked.item).map(str::to_owned),
            score: f64::from(ranked.score),
            in_test: subject.tested(ranked.item),
        });
        Self {
            run,
            items: items.collect(),
            subject,
        }
    }

    /// A note for a list that is arbitrary, or partly so.
    pub fn note(&self) -> Option<String> {
        match &self.subject {
            Subject::User {
                user,
                user_in_train: false,
                ..
            } => Some(format!(
                "user {user} has no training interaction: the user's vector was never trained, so this ranking is arbitrary"
            )),
            Subject::Item {
                item,
                item_in_train: false,
                ..
            } => Some(format!(
                "item {item} has no training interaction: its vector was never trained, so this ranking is arbitrary"
            )),
            Subject::NewUser {
                items_not_in_train,
                new_user_items,
            } if *items_not_in_train > 0 && *items_not_in_train == new_user_items.len() => Some(
                "no item has a training interaction: their vectors were never trained, so this ranking is arbitrary".to_owned(),
            ),
            Subject::NewUser {
                items_not_in_train: cold @ 1..,
                new_user_items,
            } => Some(format!(
                "{cold} of the {} items have no training interaction: their vectors were never trained, so the user's vector does without them",
                new_user_items.len()
            )),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_data::{HoldOut, IdMap, Interactions, LoadReport};

    fn data() -> InteractionData {
        let ids = |raw: &[&str]| raw.iter().map(|id| (*id).to_owned()).collect::<IdMap>();
        InteractionData {
            name: "toy".to_owned(),
            users: ids(&["ann", "bob"]),
            items: ids(&["x", "\u{1b}[2Jy", "z"]),
            train: Interactions::from_pairs(2, 3, [(0, 0), (0, 1)]),
            test: Interactions::from_pairs(2, 3, [(0, 2), (1, 1)]),
            truth: None,
            report: LoadReport::default(),
            hold_out: HoldOut::default(),
        }
    }

    fn of(user: u32) -> Recommendations {
        let ranked = [RankedItem { item: 2, score: 0.5 }, RankedItem { item: 1, score: 0.25 }];
        let data = data();
        Recommendations::with_titles("runs/a-0".into(), &data, Subject::of_user(&data, user), &ranked, |_| None)
    }

    #[test]
    fn a_user_without_training_gets_a_note() {
        assert_eq!(of(0).note(), None);
        assert!(of(1).note().unwrap().starts_with("user bob has no training interaction"));
    }

    #[test]
    fn json_has_the_run_and_every_mark_and_exact_ids() {
        let expected = serde_json::json!({
            "run": "runs/a-0",
            "user": "bob",
            "user_in_train": false,
            "items": [
                { "item": "z", "score": 0.5, "in_test": false },
                { "item": "\u{1b}[2Jy", "score": 0.25, "in_test": true },
            ],
        });
        assert_eq!(serde_json::to_value(of(1)).unwrap(), expected);
    }
}
