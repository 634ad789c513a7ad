//! How recommenders are evaluated: the `[evaluation]` table of a recipe.

use bcl_core::parameter::in_closed;
use bcl_report::metric_names::OF_LISTS;
use serde::{Deserialize, Serialize};

/// Largest cutoff.
const MOST_LENGTH: usize = 1_000_000;
/// Maximum number of cutoffs.
const MOST_CUTOFFS: usize = 100;

/// Maximum number of neighbours of item-kNN.
const MOST_NEIGHBOURS: usize = 10_000;

/// What is measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RankingEvaluationConfig {
    /// Lengths of the recommended lists, ascending, at most 100 of them, each 1 to 1,000,000.
    pub cutoffs: Vec<usize>,
    /// Baselines to compare with. By default all; EASE and item-kNN are skipped with a note if the data are too large for them.
    pub baselines: Vec<BaselineKind>,
    /// Regularisation λ of EASE, in [1e-12, 1e12].
    pub ease_lambda: f64,
    /// Number of neighbours of each item in item-kNN, 1 to 10,000.
    pub knn_neighbours: usize,
    /// Shrinkage of the cosines of item-kNN, in [0, 1e6].
    pub knn_shrinkage: f64,
}

/// Recommenders that need no gradient descent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BaselineKind {
    /// Recommends random items; the floor of every metric.
    Random,
    /// Recommends the most popular items to everybody.
    Popularity,
    /// Recommends items that are similar to the user's: the cosine of their users, with the nearest neighbours only.
    ItemKnn,
    /// A linear model in closed form (Steck 2019). Needs a dense matrix of items times items.
    Ease,
}

impl BaselineKind {
    /// All baselines.
    pub const ALL: [Self; 4] = [Self::Random, Self::Popularity, Self::ItemKnn, Self::Ease];

    /// The name in recipes and results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Popularity => "popularity",
            Self::ItemKnn => "item_knn",
            Self::Ease => "ease",
        }
    }
}

impl Default for RankingEvaluationConfig {
    fn default() -> Self {
        Self {
            cutoffs: vec![5, 10, 20],
            baselines: BaselineKind::ALL.to_vec(),
            ease_lambda: 400.0,
            knn_neighbours: 100,
            knn_shrinkage: 0.0,
        }
    }
}

impl RankingEvaluationConfig {
    /// Metrics at a cutoff, averaged over users, that can select an epoch.
    pub const METRICS: [&str; 6] = OF_LISTS;

    /// Checks that all parameters are in range.
    ///
    /// # Errors
    /// Returns an error that names the first parameter out of range, its value and the remedy.
    pub fn check(&self) -> Result<(), String> {
        check_cutoffs(&self.cutoffs)?;
        if self
            .baselines
            .iter()
            .enumerate()
            .any(|(i, kind)| self.baselines[..i].contains(kind))
        {
            return Err("baselines names a baseline twice; name each once".to_owned());
        }
        if !(1..=MOST_NEIGHBOURS).contains(&self.knn_neighbours) {
            return Err(format!(
                "knn_neighbours is {}, but must be in [1, {MOST_NEIGHBOURS}]",
                self.knn_neighbours
            ));
        }
        in_closed("knn_shrinkage", self.knn_shrinkage, 0.0, 1e6)
            .and_then(|()| in_closed("ease_lambda", self.ease_lambda, 1e-12, 1e12))
            .map_err(|error| error.to_string())
    }

    /// The metrics that can select an epoch, such as `ndcg@20`.
    pub fn metrics(&self) -> Vec<String> {
        let at_cutoffs = |metric| self.cutoffs.iter().map(move |cutoff| format!("{metric}@{cutoff}"));
        Self::METRICS.iter().flat_map(at_cutoffs).collect()
    }
}

/// Checks the lengths of recommended lists.
///
/// # Errors
/// Returns an error with the value and the remedy if they are not ascending, too many, or out of range.
pub fn check_cutoffs(cutoffs: &[usize]) -> Result<(), String> {
    let lengths = cutoffs.iter().all(|cutoff| (1..=MOST_LENGTH).contains(cutoff));
    if (1..=MOST_CUTOFFS).contains(&cutoffs.len()) && lengths && cutoffs.is_sorted_by(|a, b| a < b) {
        return Ok(());
    }
    let shown = match cutoffs {
        [first, .., last] if cutoffs.len() > 8 => format!("{} numbers, {first} to {last}", cutoffs.len()),
        _ => format!("{cutoffs:?}"),
    };
    Err(format!(
        "cutoffs is {shown}, but must be ascending lengths from 1 on, such as [5, 10, 20]: at most {MOST_CUTOFFS} of them, none \
         above {MOST_LENGTH}"
    ))
}
