//! The output of `recommend`: the best items for one user, with notes on how far to trust them.

use bcl_data::InteractionData;
use bcl_eval::ranking::RankedItem;
use bcl_report::{Cell, Column, Table};
use serde::Serialize;
use std::path::PathBuf;

/// The items recommended to a user, best first.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Recommendation {
    /// Folder of the run.
    run: PathBuf,
    /// The user's id.
    user: String,
    /// Whether the user has a training interaction. If not, the user's vector is still its initial value.
    user_in_train: bool,
    items: Vec<RecommendedItem>,
}

#[derive(Debug, PartialEq, Serialize)]
struct RecommendedItem {
    item: String,
    score: f64,
    /// Whether the user interacted with the item in the test data.
    in_test: bool,
    /// Whether the item has a training interaction. If not, its vector is still its initial value.
    in_train: bool,
}

impl Recommendation {
    /// Adds ids and marks to ranked items.
    pub(super) fn new(run: PathBuf, data: &InteractionData, user: u32, ranked: &[RankedItem]) -> Self {
        let trained: Vec<bool> = {
            let mut trained = vec![false; data.train.num_items()];
            data.train.pairs().for_each(|(_, item)| trained[item as usize] = true);
            trained
        };
        let items = ranked.iter().map(|ranked| RecommendedItem {
            item: data.items.raw(ranked.item).to_owned(),
            score: f64::from(ranked.score),
            in_test: data.test.contains(user, ranked.item),
            in_train: trained[ranked.item as usize],
        });
        Self {
            run,
            user: data.users.raw(user).to_owned(),
            user_in_train: !data.train.items_of(user).is_empty(),
            items: items.collect(),
        }
    }

    /// A note for a user whose ranking is arbitrary.
    pub(super) fn note(&self) -> Option<String> {
        (!self.user_in_train).then(|| {
            format!(
                "user {} has no training interaction: the user's vector was never trained, so this ranking is arbitrary",
                self.user
            )
        })
    }

    /// One row per item: rank, id, score, marks.
    pub(super) fn table(&self) -> Table {
        let rows = self.items.iter().zip(1..).map(|(ranked, rank): (_, usize)| {
            let marks = [(ranked.in_test, "in test"), (!ranked.in_train, "not in training")];
            let marks: Vec<&str> = marks.iter().filter(|(holds, _)| *holds).map(|(_, mark)| *mark).collect();
            let marks = if marks.is_empty() {
                String::new()
            } else {
                format!("({})", marks.join(", "))
            };
            let [rank, score] = [rank.to_string(), format!("{:.4}", ranked.score)];
            [rank.into(), Cell::bold(&ranked.item), score.into(), marks.into()]
        });
        Table::new(
            [Column::number(""), Column::verbatim(""), Column::number(""), Column::text("")],
            rows,
        )
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
        Recommendation::new("runs/a-0".into(), &data(), user, &ranked)
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
