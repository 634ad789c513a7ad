//! The result of a cross-validation.

use super::{CrossValidator, SAME_ACCURACY};
use serde::{Deserialize, Serialize};

/// The accuracy of a classifier on all graphs, each tested once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CrossValidation {
    /// One entry per fold.
    pub folds: Vec<FoldResult>,
    /// The predicted class of each graph, from the fold in which it is tested.
    pub predictions: Vec<u32>,
}

/// The result of a fold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FoldResult {
    /// Fraction of test graphs whose class is predicted, from 0 to 1.
    pub accuracy: f64,
    /// What the inner folds chose; `None` for a classifier without a choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choice: Option<Choice>,
}

/// What the inner folds of a fold chose.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// Index of the kernel; 0 if there is only one.
    pub kernel: usize,
    /// The C.
    pub c: f64,
    /// Mean accuracy over the inner folds, from 0 to 1.
    pub accuracy: f64,
}

impl CrossValidation {
    /// Mean accuracy over the folds, from 0 to 1.
    pub fn mean(&self) -> f64 {
        self.folds.iter().map(|fold| fold.accuracy).sum::<f64>() / self.folds.len() as f64
    }

    /// Standard deviation of the accuracy over the folds (of the population, as papers print it).
    pub fn std(&self) -> f64 {
        let mean = self.mean();
        let squares = self.folds.iter().map(|fold| (fold.accuracy - mean).powi(2));
        (squares.sum::<f64>() / self.folds.len() as f64).sqrt()
    }

    /// Takes each fold from the candidate with the best inner accuracy there, the first of equal ones.
    ///
    /// This chooses an epoch without test graphs, if the candidates are the epochs of a run.
    ///
    /// # Panics
    /// Panics if there are no candidates, if one has another number of folds than the validator, or if one has no [`Choice`].
    pub fn nested<'a>(validator: &CrossValidator, candidates: impl IntoIterator<Item = &'a Self>) -> Self {
        let candidates: Vec<&Self> = candidates.into_iter().collect();
        let num_folds = validator.num_folds();
        assert!(!candidates.is_empty(), "there are no candidates");
        for candidate in &candidates {
            assert_eq!(
                candidate.folds.len(),
                num_folds,
                "candidates must have the folds of the validator"
            );
        }
        let inner = |candidate: &Self, fold: usize| candidate.folds[fold].choice.expect("a choice").accuracy;
        let best = |fold| {
            let keep = |best, next| {
                if inner(next, fold) > inner(best, fold) + SAME_ACCURACY {
                    next
                } else {
                    best
                }
            };
            candidates.iter().copied().reduce(keep).expect("at least one candidate")
        };
        let best: Vec<&Self> = (0..num_folds).map(best).collect();
        let graphs = validator.folds().iter().enumerate();
        Self {
            folds: best
                .iter()
                .enumerate()
                .map(|(fold, candidate)| candidate.folds[fold])
                .collect(),
            predictions: graphs.map(|(graph, &fold)| best[fold].predictions[graph]).collect(),
        }
    }
}
