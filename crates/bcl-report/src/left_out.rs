//! What a run on interactions left out of its files, and what its test data have that training data lack, in words.

use crate::units::count;
use bcl_data::LoadReport;

/// What was left out of the files, in words; `None` if nothing was.
///
/// ```
/// use bcl_data::LoadReport;
/// use bcl_report::left_out::{left_out, untrained};
///
/// let report = LoadReport { rows: 100, repeats: 3, untrained_users: 1, of_untrained_users: 2, ..LoadReport::default() };
/// assert_eq!(left_out(&report).unwrap(), "3 repeated interactions, of 100 in the files");
/// assert_eq!(untrained(&report, 20).unwrap(), "2 of 20 test interactions are not evaluated: 1 user has no training interaction");
/// ```
pub fn left_out(report: &LoadReport) -> Option<String> {
    let of_rare = format!(
        "{} of {} with too few interactions",
        counted(report.of_rare, "interaction"),
        users_and_items(report.rare_users, report.rare_items)
    );
    let parts = [
        (
            report.below_min_rating,
            format!("{} below data.min_rating", counted(report.below_min_rating, "interaction")),
        ),
        (report.repeats, counted(report.repeats, "repeated interaction")),
        (report.of_rare, of_rare),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(_, text)| text)
        .collect();
    (!parts.is_empty()).then(|| format!("{}, of {} in the files", parts.join(", "), count(report.rows)))
}

/// What nothing could be learned about, in words, given the number of test interactions; `None` if there is nothing.
pub fn untrained(report: &LoadReport, test: usize) -> Option<String> {
    let parts = [
        (report.of_untrained_users, report.untrained_users, "user", "are not evaluated"),
        (report.of_untrained_items, report.untrained_items, "item", "count as missed"),
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
        let counts = LoadReport {
            rows: 7,
            ..LoadReport::default()
        };
        assert_eq!((left_out(&counts), untrained(&counts, 3)), (None, None));
    }

    #[test]
    fn every_reason_is_named_with_its_count() {
        let counts = LoadReport {
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
            left_out(&counts).unwrap(),
            "44,625 interactions below data.min_rating, 1 repeated interaction, 1,500 interactions of 20 users and 1 item with too few \
             interactions, of 100,000 in the files"
        );
        assert_eq!(
            untrained(&counts, 20_000).unwrap(),
            "45 of 20,000 test interactions are not evaluated: 2 users have no training interaction; 31 of 20,000 test interactions \
             count as missed: 30 items have no training interaction"
        );
    }
}
