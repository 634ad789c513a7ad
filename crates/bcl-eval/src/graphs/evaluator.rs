//! Evaluates graph vectors, and the baselines that need no encoder.

use super::{
    CrossValidation, CrossValidator, GraphBaselineKind, GraphError, GraphEvaluationConfig, LabelledGraph, Vectors, label_counts,
    sizes, vectors::Standardiser, weisfeiler_lehman,
};
use crate::{
    Interrupt,
    map::{Cosines, points, tsne},
};
use bcl_data::{
    Seed,
    graphs::{Graph, GraphData},
};
use bcl_report::{SampleKind, SampleMetrics, Showcase, result::Metrics};
use burn::tensor::{Device, Tensor, TensorData};
use rand::seq::SliceRandom;
use std::{collections::BTreeMap, sync::Arc};

/// Maximum number of graphs on a map: enough to show groups, few enough to distinguish points.
const MOST_MAPPED: usize = 1000;

/// A sentence that says why classifiers are off, and how to turn them on; `None` if they are on.
pub fn why_classifiers_are_off(data: &GraphData) -> Option<String> {
    (!data.is_labelled()).then(|| {
        format!(
            "classifiers are off, because {} has no graph labels; add a file …_graph_labels.txt with the class of each graph to turn them on",
            data.name()
        )
    })
}

/// Classifies the graphs of a data set by their vectors. All vectors get the same folds.
///
/// Without graph labels there is nothing to classify: vectors have no metrics, but still a map.
///
/// ```
/// use bcl_data::{Seed, graphs::PlantedGraphsConfig};
/// use bcl_eval::{Interrupt, graphs::{GraphEvaluationConfig, GraphEvaluator, Vectors}};
/// use std::sync::Arc;
///
/// let graphs = Arc::new(PlantedGraphsConfig { graphs: 60, ..PlantedGraphsConfig::default() }.generate());
/// let config = GraphEvaluationConfig { folds: 5, inner_folds: 3, ..GraphEvaluationConfig::default() };
/// let evaluator = GraphEvaluator::new(graphs.clone(), config, Seed(0), Interrupt::default())?;
///
/// // Vectors that name the class.
/// let vectors = Vectors::new(graphs.labels().iter().map(|&label| f64::from(label)).collect(), 1);
/// let evaluation = evaluator.encoder(&vectors)?;
/// assert_eq!(evaluation.metrics["rbf_svm"], 1.0);
/// assert_eq!(evaluation.folds["rbf_svm"], [1.0; 5]);
/// assert_eq!(evaluation.hits["rbf_svm"], [true; 60]);
/// # Ok::<(), bcl_eval::graphs::GraphError>(())
/// ```
#[derive(Debug)]
pub struct GraphEvaluator {
    data: Arc<GraphData>,
    config: GraphEvaluationConfig,
    /// `None` without graph labels.
    validator: Option<CrossValidator>,
}

/// The evaluation of graph vectors.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GraphEvaluation {
    /// The mean accuracy over the folds, by classifier.
    pub metrics: Metrics,
    /// The accuracy of each fold, by classifier.
    pub folds: BTreeMap<String, Vec<f64>>,
    /// Whether the class of each graph is predicted in the fold that tests it, by classifier.
    pub hits: BTreeMap<String, Vec<bool>>,
}

impl GraphEvaluation {
    /// The hits as metrics of each graph.
    pub fn samples(&self) -> SampleMetrics {
        let num_graphs = self.hits.values().next().map_or(0, Vec::len);
        let of = |hits: &Vec<bool>| hits.iter().map(|&hit| f64::from(u8::from(hit))).collect();
        SampleMetrics {
            kind: SampleKind::Graph,
            ids: (1..=num_graphs).map(|graph| graph.to_string()).collect(),
            metrics: self.hits.iter().map(|(name, hits)| (name.clone(), of(hits))).collect(),
        }
    }
}

impl GraphEvaluator {
    /// Creates an evaluator. The seed determines the folds.
    ///
    /// # Errors
    /// Returns an error if all graphs have one class, or if there are too few for the folds.
    ///
    /// # Panics
    /// Panics if [`GraphEvaluationConfig::check`] fails.
    pub fn new(
        data: Arc<GraphData>,
        config: GraphEvaluationConfig,
        seed: Seed,
        interrupt: Interrupt,
    ) -> Result<Self, GraphError> {
        config.check().unwrap_or_else(|error| panic!("{error}"));
        let validator = || CrossValidator::new(data.labels(), config.cross_validation(), seed);
        let validator = data.is_labelled().then(validator).transpose()?;
        let validator = validator.map(|validator| validator.with_interrupt(interrupt));
        Ok(Self { data, config, validator })
    }

