//! One list as a table.

use bcl_report::{Cell, Column, Table};
use bcl_train::kinds::interactions::Recommendations;

/// One row per item: rank, id, title if any item has one, score, mark.
pub(super) fn of(list: &Recommendations) -> Table {
    let rows = list.items.iter().zip(1..).map(|(ranked, rank): (_, usize)| {
        let mark = if ranked.in_test == Some(true) { "(in test)" } else { "" };
        let [rank, score] = [rank.to_string(), format!("{:.4}", ranked.score)];
        let title = ranked.title.as_deref().unwrap_or_default();
        [rank.into(), Cell::bold(&ranked.item), title.into(), score.into(), mark.into()]
    });
    let [number, verbatim] = [|| Column::number(""), || Column::verbatim("")];
    if list.items.iter().any(|item| item.title.is_some()) {
        return Table::new([number(), verbatim(), verbatim(), number(), Column::text("")], rows);
    }
    let without_titles = rows.map(|[rank, id, _, score, mark]: [Cell; 5]| [rank, id, score, mark]);
    Table::new([number(), verbatim(), number(), Column::text("")], without_titles)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bcl_report::TextStyle;
    use bcl_train::kinds::interactions::{RecommendedItem, Subject};

    fn list(second: &str, title: Option<&str>) -> Recommendations {
        let item = |id: &str, title: Option<&str>, score, in_test| RecommendedItem {
            item: id.to_owned(),
            title: title.map(str::to_owned),
            score,
            in_test,
        };
        Recommendations {
            run: "runs/a-0".into(),
            subject: Subject::NewUser {
                new_user_items: Vec::new(),
                items_not_in_train: 0,
            },
            items: vec![item("z", title, 0.5, Some(title.is_none())), item(second, None, 0.25, None)],
        }
    }

    #[test]
    fn titles_have_a_column_if_there_are_any() {
        assert_eq!(
            of(&list("x", Some("Jam, \u{1b}red"))).to_string(),
            "1  z  Jam, \\u{1b}red  0.5000\n2  x                  0.2500\n"
        );
    }

    #[test]
    fn the_terminal_shows_test_items_and_no_control_characters() {
        let list = list("\u{1b}[2Jy", None);
        assert_eq!(
            of(&list).to_string(),
            "1  z           0.5000  (in test)\n2  \\u{1b}[2Jy  0.2500\n"
        );
        let bold = of(&list).render(&TextStyle { width: None, bold: true });
        assert!(bold.starts_with("1  \u{1b}[1mz\u{1b}[0m  "), "{bold}");
    }
}
