//! Nested cross-validation: the accuracy of a classifier on graphs that it has not seen, with C chosen without them.

mod config;
mod part;
mod result;
#[cfg(test)]
mod tests;

pub use config::CrossValidationConfig;
pub use part::Classifier;
pub use result::{Choice, CrossValidation, FoldResult};

use super::{
    GraphError, Kernel, Scaling, Vectors,
    folds::{shuffled_folds, stratified_folds, train_and_test},
    svm::classes_of,
};
use crate::Interrupt;
use bcl_data::Seed;
use part::Input;
use rayon::prelude::*;

/// Means of inner accuracies that differ by less are equal: rounding must not decide between two C.
const SAME_ACCURACY: f64 = 1e-12;

/// Classifies graphs by nested cross-validation.
///
/// The graphs are split into 10 stratified folds, in an order that the seed determines. For each fold, a classifier is trained on
/// the other nine and tested on this one. Its C is the one with the best mean accuracy over 5 stratified inner folds of the nine,
/// the smallest of equal ones; then it is trained again on all nine. Everything else that is fitted, such as z-scores or the γ of
/// an RBF kernel, is fitted on the training part alone, inner folds included. So the test fold decides nothing.
///
/// Results depend on the labels, the seed and the vectors only. All encoders and all epochs get the same folds.
///
/// ```
/// use bcl_data::Seed;
/// use bcl_eval::graphs::{Classifier, CrossValidationConfig, CrossValidator, Scaling, Vectors};
///
/// let labels: Vec<u32> = (0..40).map(|graph| graph % 2).collect();
/// let vectors = Vectors::new(labels.iter().map(|&label| f64::from(label)).collect(), 1);
/// let validator = CrossValidator::new(&labels, CrossValidationConfig::default(), Seed(0))?;
/// let found = validator.vectors(&vectors, Classifier::RbfSvm, Scaling::ZScores)?;
/// assert_eq!(found.mean(), 1.0);
/// assert_eq!(validator.majority().mean(), 0.5);
/// # Ok::<(), bcl_eval::graphs::GraphError>(())
/// ```
#[derive(Debug, Clone)]
pub struct CrossValidator {
    labels: Vec<u32>,
    folds: Vec<usize>,
    config: CrossValidationConfig,
    interrupt: Interrupt,
}

impl CrossValidator {
    /// Splits graphs into folds.
    ///
    /// # Errors
    /// Returns an error if all graphs have the same class, or if there are too few graphs for the folds.
    ///
    /// # Panics
    /// Panics if [`CrossValidationConfig::check`] fails.
    pub fn new(labels: &[u32], config: CrossValidationConfig, seed: Seed) -> Result<Self, GraphError> {
        config.check().unwrap_or_else(|error| panic!("{error}"));
        let classes = classes_of(labels);
        if classes.len() == 1 {
            return Err(GraphError::OneClass {
                num_graphs: labels.len(),
            });
        }
        let size = |class: &u32| labels.iter().filter(|label| *label == class).count();
        let (largest, needed) = (classes.iter().map(size).max().unwrap_or(0), config.least_graphs());
        if largest < needed {
            return Err(GraphError::TooFewGraphs {
                folds: config.folds,
                inner_folds: config.inner_folds,
                needed,
                largest,
            });
        }
        Ok(Self {
            labels: labels.to_vec(),
            folds: shuffled_folds(labels, config.folds, seed),
            config,
            interrupt: Interrupt::default(),
        })
    }

    /// Makes the methods stop with [`GraphError::Interrupted`] once asked to. It is asked between and within trainings.
    pub fn with_interrupt(mut self, interrupt: Interrupt) -> Self {
        self.interrupt = interrupt;
        self
    }

    /// Number of folds.
    pub fn num_folds(&self) -> usize {
        self.config.folds
    }

    /// The fold in which each graph is tested.
    pub fn folds(&self) -> &[usize] {
        &self.folds
    }

    /// Classifies graph vectors.
    ///
    /// # Errors
    /// Returns an error if a value is not finite, or if interrupted.
    ///
    /// # Panics
    /// Panics if the numbers of vectors and labels differ.
    pub fn vectors(&self, vectors: &Vectors, classifier: Classifier, scaling: Scaling) -> Result<CrossValidation, GraphError> {
        self.check_count(vectors.len());
        vectors.check_finite()?;
        let input = Input::Vectors {
            vectors,
            classifier,
            scaling,
        };
        self.validate(&[input])
    }

