//! How graph encoders are evaluated: the `[evaluation]` table of a recipe.

use super::{Classifier, CrossValidationConfig, Scaling};
use bcl_core::{
    ParameterError,
    parameter::{MOST_EPOCHS, count_in},
};
use bcl_report::metric_names::{LINEAR_SVM, LOGISTIC_REGRESSION, RBF_SVM, RBF_SVM_RAW};
use serde::{Deserialize, Serialize};

/// How graph vectors are evaluated.
///
/// Each classifier is cross-validated by [`CrossValidator`](super::CrossValidator): its C is chosen by inner folds of the training part. The
/// encoder has seen all graphs, without their classes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GraphEvaluationConfig {
    /// Epochs between two evaluations during training, at most 1,000,000; 0 evaluates after the last epoch only.
    pub every: usize,
    /// The classifiers. The first one is shown and compared.
    pub classifiers: Vec<GraphClassifier>,
    /// Number of folds, 2 to 1000.
    pub folds: usize,
    /// Number of inner folds, by which C is chosen, 2 to 1000.
    pub inner_folds: usize,
    /// The values of C to choose from, ascending, in [1e-9, 1e9].
    pub c: Vec<f64>,
    /// Baselines to compare with.
    pub baselines: Vec<GraphBaselineKind>,
    /// Most rounds of the Weisfeiler-Lehman kernel, at most 100; inner folds choose their number.
    pub wl_rounds: usize,
}

/// A classifier of graph vectors, whose accuracy is the metric of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GraphClassifier {
    /// A support vector machine with an RBF kernel, on z-scores of the training part.
    RbfSvm,
    /// The same on vectors as they are, as released code does.
    RbfSvmRaw,
    /// A linear support vector machine, on z-scores.
    LinearSvm,
    /// Logistic regression, on z-scores.
    LogisticRegression,
}

impl GraphClassifier {
    /// The name in recipes, and of the metric.
    pub fn name(self) -> &'static str {
        match self {
            Self::RbfSvm => RBF_SVM,
            Self::RbfSvmRaw => RBF_SVM_RAW,
            Self::LinearSvm => LINEAR_SVM,
            Self::LogisticRegression => LOGISTIC_REGRESSION,
        }
    }

    /// The classifier, and how vectors are scaled before.
    pub(super) fn parts(self) -> (Classifier, Scaling) {
        match self {
            Self::RbfSvm => (Classifier::RbfSvm, Scaling::ZScores),
            Self::RbfSvmRaw => (Classifier::RbfSvm, Scaling::None),
            Self::LinearSvm => (Classifier::LinearSvm, Scaling::ZScores),
            Self::LogisticRegression => (Classifier::LogisticRegression, Scaling::ZScores),
        }
    }
}

/// Vectors or kernels of graphs that need no training.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GraphBaselineKind {
    /// The most frequent class of the training part.
    Majority,
    /// The numbers of nodes and edges.
    Sizes,
    /// The number of nodes of each label, or degree.
    LabelCounts,
    /// The Weisfeiler-Lehman subtree kernel.
    WeisfeilerLehman,
    /// The encoder before training.
    RandomEncoder,
}

impl GraphBaselineKind {
    /// The name in recipes and results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Majority => "majority",
            Self::Sizes => "sizes",
            Self::LabelCounts => "label_counts",
            Self::WeisfeilerLehman => "weisfeiler_lehman",
            Self::RandomEncoder => "random_encoder",
        }
    }
}

impl Default for GraphEvaluationConfig {
    fn default() -> Self {
        let CrossValidationConfig { folds, inner_folds, c } = CrossValidationConfig::default();
        Self {
            every: 0,
            classifiers: vec![GraphClassifier::RbfSvm, GraphClassifier::RbfSvmRaw],
            folds,
            inner_folds,
            c,
            baselines: vec![
                GraphBaselineKind::Majority,
                GraphBaselineKind::Sizes,
                GraphBaselineKind::LabelCounts,
                GraphBaselineKind::WeisfeilerLehman,
                GraphBaselineKind::RandomEncoder,
            ],
            wl_rounds: 5,
        }
    }
}

impl GraphEvaluationConfig {
    /// Checks that all parameters are in range.
    ///
    /// # Errors
    /// Returns an error that names the first parameter out of range, its value and the remedy.
    pub fn check(&self) -> Result<(), String> {
        let text = |error: ParameterError| error.to_string();
        count_in("every", self.every, 0, MOST_EPOCHS).map_err(text)?;
        count_in("wl_rounds", self.wl_rounds, 0, 100).map_err(text)?;
        if self.c.is_empty() {
            return Err("c lists nothing; list at least one number, such as 1.0".to_owned());
        }
        self.cross_validation().check().map_err(text)?;
        if self.classifiers.is_empty() {
            return Err("classifiers lists nothing; list at least one, such as \"rbf_svm\"".to_owned());
        }
        each_once("classifiers", &self.classifiers)?;
        each_once("baselines", &self.baselines)
    }

    /// The metrics, in the order of the classifiers.
    pub fn metrics(&self) -> Vec<&'static str> {
        self.classifiers.iter().map(|classifier| classifier.name()).collect()
    }

    /// The folds and the values of C.
    pub(super) fn cross_validation(&self) -> CrossValidationConfig {
        CrossValidationConfig {
            folds: self.folds,
            inner_folds: self.inner_folds,
            c: self.c.clone(),
        }
    }
}

fn each_once<T: PartialEq>(key: &str, names: &[T]) -> Result<(), String> {
    if names.iter().enumerate().any(|(i, name)| names[..i].contains(name)) {
        return Err(format!("{key} lists a name twice; list each once"));
    }
    Ok(())
}
