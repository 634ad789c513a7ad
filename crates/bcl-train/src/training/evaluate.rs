//! The evaluation at the end of an epoch: ranking, and what the weights do.

use super::{
    batch::Batch,
    diagnostics::Diagnostics,
    figures::{self, Figures},
    model::ContrastiveRecommender,
};
use crate::{
    evaluation::{EvaluationError, RankingEvaluator, Scorer},
    result::Metrics,
};
use bcl_core::{Estimator, posterior::Posterior};
use bcl_models::Embeddings;
use burn::{
    data::{
        dataloader::{DataLoader, DataLoaderIterator, Progress},
        dataset::DatasetError,
    },
    tensor::{Device, ExecutionError, Int, Tensor, TensorData},
    train::{ItemLazy, metric::Adaptor},
};
use std::sync::Arc;

/// What to measure at the end of an epoch.
#[derive(Debug, Clone)]
pub struct EvaluationTask {
    /// Ranks the held-out items; `None` where this epoch's ranking is not wanted.
    pub evaluator: Option<Arc<RankingEvaluator>>,
    /// The figure that selects an epoch.
    pub select_by: Arc<str>,
    /// The batch that the weights are measured on, with the estimator of the epoch.
    pub probe: Batch,
    /// The posterior behind the estimator, if it has one.
    pub posterior: Option<Posterior>,
    /// Share of false negatives that the label-free estimate of α assumes.
    pub tau_plus: f64,
}

impl EvaluationTask {
    /// The same task under the estimator of an epoch.
    pub fn with_estimator(mut self, estimator: Arc<dyn Estimator>, posterior: Option<Posterior>) -> Self {
        self.probe.estimator = estimator;
        self.posterior = posterior;
        self
    }

    /// The same task without the ranking.
    pub fn without_ranking(mut self) -> Self {
        self.evaluator = None;
        self
    }

    /// Measures a model; its embeddings are computed once.
    pub fn run(self, model: &ContrastiveRecommender) -> Evaluated {
        let diagnostics = Diagnostics::measure(&model.scores(&self.probe), self.probe.estimator.as_ref(), self.posterior);
        let ranking = self
            .evaluator
            .map(|evaluator| evaluator.evaluate(&EmbeddingScorer::new(model.encoder.embeddings())));
        let alpha_hat = diagnostics
            .auc_unlabelled
            .map(|auc| bcl_core::auc::label_free_alpha(auc, self.tau_plus));
        let mut figures = Figures::from([(figures::EFFECTIVE_SAMPLE_SIZE, diagnostics.effective_sample_size)]);
        figures.extend(alpha_hat.map(|alpha| (figures::ALPHA_HAT, alpha)));
        if let Some(Ok(metrics)) = &ranking
            && let Some(&selected) = metrics.get(&*self.select_by)
        {
            figures.insert(figures::SELECTED, selected);
        }
        Evaluated {
            ranking,
            diagnostics,
            alpha_hat,
            figures,
        }
    }
}

/// What was measured at the end of an epoch.
#[derive(Debug, Clone)]
pub struct Evaluated {
    /// Ranking figures, where they were asked for.
    pub ranking: Option<Result<Metrics, EvaluationError>>,
    /// What the weights do.
    pub diagnostics: Diagnostics,
    /// The label-free estimate of α.
    pub alpha_hat: Option<f64>,
    figures: Figures,
}

impl ItemLazy for Evaluated {
    fn sync(self) -> Result<Self, ExecutionError> {
        Ok(self)
    }
}

impl Adaptor<Figures> for Evaluated {
    fn adapt(&self) -> Figures {
        self.figures.clone()
    }
}

/// A loader of one item: the evaluation of an epoch.
#[derive(Debug, Clone)]
pub struct EvaluationLoader(pub EvaluationTask);

struct Once(Option<EvaluationTask>);

impl Iterator for Once {
    type Item = Result<EvaluationTask, DatasetError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.take().map(Ok)
    }
}

impl DataLoaderIterator<EvaluationTask> for Once {
    fn progress(&self) -> Progress {
        Progress::new(usize::from(self.0.is_none()), 1, Some("evaluations".to_owned()))
    }
}

impl DataLoader<EvaluationTask> for EvaluationLoader {
    fn iter<'a>(&'a self) -> Box<dyn DataLoaderIterator<EvaluationTask> + 'a> {
        Box::new(Once(Some(self.0.clone())))
    }

    fn num_items(&self) -> usize {
        1
    }

    fn to_device(&self, _: &Device) -> Arc<dyn DataLoader<EvaluationTask>> {
        Arc::new(self.clone())
    }

    fn slice(&self, _: usize, _: usize) -> Arc<dyn DataLoader<EvaluationTask>> {
        Arc::new(self.clone())
    }
}

/// Scores items for users by the dot product of their (already prepared) embeddings.
#[derive(Debug)]
pub struct EmbeddingScorer {
    users: Tensor<2>,
    items_transposed: Tensor<2>,
    num_items: usize,
}

impl EmbeddingScorer {
    /// A scorer from embeddings in which a dot product is the similarity.
    pub fn new(embeddings: Embeddings) -> Self {
        let [num_items, _] = embeddings.items.dims();
        Self {
            users: embeddings.users,
            items_transposed: embeddings.items.transpose(),
            num_items,
        }
    }
}

impl Scorer for EmbeddingScorer {
    fn num_items(&self) -> usize {
        self.num_items
    }

    fn score(&self, users: &[u32], out: &mut Vec<f32>) {
        let ids: Vec<i32> = users.iter().map(|&user| user as i32).collect();
        let ids = Tensor::<1, Int>::from_data(TensorData::from(ids.as_slice()), &self.users.device());
        let scores = self
            .users
            .clone()
            .select(0, ids)
            .matmul(self.items_transposed.clone())
            .into_data();
        out.clear();
        match scores.as_slice::<f32>() {
            Ok(values) => out.extend_from_slice(values),
            Err(_) => out.extend(scores.iter::<f32>()),
        }
    }
}