    /// Classifies graphs by their vectors. Without labels there are no metrics.
    ///
    /// # Errors
    /// Returns an error if a value is not finite, or if interrupted.
    ///
    /// # Panics
    /// Panics if there is not one vector per graph.
    pub fn encoder(&self, vectors: &Vectors) -> Result<GraphEvaluation, GraphError> {
        let mut evaluation = GraphEvaluation::default();
        let Some(validator) = &self.validator else {
            return vectors.check_finite().map(|()| evaluation);
        };
        for kind in &self.config.classifiers {
            let (classifier, scaling) = kind.parts();
            let found = validator.vectors(vectors, classifier, scaling)?;
            evaluation.metrics.insert(kind.name().to_owned(), found.mean());
            let folds = found.folds.iter().map(|fold| fold.accuracy).collect();
            evaluation.folds.insert(kind.name().to_owned(), folds);
            let predicted = found.predictions.iter().zip(self.data.labels());
            let hits = predicted.map(|(class, label)| class == label).collect();
            evaluation.hits.insert(kind.name().to_owned(), hits);
        }
        Ok(evaluation)
    }

    /// The metrics of a baseline; `None` for the random encoder, whose vectors go to [`encoder`](Self::encoder).
    ///
    /// The majority class and the Weisfeiler-Lehman kernel have one accuracy, which stands under the name of every classifier, so that
    /// columns of a table compare.
    ///
    /// # Errors
    /// Returns an error if interrupted.
    pub fn baseline(&self, kind: GraphBaselineKind) -> Result<Option<Metrics>, GraphError> {
        let of_all = |found: &CrossValidation| {
            let names = self.config.classifiers.iter().map(|classifier| classifier.name().to_owned());
            names.map(|name| (name, found.mean())).collect()
        };
        let Some(validator) = &self.validator else {
            return Ok(Some(Metrics::new()));
        };
        Ok(Some(match kind {
            GraphBaselineKind::RandomEncoder => return Ok(None),
            GraphBaselineKind::Majority => of_all(&validator.majority()),
            GraphBaselineKind::Sizes => self.encoder(&self.of_lists(sizes))?.metrics,
            GraphBaselineKind::LabelCounts => self.encoder(&self.of_lists(label_counts))?.metrics,
            GraphBaselineKind::WeisfeilerLehman => {
                let kernels = self.of_lists(|graphs| weisfeiler_lehman(graphs, self.config.wl_rounds));
                of_all(&validator.kernels(&kernels)?)
            }
        }))
    }

    /// Maps of the z-scores of graph vectors. The seed determines which graphs are shown if there are many.
    ///
    /// # Panics
    /// Panics if there is not one vector per graph.
    pub fn showcase(&self, vectors: &Vectors, seed: Seed) -> Showcase {
        assert_eq!(vectors.len(), self.data.num_graphs(), "each graph needs a vector");
        let mut mapped: Vec<usize> = (0..vectors.len()).collect();
        mapped.shuffle(&mut seed.named("showcase").rng());
        mapped.truncate(MOST_MAPPED);
        mapped.sort_unstable();
        let scaled = Standardiser::fit(vectors).apply(&vectors.select(&mapped));
        let values: Vec<f32> = scaled.rows().flatten().map(|&value| value as f32).collect();
        let shape = [mapped.len(), scaled.dim()];
        let cosines = Cosines::of(Tensor::from_data(TensorData::new(values, shape), &Device::flex()));
        let class = |&graph: &usize| self.data.labels().get(graph).copied().unwrap_or_default();
        let classes: Vec<u32> = mapped.iter().map(class).collect();
        Showcase {
            classes: self.data.classes().to_vec(),
            of_train: false,
            of_graphs: true,
            map: points(cosines.as_ref().and_then(tsne), &classes),
            clusters: Vec::new(),
            neighbours: Vec::new(),
        }
    }

    /// Calls a function with all graphs as lists of neighbours.
    fn of_lists<T>(&self, function: impl FnOnce(&[LabelledGraph]) -> T) -> T {
        let least = self
            .data
            .node_labels()
            .and_then(|labels| labels.iter().min().copied())
            .unwrap_or(0);
        let graphs = 0..self.data.num_graphs() as u32;
        let lists: Vec<Lists> = graphs.map(|graph| Lists::of(self.data.graph(graph), least)).collect();
        let graphs: Vec<LabelledGraph> = lists.iter().map(Lists::graph).collect();
        function(&graphs)
    }
}

/// A graph as lists of neighbours, with its node labels counted from 0.
struct Lists {
    offsets: Vec<usize>,
    neighbours: Vec<u32>,
    labels: Option<Vec<u32>>,
}

impl Lists {
    fn of(graph: Graph<'_>, least_label: i64) -> Self {
        let mut neighbours = Vec::with_capacity(2 * graph.num_edges());
        let mut offsets = vec![0];
        for node in 0..graph.num_nodes() as u32 {
            neighbours.extend_from_slice(graph.neighbours(node));
            offsets.push(neighbours.len());
        }
        let labels = graph.node_labels();
        Self {
            offsets,
            neighbours,
            // Labels of a data set span at most 10,000 integers.
            labels: labels.map(|labels| labels.iter().map(|label| label.abs_diff(least_label) as u32).collect()),
        }
    }

