//! Losses of nodes against graphs: of given embeddings, and of an encoder with its heads.

use super::{
    super::{
        compute::values,
        golden::display_name,
        precision::Arithmetic,
        result::{Kind, OUTPUT, ParityResult, Quantity, VALUE},
    },
    Tolerances, gradient,
    gradients::Named,
    modules, output,
};
use bcl_core::{ContrastiveObjective, Estimator, EstimatorConfig, Reduction, Scores, SideInformation, matmul, unit_rows};
use bcl_golden::{
    Array, Deviation, GraphFile,
    graphs::{GraphLoss, GraphLossCase, Pipeline},
};
use bcl_models::graphs::Mode;
use burn::tensor::{Int, Tensor, TensorData};
use std::f64::consts::LN_2;

/// A loss as this library has it.
struct Loss {
    objective: ContrastiveObjective,
    config: EstimatorConfig,
    is_cosine: bool,
}

impl Loss {
    fn new(golden: &GraphLoss) -> Result<Self, String> {
        let objective: ContrastiveObjective =
            serde_json::from_value(golden.objective.as_str().into()).map_err(|error| format!("its objective: {error}"))?;
        let config: EstimatorConfig =
            serde_json::from_value(golden.estimator.table()?).map_err(|error| format!("its estimator: {error}"))?;
        config.check().map_err(|error| error.to_string())?;
        if !objective.supports(&config) {
            let (objective, estimator) = (objective.name(), config.name());
            return Err(format!("the objective `{objective}` has no estimator `{estimator}`"));
        }
        Ok(Self {
            objective,
            config,
            is_cosine: golden.is_cosine,
        })
    }

    fn init(&self) -> Box<dyn Estimator> {
        self.objective.init(&self.config)
    }

    /// The name of its row.
    fn name(&self) -> String {
        format!("{}, {}", self.objective.name(), display_name(&self.config))
    }

    fn tolerance(&self, tolerances: &Tolerances) -> f64 {
        match self.objective {
            ContrastiveObjective::JsdOfficial => tolerances.official,
            _ => tolerances.loss,
        }
    }

    /// Similarities of each node with each graph, `[num_nodes, num_graphs]`.
    fn similarities(&self, nodes: Tensor<2>, graphs: Tensor<2>) -> Tensor<2> {
        let [nodes, graphs] = [nodes, graphs].map(|rows| if self.is_cosine { unit_rows(rows) } else { rows });
        matmul(nodes, graphs.transpose())
    }

    /// The own graph of a node is its positive, the other graphs in order are its negatives.
    fn scores(&self, similarities: Tensor<2>, node_graph: &[usize]) -> Scores {
        let [num_nodes, num_graphs] = similarities.dims();
        let device = similarities.device();
        let columns = |columns: Vec<usize>| {
            let shape = [num_nodes, columns.len() / num_nodes];
            let columns: Vec<i64> = columns.into_iter().map(|column| column as i64).collect();
            Tensor::<2, Int>::from_data(TensorData::new(columns, shape), &device)
        };
        let others = |&own: &usize| (0..num_graphs).filter(move |&graph| graph != own);
        let positives = similarities.clone().gather(1, columns(node_graph.to_vec()));
        let negatives = similarities.gather(1, columns(node_graph.iter().flat_map(others).collect()));
        let scores = Scores::new(positives.squeeze_dim(1), negatives);
        if self.is_cosine {
            scores.with_least_similarity(-1.0)
        } else {
            scores
        }
    }
}

