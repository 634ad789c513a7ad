//! Training and test parts of a fold, and the classifiers on them.

use crate::{
    Interrupt,
    graphs::{GraphError, Kernel, LinearSvc, LogisticRegression, Scaling, Svc, Vectors, kernel::rbf_between},
};
use serde::{Deserialize, Serialize};

/// Classifiers of graph vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Classifier {
    /// [`Svc`] with the RBF kernel; γ is the [scale](Vectors::gamma_scale) of the training part.
    RbfSvm,
    /// [`LinearSvc`].
    LinearSvm,
    /// [`LogisticRegression`].
    LogisticRegression,
}

/// What is classified, and by what.
pub(super) enum Input<'a> {
    Vectors {
        vectors: &'a Vectors,
        classifier: Classifier,
        scaling: Scaling,
    },
    Kernel(&'a Kernel),
}

/// A training and a test part, ready for any C.
pub(super) struct Part<'a> {
    /// Classes of the training part.
    labels: Vec<u32>,
    data: PartData,
    interrupt: &'a Interrupt,
}

enum PartData {
    Kernel { train: Kernel, test: Vec<Vec<f64>> },
    Linear { train: Vectors, test: Vectors },
    Logistic { train: Vectors, test: Vectors },
}

impl Input<'_> {
    /// Selects both parts and fits on the training part all that does not depend on C.
    pub(super) fn part<'a>(&self, train: &[usize], test: &[usize], labels: &[u32], interrupt: &'a Interrupt) -> Part<'a> {
        let data = match self {
            Self::Kernel(kernel) => PartData::Kernel {
                train: kernel.select(train),
                test: kernel.between(test, train),
            },
            Self::Vectors {
                vectors,
                classifier,
                scaling,
            } => {
                let [train, test] = scaling.of_parts(vectors.select(train), vectors.select(test));
                match classifier {
                    Classifier::RbfSvm => {
                        let gamma = train.gamma_scale();
                        PartData::Kernel {
                            train: Kernel::rbf(&train, gamma),
                            test: rbf_between(&test, &train, gamma),
                        }
                    }
                    Classifier::LinearSvm => PartData::Linear { train, test },
                    Classifier::LogisticRegression => PartData::Logistic { train, test },
                }
            }
        };
        Part {
            labels: train.iter().map(|&graph| labels[graph]).collect(),
            data,
            interrupt,
        }
    }
}

impl Part<'_> {
    /// Trains with C and predicts the test part.
    pub(super) fn predictions(&self, c: f64) -> Result<Vec<u32>, GraphError> {
        let (labels, interrupt) = (&self.labels, self.interrupt);
        let predictions = match &self.data {
            PartData::Kernel { train, test } => Svc::fit_or_stop(train, labels, c, Svc::TOLERANCE, interrupt)
                .map(|model| test.iter().map(|row| model.predict(row)).collect()),
            PartData::Linear { train, test } => LinearSvc::fit_or_stop(train, labels, c, LinearSvc::TOLERANCE, interrupt)
                .map(|model| test.rows().map(|row| model.predict(row)).collect()),
            PartData::Logistic { train, test } => {
                LogisticRegression::fit_or_stop(train, labels, c, LogisticRegression::TOLERANCE, interrupt)
                    .map(|model| test.rows().map(|row| model.predict(row)).collect())
            }
        };
        predictions.ok_or(GraphError::Interrupted)
    }
}
