//! The evaluation at the end of an epoch: metrics of the encoder and diagnostics of the weights.

use super::{
    live_metrics::{self, LiveMetrics},
    recovery::TrainingFeatures,
};
use bcl_collective::Collective;
use bcl_core::{Estimator, Scores, posterior::Posterior};
use bcl_eval::{
    EvaluationError,
    diagnostics::{Diagnostics, Predictors},
};
use bcl_methods::{Detected, Method, step::Step};
use bcl_report::result::{DetectionRecord, Metrics};
use burn::{
    data::{
        dataloader::{DataLoader, DataLoaderIterator, Progress},
        dataset::DatasetError,
    },
    tensor::{Bool, Device, ExecutionError, Tensor},
    train::{ItemLazy, metric::Adaptor},
};
use std::{fmt::Debug, sync::Arc};

/// Computes the metrics of an encoder: ranking metrics of recommenders, probe accuracies of image encoders.
pub trait EvaluateEncoder<E>: Debug + Send + Sync {
    /// Computes the metrics of an encoder.
    ///
    /// # Errors
    /// If there is nothing to evaluate on, or the model has diverged.
    fn evaluate_encoder(&self, encoder: &E) -> Result<Metrics, EvaluationError>;

    /// Computes the metrics on several processes that have the same encoder, with the same result on all of them; `None` if process 0 evaluates alone.
    fn evaluate_on_processes(&self, _: &E, _processes: &dyn Collective) -> Option<Result<Metrics, EvaluationError>> {
        None
    }

    /// Computes features of all training samples, on process 0 of several that have the same encoder; `None` on the others, and if samples have no features.
    ///
    /// # Errors
    /// Returns an error on all processes if a sample cannot be encoded or the evaluation is interrupted.
    fn training_features(&self, _: &E, _processes: &dyn Collective) -> Result<Option<TrainingFeatures>, EvaluationError> {
        Ok(None)
    }
}

/// The evaluation to run at the end of an epoch.
#[derive(Debug)]
pub struct EvaluationTask<M: Method> {
    /// Evaluates the encoder; `None` in epochs whose metrics nobody uses.
    pub measure: Option<Arc<dyn EvaluateEncoder<M::Encoder>>>,
    /// The metrics, if several processes have computed them together.
    pub measured: Option<Result<Metrics, EvaluationError>>,
    /// The metric that selects an epoch.
    pub select_by: Arc<str>,
    /// The batch for the diagnostics, with the estimator of the epoch.
    pub probe: Step<M::Batch>,
    /// The posterior behind the estimator, if it has one.
    pub posterior: Option<Posterior>,
    /// The false negatives that the epoch's losses left out, if it detected any.
    pub detected: Option<Arc<Detected>>,
    /// Share of false negatives that the label-free estimate of the AUC assumes.
    pub tau_plus: f64,
}

impl<M: Method> Clone for EvaluationTask<M> {
    fn clone(&self) -> Self {
        Self {
            measure: self.measure.clone(),
            measured: self.measured.clone(),
            select_by: self.select_by.clone(),
            probe: self.probe.clone(),
            posterior: self.posterior,
            detected: self.detected.clone(),
            tau_plus: self.tau_plus,
        }
    }
}

impl<M: Method> EvaluationTask<M> {
    /// A task for each epoch of a phase: the [estimator](Self::with_estimator) follows when the epoch ends.
    pub fn new(
        measure: impl EvaluateEncoder<M::Encoder> + 'static,
        select_by: Arc<str>,
        probe: Step<M::Batch>,
        tau_plus: f64,
    ) -> Self {
        Self {
            measure: Some(Arc::new(measure)),
            measured: None,
            select_by,
            probe,
            posterior: None,
            detected: None,
            tau_plus,
        }
    }

    /// Sets the estimator of the epoch and its posterior.
    pub fn with_estimator(mut self, estimator: Option<Arc<dyn Estimator>>, posterior: Option<Posterior>) -> Self {
        self.probe.estimator = estimator;
        self.posterior = posterior;
        self
    }

    /// Sets the detection that the epoch trained with.
    pub fn with_detected(self, detected: Option<Arc<Detected>>) -> Self {
        Self { detected, ..self }
    }

    /// Leaves out the metrics of the encoder: only the diagnostics remain.
    pub fn without_measure(mut self) -> Self {
        self.measure = None;
        self
    }