    fn graph(&self) -> LabelledGraph<'_> {
        LabelledGraph::new(&self.offsets, &self.neighbours, self.labels.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graphs::GraphClassifier;
    use bcl_data::graphs::{LabelledGraph, PlantedGraphsConfig};

    fn evaluator(classifiers: Vec<GraphClassifier>) -> GraphEvaluator {
        let data = PlantedGraphsConfig {
            graphs: 90,
            ..PlantedGraphsConfig::default()
        };
        let config = GraphEvaluationConfig {
            classifiers,
            folds: 5,
            inner_folds: 3,
            wl_rounds: 2,
            ..GraphEvaluationConfig::default()
        };
        GraphEvaluator::new(Arc::new(data.generate()), config, Seed(1), Interrupt::default()).unwrap()
    }

    #[test]
    fn only_structure_with_labels_tells_planted_graphs_apart() {
        let evaluator = evaluator(vec![GraphClassifier::RbfSvm, GraphClassifier::LinearSvm]);
        let of = |kind| evaluator.baseline(kind).unwrap().unwrap()["rbf_svm"];
        assert!((of(GraphBaselineKind::Majority) - 1.0 / 3.0).abs() < 1e-9);
        for blind in [GraphBaselineKind::Sizes, GraphBaselineKind::LabelCounts] {
            // Three standard errors of a guess among three classes.
            assert!((of(blind) - 1.0 / 3.0).abs() < 0.15, "{}: {}", blind.name(), of(blind));
        }
        assert!(of(GraphBaselineKind::WeisfeilerLehman) > 0.6);
        assert_eq!(evaluator.baseline(GraphBaselineKind::RandomEncoder).unwrap(), None);
        let metrics = evaluator.baseline(GraphBaselineKind::Majority).unwrap().unwrap();
        assert_eq!(metrics.keys().collect::<Vec<_>>(), ["linear_svm", "rbf_svm"]);
    }

    #[test]
    fn maps_show_every_graph_and_are_the_same_each_time() {
        let evaluator = evaluator(vec![GraphClassifier::RbfSvm]);
        let values: Vec<f64> = (0..90 * 4).map(|i| (f64::from(i) * 0.37).sin()).collect();
        let vectors = Vectors::new(values, 4);
        let showcase = evaluator.showcase(&vectors, Seed(2));
        assert_eq!(showcase.map.len(), 90);
        assert_eq!(showcase.classes.len(), 3);
        assert_eq!(showcase.map[4].class, 1);
        assert_eq!(evaluator.showcase(&vectors, Seed(2)), showcase);
    }

    #[test]
    fn graphs_without_labels_have_a_map_but_no_metrics() {
        let graph = LabelledGraph {
            num_nodes: 1,
            node_labels: vec![0],
            ..LabelledGraph::default()
        };
        let data = Arc::new(GraphData::from_graphs("mine", [""; 0], vec![graph; 30]));
        let config = GraphEvaluationConfig::default();
        let evaluator = GraphEvaluator::new(data.clone(), config, Seed(1), Interrupt::default()).unwrap();
        let vectors = |first: f64| {
            Vectors::new(
                (0..30 * 4).map(|i| if i == 0 { first } else { f64::from(i).sin() }).collect(),
                4,
            )
        };
        assert!(evaluator.encoder(&vectors(0.0)).unwrap().metrics.is_empty());
        assert_eq!(evaluator.encoder(&vectors(f64::NAN)), Err(GraphError::NotFinite { graph: 0 }));
        for kind in [GraphBaselineKind::Majority, GraphBaselineKind::WeisfeilerLehman] {
            assert!(evaluator.baseline(kind).unwrap().unwrap().is_empty());
        }
        let showcase = evaluator.showcase(&vectors(0.0), Seed(2));
        assert_eq!((showcase.map.len(), showcase.classes.len()), (30, 0));
        assert!(why_classifiers_are_off(&data).unwrap().contains("mine has no graph labels"));
        assert_eq!(why_classifiers_are_off(&PlantedGraphsConfig::default().generate()), None);
    }

    #[test]
    fn values_out_of_range_are_refused_by_name() {
        let check = |change: &dyn Fn(&mut GraphEvaluationConfig)| {
            let mut config = GraphEvaluationConfig::default();
            change(&mut config);
            config.check().unwrap_err()
        };
        assert!(check(&|config| config.folds = 1).starts_with("folds is 1"));
        assert!(check(&|config| config.wl_rounds = 101).starts_with("wl_rounds"));
        assert!(check(&|config| config.classifiers.clear()).contains("at least one"));
        assert!(check(&|config| config.classifiers = vec![GraphClassifier::RbfSvm; 2]).contains("twice"));
        GraphEvaluationConfig::default().check().unwrap();
    }
}