    /// Classifies graphs by [`Svc`](super::Svc) with kernels that are given. If there are several, the inner folds choose one, together with
    /// C; of equal ones the first.
    ///
    /// # Errors
    /// Returns an error if a value is not finite, or if interrupted.
    ///
    /// # Panics
    /// Panics if there are no kernels, or if the numbers of graphs and labels differ.
    pub fn kernels(&self, kernels: &[Kernel]) -> Result<CrossValidation, GraphError> {
        assert!(!kernels.is_empty(), "there are no kernels");
        for kernel in kernels {
            self.check_count(kernel.len());
            kernel.check_finite()?;
        }
        let inputs: Vec<Input> = kernels.iter().map(Input::Kernel).collect();
        self.validate(&inputs)
    }

    /// Predicts the most frequent class of the training part, the lowest of several.
    pub fn majority(&self) -> CrossValidation {
        let classes = classes_of(&self.labels);
        let results = (0..self.num_folds()).map(|fold| {
            let [train, test] = train_and_test(&self.folds, fold);
            let size = |class: &u32| train.iter().filter(|&&graph| self.labels[graph] == *class).count();
            // Reversed, because `max_by_key` takes the last of equal elements.
            let majority = *classes
                .iter()
                .rev()
                .max_by_key(|class| size(class))
                .expect("two classes or more");
            let predictions = vec![majority; test.len()];
            self.result(test, predictions, None)
        });
        self.gather(results)
    }

    fn check_count(&self, num_graphs: usize) {
        assert_eq!(num_graphs, self.labels.len(), "each graph needs one label");
    }

    fn validate(&self, inputs: &[Input]) -> Result<CrossValidation, GraphError> {
        let fold = |fold| {
            let [train, test] = train_and_test(&self.folds, fold);
            let choice = self.choose(inputs, &train)?;
            let part = inputs[choice.kernel].part(&train, &test, &self.labels, &self.interrupt);
            let predictions = part.predictions(choice.c)?;
            Ok(self.result(test, predictions, Some(choice)))
        };
        let results: Result<Vec<_>, GraphError> = (0..self.num_folds()).into_par_iter().map(fold).collect();
        Ok(self.gather(results?))
    }

    /// Chooses the input and C by inner folds of the training part.
    fn choose(&self, inputs: &[Input], train: &[usize]) -> Result<Choice, GraphError> {
        let labels: Vec<u32> = train.iter().map(|&graph| self.labels[graph]).collect();
        let inner_folds = stratified_folds(&labels, self.config.inner_folds);
        // One accuracy per C.
        let accuracies = |(input, fold): (usize, usize)| {
            let graphs = train_and_test(&inner_folds, fold).map(|part| part.into_iter().map(|at| train[at]).collect::<Vec<_>>());
            let [train, test] = graphs;
            let part = inputs[input].part(&train, &test, &self.labels, &self.interrupt);
            let accuracy = |&c: &f64| Ok(self.accuracy(&test, &part.predictions(c)?));
            self.config.c.iter().map(accuracy).collect::<Result<Vec<f64>, GraphError>>()
        };
        let num_folds = self.config.inner_folds;
        let trials = (0..inputs.len() * num_folds)
            .into_par_iter()
            .map(|trial| (trial / num_folds, trial % num_folds));
        let accuracies: Vec<Vec<f64>> = trials.map(accuracies).collect::<Result<_, _>>()?;

        let choices = accuracies.chunks_exact(num_folds).enumerate().flat_map(|(kernel, folds)| {
            self.config.c.iter().enumerate().map(move |(index, &c)| Choice {
                kernel,
                c,
                accuracy: folds.iter().map(|accuracies| accuracies[index]).sum::<f64>() / num_folds as f64,
            })
        });
        let keep = |best: Choice, next: Choice| {
            if next.accuracy > best.accuracy + SAME_ACCURACY {
                next
            } else {
                best
            }
        };
        Ok(choices.reduce(keep).expect("an input and a C"))
    }

    /// Fraction of graphs whose class is predicted.
    fn accuracy(&self, graphs: &[usize], predictions: &[u32]) -> f64 {
        let hits = graphs
            .iter()
            .zip(predictions)
            .filter(|&(&graph, &class)| self.labels[graph] == class);
        hits.count() as f64 / graphs.len() as f64
    }

    fn result(&self, test: Vec<usize>, predictions: Vec<u32>, choice: Option<Choice>) -> Tested {
        let accuracy = self.accuracy(&test, &predictions);
        Tested {
            result: FoldResult { accuracy, choice },
            predictions: test.into_iter().zip(predictions).collect(),
        }
    }

    fn gather(&self, tested: impl IntoIterator<Item = Tested>) -> CrossValidation {
        let mut all = vec![0; self.labels.len()];
        let mut folds = Vec::with_capacity(self.num_folds());
        for Tested { result, predictions } in tested {
            folds.push(result);
            for (graph, class) in predictions {
                all[graph] = class;
            }
        }
        CrossValidation { folds, predictions: all }
    }
}

/// A fold with the predicted class of each of its graphs.
struct Tested {
    result: FoldResult,
    predictions: Vec<(usize, u32)>,
}