/// The loss of given embeddings, with its gradients.
pub(super) fn compare(
    file: &GraphFile,
    case: &GraphLossCase,
    arithmetic: &Arithmetic,
    result: &mut ParityResult,
) -> Result<(), String> {
    let tolerances = Tolerances::of(arithmetic.precision);
    let loss = Loss::new(&case.loss)?;
    let tolerance = loss.tolerance(&tolerances);
    let embeddings = file.embeddings(case);
    let [nodes, graphs] = [&embeddings.nodes, &embeddings.graphs].map(|table| modules::table(table, arithmetic).require_grad());
    let scores = loss.scores(loss.similarities(nodes.clone(), graphs.clone()), &embeddings.node_graph);
    let estimator = loss.init();

    let mut quantities = Vec::new();
    if let Some(expected) = case.floored {
        let marks = estimator.floored(&scores, &SideInformation::none());
        let found = marks.map_or(0, |marks| marks.into_data().iter::<bool>().filter(|&mark| mark).count());
        let [found, expected] = [found as f64, expected as f64];
        quantities.push(output("number of nodes at the floor", &[found], &[expected], tolerance));
    }
    let value = estimator.forward(scores, Reduction::Mean);
    let found = values(value.clone())[0];
    quantities.push(of_value(found, case.value, tolerance));
    if let Some(printed) = case.printed {
        // Relative to the loss, of which it is the small difference to a constant.
        let Deviation { absolute, .. } = Deviation::of_number(found - 2.0 * LN_2, printed);
        let deviation = Deviation {
            absolute,
            relative: absolute / case.value,
        };
        quantities.push(Quantity::new("printed loss", OUTPUT, deviation, tolerance));
    }
    let gradients = value.backward();
    let mut named = Named::new(&gradients);
    for ((name, tensor), expected) in [("nodes", nodes), ("graphs", graphs)].into_iter().zip(&case.gradients) {
        named.add(name, &tensor);
        quantities.push(gradient(name, named.get(name), expected, tolerance, &tolerances));
    }
    let row = (Kind::Loss, arithmetic.precision, &*loss.name());
    result.record(row, &format!("case {}", case.id), &quantities, false);
    Ok(())
}

/// The losses of an encoder in train mode with its heads, with the gradients of all weights.
pub(super) fn compare_pipeline(
    file: &GraphFile,
    pipeline: &Pipeline,
    arithmetic: &Arithmetic,
    result: &mut ParityResult,
) -> Result<(), String> {
    let tolerances = Tolerances::of(arithmetic.precision);
    let tolerance = tolerances.pipeline;
    let batch = file.batch_of_pipeline(pipeline);
    let input = modules::input(batch, arithmetic);
    for expected in &pipeline.losses {
        let loss = Loss::new(&expected.loss)?;
        let encoder = modules::encoder(&pipeline.encoder, arithmetic)?;
        let [local, whole] = [&pipeline.local, &pipeline.whole].map(|head| modules::head(head, arithmetic));
        let embeddings = encoder.forward(&input, Mode::Train);
        let (nodes, graphs) = (local.forward(embeddings.nodes), whole.forward(embeddings.graphs));
        let products = matmul(nodes.clone(), graphs.clone().transpose());
        let similarities = loss.similarities(nodes.clone(), graphs.clone());
        let scores = loss.scores(similarities, &batch.node_graph);
        let value = loss.init().forward(scores, Reduction::Mean);

        let compared = |name, found, expected: &Array| output(name, &values(found), &expected.values, tolerance);
        let mut quantities = vec![
            of_value(values(value.clone())[0], expected.value, tolerance),
            compared("output of the head of nodes", nodes, &expected.local),
            compared("output of the head of graphs", graphs, &expected.whole),
            compared("dot products", products, &expected.products),
        ];
        let gradients = value.backward();
        let mut named = Named::new(&gradients);
        named.add_encoder(&encoder);
        named.add_head(&local, "local");
        named.add_head(&whole, "whole");
        for (name, expected) in &expected.gradients {
            quantities.push(gradient(name, named.get(name), expected, tolerance, &tolerances));
        }
        let place = format!("case {}, {}", pipeline.id, loss.name());
        let name = format!("pipeline, {}", loss.name());
        result.record((Kind::Loss, arithmetic.precision, &name), &place, &quantities, false);
    }
    Ok(())
}

fn of_value(found: f64, expected: f64, tolerance: f64) -> Quantity {
    Quantity::new("loss", VALUE, Deviation::of_number(found, expected), tolerance)
}