    /// Evaluates a method. If scores are not finite, [`Evaluated::metrics`] is an error. A method without scores has no weights and no
    /// diagnostics.
    pub fn run(self, method: &M) -> Evaluated {
        let diagnostics = match self.probe.objective(method).into_scores() {
            Ok(scores) => {
                if let Some(scores) = not_finite(&scores) {
                    return Evaluated {
                        metrics: Some(Err(EvaluationError::NotFinite { scores })),
                        diagnostics: Diagnostics::default(),
                        alpha_hat: None,
                        live: LiveMetrics::new(),
                    };
                }
                let side = self
                    .probe
                    .side_information(method, 0..scores.num_anchors(), &scores.negatives.device());
                let detected = self.detected.as_deref();
                let predictors = Predictors {
                    posterior: self.posterior,
                    same_cluster: detected.and_then(|detected| self.probe.detected_probabilities(method, detected, &scores)),
                };
                Diagnostics::measure(&scores, &side, self.probe.estimator(), &predictors)
            }
            Err(_) => Diagnostics::default(),
        };
        let metrics = match self.measured {
            Some(measured) => Some(measured),
            None => self.measure.map(|measure| measure.evaluate_encoder(method.encoder())),
        };
        let alpha_hat = diagnostics
            .auc_unlabelled
            .map(|auc| bcl_core::auc::label_free_alpha(auc, self.tau_plus));
        let mut live = LiveMetrics::new();
        live.extend(
            diagnostics
                .effective_sample_size
                .map(|size| (live_metrics::EFFECTIVE_SAMPLE_SIZE, size)),
        );
        live.extend(diagnostics.floored.map(|share| (live_metrics::FLOORED, share)));
        live.extend(alpha_hat.map(|alpha| (live_metrics::ALPHA_HAT, alpha)));
        if let Some(Ok(metrics)) = &metrics
            && let Some(&selected) = metrics.get(&*self.select_by)
        {
            live.insert(live_metrics::SELECTED, selected);
        }
        Evaluated {
            metrics,
            diagnostics,
            alpha_hat,
            live,
        }
    }
}

/// Which scores are not finite, masked ones apart.
fn not_finite(scores: &Scores) -> Option<&'static str> {
    let negatives = scores.negatives.clone();
    let negatives = match &scores.mask {
        Some(mask) => negatives.mask_fill(mask.clone().bool_not(), 0.0),
        None => negatives,
    };
    let is_finite = |finite: Tensor<1, Bool>| finite.into_scalar::<bool>();
    if !is_finite(scores.positives.clone().is_finite().all()) {
        Some("positives")
    } else if !is_finite(negatives.is_finite().all()) {
        Some("negatives")
    } else {
        None
    }
}

/// The evaluation of an epoch.
#[derive(Debug, Clone)]
pub struct Evaluated {
    /// Metrics of the encoder, if the task asked for them.
    pub metrics: Option<Result<Metrics, EvaluationError>>,
    /// Diagnostics of the weights.
    pub diagnostics: Diagnostics,
    /// The label-free estimate of the encoder's AUC.
    pub alpha_hat: Option<f64>,
    live: LiveMetrics,
}

impl Evaluated {
    /// Also shows the detection that the epoch trained with, if any.
    pub fn show_detection(&mut self, found: Option<DetectionRecord>) {
        let Some(found) = found else { return };
        self.live.extend([
            (live_metrics::CLUSTERS, found.clusters as f64),
            (live_metrics::STABILITY, found.stability),
            (live_metrics::STRENGTH, found.strength),
            (live_metrics::DETECTED, found.detected),
        ]);
    }
}

impl ItemLazy for Evaluated {
    fn sync(self) -> Result<Self, ExecutionError> {
        Ok(self)
    }
}

impl Adaptor<LiveMetrics> for Evaluated {
    fn adapt(&self) -> LiveMetrics {
        self.live.clone()
    }
}

/// A data loader with a single item, the evaluation of an epoch.
#[derive(Debug, Clone)]
pub struct EvaluationLoader<M: Method>(pub EvaluationTask<M>);

struct Once<M: Method>(Option<EvaluationTask<M>>);

impl<M: Method> Iterator for Once<M> {
    type Item = Result<EvaluationTask<M>, DatasetError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.take().map(Ok)
    }
}

impl<M: Method> DataLoaderIterator<EvaluationTask<M>> for Once<M> {
    fn progress(&self) -> Progress {
        Progress::new(usize::from(self.0.is_none()), 1, Some("evaluations".to_owned()))
    }
}

impl<M: Method> DataLoader<EvaluationTask<M>> for EvaluationLoader<M> {
    fn iter<'a>(&'a self) -> Box<dyn DataLoaderIterator<EvaluationTask<M>> + 'a> {
        Box::new(Once(Some(self.0.clone())))
    }

    fn num_items(&self) -> usize {
        1
    }

    fn to_device(&self, _: &Device) -> Arc<dyn DataLoader<EvaluationTask<M>>> {
        Arc::new(self.clone())
    }

    fn slice(&self, _: usize, _: usize) -> Arc<dyn DataLoader<EvaluationTask<M>>> {
        Arc::new(self.clone())
    }
}
