//! The values of a file's ratings: whether they are labels, of which 0 is no positive.

use crate::DataError;
use bcl_files::notice::note;
use std::path::Path;

/// What is known of the ratings so far.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ratings {
    highest: f64,
    lowest: f64,
    /// Whether all are -1, 0 or 1.
    all_labels: bool,
}

impl Default for Ratings {
    fn default() -> Self {
        Self {
            highest: f64::NEG_INFINITY,
            lowest: f64::INFINITY,
            all_labels: true,
        }
    }
}

impl Ratings {
    pub(super) fn add(&mut self, rating: f64) {
        self.highest = self.highest.max(rating);
        self.lowest = self.lowest.min(rating);
        self.all_labels &= rating == 0.0 || rating.abs() == 1.0;
    }

    pub(super) fn highest(&self) -> f64 {
        self.highest
    }

    /// Whether ratings mark positives by 1 and all others by 0 or -1.
    pub(super) fn are_labels(&self) -> bool {
        self.all_labels && self.highest == 1.0 && self.lowest < 1.0
    }

    /// Without a threshold, rows marked as no positive would be positives. That is refused where the recipe names the column, and told where
    /// it was found by its name or place.
    pub(super) fn refuse_or_tell(&self, path: &Path, is_named: bool) -> Result<(), DataError> {
        let what = format!(
            "its ratings are only {} and 1, and without `data.min_rating` every row is a positive",
            self.lowest
        );
        let leave_out = "Set `data.min_rating = 1` to leave the others out";
        if is_named {
            let problem = format!("{what}. {leave_out}, or remove `data.columns.rating` to keep all rows");
            return Err(DataError::file(path, problem));
        }
        note(format_args!("{}: {what}. {leave_out}", path.display()));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(ratings: &[f64]) -> Ratings {
        let mut all = Ratings::default();
        for &rating in ratings {
            all.add(rating);
        }
        all
    }

    #[test]
    fn labels_are_zero_or_minus_one_beside_one() {
        for (ratings, expected) in [
            (&[0.0, 1.0][..], true),
            (&[1.0, -1.0, 0.0], true),
            (&[1.0, 1.0], false),
            (&[0.0, 0.0], false),
            (&[0.0, 1.0, 2.0], false),
            (&[0.5, 1.0], false),
            (&[], false),
        ] {
            assert_eq!(of(ratings).are_labels(), expected, "{ratings:?}");
        }
    }

    #[test]
    fn labels_of_a_named_column_are_refused() {
        let path = Path::new("a.csv");
        let error = of(&[0.0, 1.0]).refuse_or_tell(path, true).unwrap_err().to_string();
        assert!(
            error.contains("only 0 and 1") && error.contains("data.min_rating = 1") && error.contains("data.columns.rating"),
            "{error}"
        );
        of(&[0.0, 1.0]).refuse_or_tell(path, false).unwrap();
    }
}
