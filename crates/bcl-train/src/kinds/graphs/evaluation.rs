//! Evaluates graph encoders, and the baselines that they are compared with.

use crate::{
    error::Error,
    kinds::{BaselineCache, Baselines, Surroundings},
    training::evaluate::EvaluateEncoder,
};
use bcl_data::{
    Seed,
    graphs::{GraphBatchLimits, GraphData},
};
use bcl_eval::{
    EvaluationError, Interrupt,
    graphs::{GraphError, GraphEvaluation, GraphEvaluator, Vectors},
};
use bcl_files::notice::note;
use bcl_models::graphs::{Gin, GinConfig, GraphInput, Mode};
use bcl_recipe::{GraphBaselineKind, GraphDataConfig, GraphEvaluationConfig, GraphRecipe};
use bcl_report::{Showcase, result::Metrics};
use burn::tensor::{Device, Tensor, TensorData};
use std::sync::Arc;

/// Graphs and nodes that are encoded at a time: memory grows with the nodes.
const AT_A_TIME: (usize, usize) = (512, 65_536);

/// Encodes all graphs of a data set, and classifies the vectors.
#[derive(Debug)]
pub(super) struct EncodedGraphs {
    data: Arc<GraphData>,
    evaluator: GraphEvaluator,
    seed: Seed,
    device: Device,
    interrupt: Interrupt,
    untrained: Gin,
}

impl EncodedGraphs {
    /// The evaluator of a run, which its signal can interrupt.
    ///
    /// # Errors
    /// Returns an error if the graphs cannot be cross-validated.
    pub(super) fn new(recipe: &GraphRecipe, data: &Arc<GraphData>, around: &Surroundings<'_>) -> Result<Self, Error> {
        let stop = around.stop.clone();
        Self::on(
            recipe,
            data,
            around.backend.device(),
            Interrupt::when(move || stop.is_requested()),
        )
    }

    /// The same on a device.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub(super) fn on(recipe: &GraphRecipe, data: &Arc<GraphData>, device: Device, interrupt: Interrupt) -> Result<Self, Error> {
        Ok(Self {
            evaluator: Self::evaluator(recipe, data, interrupt.clone())?,
            data: data.clone(),
            seed: Seed(recipe.seed),
            untrained: super::untrained(recipe, data, &device),
            device,
            interrupt,
        })
    }

    /// The classifiers with their folds, which depend on the seed alone: all encoders of a seed get the same.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub(super) fn evaluator(recipe: &GraphRecipe, data: &Arc<GraphData>, interrupt: Interrupt) -> Result<GraphEvaluator, Error> {
        let folds = Seed(recipe.seed).named("folds");
        GraphEvaluator::new(data.clone(), recipe.evaluation.clone(), folds, interrupt).map_err(|error| {
            let keys = match error {
                GraphError::TooFewGraphs { .. } => "; the keys are evaluation.folds and evaluation.inner_folds",
                _ => "",
            };
            Error::Input(format!("{}: {error}{keys}", data.name()))
        })
    }

    /// The vectors of all graphs, in the order of the data.
    ///
    /// # Errors
    /// Returns an error if interrupted.
    pub(super) fn vectors(&self, encoder: &Gin) -> Result<Vectors, EvaluationError> {
        let order: Vec<u32> = (0..self.data.num_graphs() as u32).collect();
        let limits = GraphBatchLimits::new(AT_A_TIME.0, Some(AT_A_TIME.1));
        let mut values = Vec::new();
        let mut dim = 0;
        for part in limits.for_embedding(&self.data, &order) {
            if self.interrupt.is_requested() {
                return Err(EvaluationError::Interrupted);
            }
            let batch = self.data.batch(&order[part]);
            let shape = [batch.num_nodes(), batch.num_features];
            let features = Tensor::from_data(TensorData::new(batch.features, shape), &self.device);
            let input = GraphInput::new(features, &batch.node_offsets, batch.edge_offsets, batch.neighbours);
            let graphs = encoder.forward(&input, Mode::Eval).graphs;
            [_, dim] = graphs.dims();
            values.extend(graphs.into_data().iter::<f64>());
        }
        Ok(Vectors::new(values, dim))
    }

    /// The metrics of vectors.
    ///
    /// # Errors
    /// Returns an error if a value is not finite, or if interrupted.
    pub(super) fn evaluate(&self, vectors: &Vectors) -> Result<GraphEvaluation, EvaluationError> {
        Ok(self.evaluator.encoder(vectors)?)
    }

    /// A map of the vectors.
    pub(super) fn showcase(&self, vectors: &Vectors) -> Showcase {
        self.evaluator.showcase(vectors, self.seed)
    }

    fn baseline(&self, kind: GraphBaselineKind) -> Result<Metrics, EvaluationError> {
        match self.evaluator.baseline(kind)? {
            Some(metrics) => Ok(metrics),
            None => Ok(self.evaluate(&self.vectors(&self.untrained)?)?.metrics),
        }
    }
}

impl EvaluateEncoder<Gin> for EncodedGraphs {
    fn evaluate_encoder(&self, encoder: &Gin) -> Result<Metrics, EvaluationError> {
        Ok(self.evaluate(&self.vectors(encoder)?)?.metrics)
    }
}

/// All that determines the metrics of a baseline.
#[derive(Debug, Clone, PartialEq)]
pub struct BaselineKey {
    kind: GraphBaselineKind,
    data: GraphDataConfig,
    evaluation: GraphEvaluationConfig,
    seed: u64,
    /// Only random weights depend on the encoder.
    encoder: Option<GinConfig>,
}

/// Returns the baselines of a recipe, by name. Without graph labels there are none.
///
/// # Errors
/// Returns an error if interrupted.
pub(super) fn baselines(
    recipe: &GraphRecipe,
    graphs: &EncodedGraphs,
    cache: &mut BaselineCache<BaselineKey>,
) -> Result<Baselines, EvaluationError> {
    let mut baselines = Baselines::new();
    if !graphs.data.is_labelled() {
        return Ok(baselines);
    }
    for &kind in &recipe.evaluation.baselines {
        let of_encoder = kind == GraphBaselineKind::RandomEncoder;
        let key = BaselineKey {
            kind,
            data: recipe.data.clone(),
            evaluation: recipe.evaluation.clone(),
            seed: recipe.seed,
            encoder: of_encoder.then(|| recipe.encoder.config().clone()),
        };
        match cache.of(key, || graphs.baseline(kind)) {
            // Without training, batch normalisation does not keep the values of many layers in range.
            Err(EvaluationError::Graphs(GraphError::NotFinite { graph })) if of_encoder => note(format_args!(
                "skipping the baseline {}: the untrained encoder's vector of graph {graph} (counted from 0) is not finite",
                kind.name()
            )),
            metrics => {
                baselines.insert(kind.name().to_owned(), metrics?);
            }
        }
    }
    Ok(baselines)
}
