//! The output of `recommend` for one list: the best items for a user or beside an item, with notes on how far to trust them.

use super::saved::Saved;
use bcl_data::InteractionData;
use bcl_eval::ranking::RankedItem;
use bcl_report::{Cell, Column, Table};
use serde::Serialize;
use std::path::PathBuf;

/// A list of items, best first.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Recommendation {
    /// Folder of the run.
    run: PathBuf,
    #[serde(flatten)]
    subject: Subject,
    items: Vec<RecommendedItem>,
}

/// Whom or what a list is for.
#[derive(Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(super) enum Subject {
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

#[derive(Debug, PartialEq, Serialize)]
struct RecommendedItem {
    item: String,
    /// The item's title, if there is a file of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    score: f64,
    /// Whether the user interacted with the item in the test data; only users of the run have test data.
    #[serde(skip_serializing_if = "Option::is_none")]
    in_test: Option<bool>,
    /// Whether the item has a training interaction. If not, its vector is still its initial value.
    in_train: bool,
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
    pub(super) fn of_new_user(saved: &Saved, items: &[u32]) -> Self {
        let counts = saved.data.train.item_counts();
        Self::NewUser {
            new_user_items: items.iter().map(|&item| saved.data.items.raw(item).to_owned()).collect(),
            items_not_in_train: items.iter().filter(|&&item| counts[item as usize] == 0).count(),
        }
    }

    /// An item.
    pub(super) fn of_item(saved: &Saved, item: u32) -> Self {
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

impl Recommendation {
    /// Adds ids, titles and marks to ranked items.
    pub(super) fn new(saved: &Saved, subject: Subject, ranked: &[RankedItem]) -> Self {
        Self::with_titles(saved.run.clone(), &saved.data, subject, ranked, |item| saved.title(item))
    }

    fn with_titles<'a>(
        run: PathBuf,
        data: &InteractionData,
        subject: Subject,
        ranked: &[RankedItem],
        title: impl Fn(u32) -> Option<&'a str>,
    ) -> Self {
        let counts = data.train.item_counts();
        let items = ranked.iter().map(|ranked| RecommendedItem {
            item: data.items.raw(ranked.item).to_owned(),
            title: title(ranked.item).map(str::to_owned),
            score: f64::from(ranked.score),
            in_test: subject.tested(ranked.item),
            in_train: counts[ranked.item as usize] > 0,
        });
        Self {
            run,
            items: items.collect(),
            subject,
        }
    }

    /// A note for a list that is arbitrary, or partly so.
    pub(super) fn note(&self) -> Option<String> {
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
                items_not_in_train: cold @ 1..,
                new_user_items,
            } => Some(format!(
                "{cold} of the {} items have no training interaction: their vectors were never trained, so they say nothing of the user",
                new_user_items.len()
            )),
            _ => None,
        }
    }

    /// One row per item: rank, id, title if any item has one, score, marks.
    pub(super) fn table(&self) -> Table {
        let rows = self.items.iter().zip(1..).map(|(ranked, rank): (_, usize)| {
            let marks = [
                (ranked.in_test == Some(true), "in test"),
                (!ranked.in_train, "not in training"),
            ];
            let marks: Vec<&str> = marks.iter().filter(|(holds, _)| *holds).map(|(_, mark)| *mark).collect();
            let marks = if marks.is_empty() {
                String::new()
            } else {
                format!("({})", marks.join(", "))
            };
            let [rank, score] = [rank.to_string(), format!("{:.4}", ranked.score)];
            let title = ranked.title.as_deref().unwrap_or_default();
            [
                rank.into(),
                Cell::bold(&ranked.item),
                title.into(),
                score.into(),
                marks.into(),
            ]
        });
        let [number, verbatim] = [|| Column::number(""), || Column::verbatim("")];
        if self.items.iter().any(|item| item.title.is_some()) {
            return Table::new([number(), verbatim(), verbatim(), number(), Column::text("")], rows);
        }
        let without_titles = rows.map(|[rank, id, _, score, marks]: [Cell; 5]| [rank, id, score, marks]);
        Table::new([number(), verbatim(), number(), Column::text("")], without_titles)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_data::{HoldOut, IdMap, Interactions, LoadReport};
    use bcl_report::TextStyle;

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

    fn of(user: u32) -> Recommendation {
        let ranked = [RankedItem { item: 2, score: 0.5 }, RankedItem { item: 1, score: 0.25 }];
        let data = data();
        Recommendation::with_titles("runs/a-0".into(), &data, Subject::of_user(&data, user), &ranked, |_| None)
    }

    #[test]
    fn titles_have_a_column_if_there_are_any() {
        let data = data();
        let ranked = [RankedItem { item: 2, score: 0.5 }, RankedItem { item: 0, score: 0.25 }];
        let subject = Subject::NewUser {
            new_user_items: vec!["y".to_owned()],
            items_not_in_train: 0,
        };
        let title = |item| (item == 2).then_some("Jam, \u{1b}red");
        let list = Recommendation::with_titles("runs/a-0".into(), &data, subject, &ranked, title);
        assert_eq!(
            list.table().to_string(),
            "1  z  Jam, \\u{1b}red  0.5000  (not in training)\n2  x                  0.2500\n"
        );
        let json = serde_json::to_value(&list).unwrap();
        assert_eq!(json["items"][0]["title"], "Jam, \u{1b}red");
        assert!(json["items"][1].get("title").is_none() && json["items"][0].get("in_test").is_none());
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
                { "item": "z", "score": 0.5, "in_test": false, "in_train": false },
                { "item": "\u{1b}[2Jy", "score": 0.25, "in_test": true, "in_train": true },
            ],
        });
        assert_eq!(serde_json::to_value(of(1)).unwrap(), expected);
    }

    #[test]
    fn the_terminal_shows_marks_and_no_control_characters() {
        assert_eq!(
            of(0).table().to_string(),
            "1  z           0.5000  (in test, not in training)\n2  \\u{1b}[2Jy  0.2500\n"
        );
        let bold = of(0).table().render(&TextStyle { width: None, bold: true });
        assert!(bold.starts_with("1  \u{1b}[1mz\u{1b}[0m  "), "{bold}");
    }
}
