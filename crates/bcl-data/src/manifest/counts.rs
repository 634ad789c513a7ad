//! Expected counts of a data set, and their check.

use super::{GraphCounts, ImageCounts, Layout, Manifest};
use crate::LoadReport;
use crate::load::Source;
use crate::{DataError, InteractionData};
use serde::{Deserialize, Serialize};

/// Expected counts of a data set. Counts that are not given are not checked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Counts {
    /// Users with an interaction.
    pub users: Option<usize>,
    /// Items with an interaction.
    pub items: Option<usize>,
    /// Interactions, train and test together.
    pub interactions: Option<usize>,
    /// Training interactions.
    pub train: Option<usize>,
    /// Test interactions.
    pub test: Option<usize>,
    /// The counts that Table 9 of the BCL paper prints.
    pub paper: Option<PaperCounts>,
    /// Expected counts of a data set of images.
    pub images: Option<ImageCounts>,
    /// Expected counts of a data set of graphs.
    pub graphs: Option<GraphCounts>,
}

/// The counts of the BCL paper's Table 9.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct PaperCounts {
    /// Users, as printed.
    pub users: usize,
    /// Items, as printed.
    pub items: usize,
    /// Interactions, as printed.
    pub interactions: usize,
    /// Why the expected counts differ from these.
    pub note: Option<String>,
}

impl Manifest {
    /// Compares loaded data with the expected counts. With a rating threshold (`filtered`), only the number of rows is comparable.
    pub(super) fn check_counts(
        &self,
        source: &Source,
        data: &InteractionData,
        report: &LoadReport,
        filtered: bool,
    ) -> Result<(), DataError> {
        // The counts of train and test are only valid for the manifest's own kind of split and ratio.
        let own_share = match (source, &self.layout) {
            (Source::Whole { split, .. }, Layout::Whole { split: own, .. }) => {
                (split.kind, split.test_ratio()) == (own.kind, own.test_ratio())
            }
            (Source::Whole { .. }, _) => false,
            (Source::Split { .. }, _) => true,
        };
        let all = |count: Option<usize>| count.filter(|_| !filtered);
        let part = |count| all(count).filter(|_| own_share);
        let expected = &self.counts;
        let counts = [
            ("users", all(expected.users), data.users.len()),
            ("items", all(expected.items), data.items.len()),
            ("interactions", expected.interactions, report.rows - report.repeats),
            ("training interactions", part(expected.train), data.train.len()),
            ("test interactions", part(expected.test), data.test.len()),
        ];

        for (what, expected, found) in counts {
            if let Some(expected) = expected.filter(|&expected| expected != found) {
                return Err(DataError::wrong_count(source.files()[0], &self.name, found, what, expected));
            }
        }
        Ok(())
    }
}
