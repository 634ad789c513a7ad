//! Graph encoders and heads against values of an independent implementation, in f64 and f32.
//!
//! The values are an excerpt in `bcl-golden`. `BCL_GRAPHS=PATH/graphs_public.json` compares with the whole file that they are from.

use bcl_golden::{
    Array, Deviation, GRAPHS, Gradient, GraphFile,
    graphs::{self, GinPass, GraphBatch},
};
use bcl_models::{
    graphs::{Gin, GinConfig, GinOrder, GraphInput, Mode, ResidualHead},
    vision::{BatchNorm, RunningStatistic},
};
use burn::{
    module::Param,
    nn::Linear,
    tensor::{DType, Device, Gradients, Tensor, TensorData},
};
use std::{collections::BTreeMap, env, path::Path, sync::LazyLock};

static GOLDEN: LazyLock<GraphFile> = LazyLock::new(|| {
    let file = env::var_os("BCL_GRAPHS").unwrap_or_else(|| GRAPHS.into());
    GraphFile::read(Path::new(&file)).unwrap_or_else(|error| panic!("{error}"))
});

/// A type of numbers, and the largest errors relative to the largest entry of an array.
struct Precision {
    dtype: DType,
    forward: f64,
    gradient: f64,
    pipeline: f64,
    /// The largest absolute error where the reference is 0.
    zero: f64,
}

const PRECISIONS: [Precision; 2] = [
    Precision {
        dtype: DType::F64,
        forward: 1e-9,
        gradient: 1e-9,
        pipeline: 1e-9,
        zero: 1e-12,
    },
    Precision {
        dtype: DType::F32,
        forward: 5e-6,
        gradient: 1e-4,
        pipeline: 5e-5,
        zero: 1e-5,
    },
];

/// Builds our modules in a precision.
struct Builder<'a> {
    precision: &'a Precision,
    device: Device,
}

impl Builder<'_> {
    fn tensor<const D: usize>(&self, values: &[f64], shape: [usize; D]) -> Tensor<D> {
        let data = TensorData::new(values.to_vec(), shape);
        Tensor::from_data(data, (&self.device, self.precision.dtype))
    }

    fn table(&self, array: &Array) -> Tensor<2> {
        self.tensor(&array.values, [array.shape[0], array.shape[1]])
    }

    fn row(&self, values: &[f64]) -> Tensor<1> {
        self.tensor(values, [values.len()])
    }

    fn linear(&self, golden: &graphs::Affine) -> Linear {
        // A parameter that is a view of another tensor would not be a leaf.
        let weight = values(self.table(&golden.weight).transpose());
        let [size_out, size_in] = [golden.weight.shape[0], golden.weight.shape[1]];
        Linear {
            weight: Param::from_tensor(self.tensor(&weight, [size_in, size_out])),
            bias: Some(Param::from_tensor(self.row(&golden.bias))),
        }
    }

    fn norm(&self, golden: &graphs::Norm) -> BatchNorm {
        let mut norm = BatchNorm::new(golden.gamma.len(), &self.device);
        norm.weight = Some(Param::from_tensor(self.row(&golden.gamma)));
        norm.bias = Some(Param::from_tensor(self.row(&golden.beta)));
        norm.running_mean = RunningStatistic::new(self.row(&golden.running_mean));
        norm.running_var = RunningStatistic::new(self.row(&golden.running_var));
        norm
    }

    fn encoder(&self, golden: &graphs::Gin) -> Gin {
        let config = GinConfig {
            layers: golden.layers.len(),
            hidden: golden.hidden,
            learn_epsilon: golden.learns_epsilon,
            order: match golden.order.as_str() {
                "infograph" => GinOrder::InfoGraph,
                _ => GinOrder::Xu2019,
            },
        };
        let num_features = golden.layers[0].first.weight.shape[1];
        let mut encoder = config.init(num_features, 0, &self.device);
        for (layer, golden) in encoder.layers.iter_mut().zip(&golden.layers) {
            layer.epsilon = layer
                .epsilon
                .as_ref()
                .map(|_| Param::from_tensor(self.row(&[golden.epsilon])));
            layer.first = self.linear(&golden.first);
            layer.inner = golden.inner.as_ref().map(|norm| self.norm(norm));
            layer.second = self.linear(&golden.second);
            layer.norm = self.norm(&golden.norm);
        }
        encoder
    }

    fn head(&self, golden: &graphs::Head) -> ResidualHead {
        let mut head = ResidualHead::new(golden.shortcut.bias.len(), 0, &self.device);
        head.hidden = golden.hidden.iter().map(|layer| self.linear(layer)).collect();
        head.shortcut = self.linear(&golden.shortcut);
        head
    }

    fn input(&self, batch: &GraphBatch) -> GraphInput {
        GraphInput::new(
            self.table(&batch.features).require_grad(),
            &batch.node_offsets,
            batch.edge_offsets.clone(),
            batch.neighbours.clone(),
        )
    }
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.into_data().iter::<f64>().collect()
}

/// Gradients by the names of the file, weights as `[out, in]`.
struct Found<'a> {
    gradients: &'a Gradients,
    by_name: BTreeMap<String, Vec<f64>>,
}

impl<'a> Found<'a> {
    fn new(gradients: &'a Gradients) -> Self {
        Self {
            gradients,
            by_name: BTreeMap::new(),
        }
    }

    fn of<const D: usize>(&self, tensor: &Tensor<D>) -> Tensor<D> {
        tensor.grad(self.gradients).expect("all weights take part")
    }

    fn add_row(&mut self, name: String, param: &Param<Tensor<1>>) {
        let gradient = values(self.of(&param.val()));
        self.by_name.insert(name, gradient);
    }

    fn add_linear(&mut self, weight: String, bias: String, linear: &Linear) {
        let gradient = values(self.of(&linear.weight.val()).transpose());
        self.by_name.insert(weight, gradient);
        self.add_row(bias, linear.bias.as_ref().expect("a bias"));
    }

    fn add_encoder(&mut self, encoder: &Gin) {
        for (index, layer) in encoder.layers.iter().enumerate() {
            let name = |part: &str| format!("layers.{index}.{part}");
            self.add_linear(name("w1"), name("b1"), &layer.first);
            self.add_linear(name("w2"), name("b2"), &layer.second);
            for (part, norm) in [("norm", Some(&layer.norm)), ("inner", layer.inner.as_ref())] {
                let Some(norm) = norm else { continue };
                self.add_row(name(&format!("{part}.gamma")), norm.weight.as_ref().expect("a scale"));
                self.add_row(name(&format!("{part}.beta")), norm.bias.as_ref().expect("a shift"));
            }
            if let Some(epsilon) = &layer.epsilon {
                self.add_row(name("eps"), epsilon);
            }
        }
    }

    fn add_head(&mut self, head: &ResidualHead, name: &str) {
        for (index, layer) in head.hidden.iter().enumerate() {
            self.add_linear(format!("{name}.weights.{index}"), format!("{name}.biases.{index}"), layer);
        }
        self.add_linear(
            format!("{name}.shortcut_weight"),
            format!("{name}.shortcut_bias"),
            &head.shortcut,
        );
    }

    fn assert_equal(&self, place: &str, expected: &BTreeMap<String, Gradient>, precision: &Precision, tolerance: f64) {
        assert_eq!(self.by_name.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        for (name, expected) in expected {
            let deviation = Deviation::of_gradient(&self.by_name[name], expected);
            let is_zero = matches!(expected, Gradient::Full(values) if values.iter().all(|value| value.abs() < 1e-12));
            let within = deviation.within(tolerance) || is_zero && deviation.absolute <= precision.zero;
            assert!(within, "{place}, {:?}, gradient of {name}: {deviation:?}", precision.dtype);
        }
    }
}

#[track_caller]
fn assert_close(place: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    let deviation = Deviation::of_array(found, expected);
    assert!(deviation.within(tolerance), "{place}: {deviation:?}");
}

/// `Σ tensor[k] wave(k + 1)` over the flattened tensor.
fn weighted(tensor: &Tensor<2>, wave: fn(f64) -> f64) -> Tensor<1> {
    let length = tensor.shape().num_elements();
    let weights: Vec<f64> = (1..=length).map(|k| wave(k as f64)).collect();
    let weights = TensorData::new(weights, tensor.dims());
    (tensor.clone() * Tensor::from_data(weights, (&tensor.device(), tensor.dtype()))).sum()
}

#[test]
fn encoders_and_their_gradients_are_the_reference() {
    for precision in &PRECISIONS {
        let builder = Builder {
            precision,
            device: Device::flex().autodiff(),
        };
        for case in &GOLDEN.encoders {
            for (mode, expected) in [(Mode::Eval, &case.eval), (Mode::Train, &case.train)] {
                let GinPass { nodes, graphs, .. } = expected;
                let place = format!("{}, {mode:?}, {:?}", case.id, precision.dtype);
                let encoder = builder.encoder(&case.encoder);
                let input = builder.input(GOLDEN.batch_of_encoder(case));
                let found = encoder.forward(&input, mode);
                assert_close(&place, &values(found.nodes.clone()), &nodes.values, precision.forward);
                assert_close(&place, &values(found.graphs.clone()), &graphs.values, precision.forward);

                let of_graphs = weighted(&found.graphs, |k| (0.37 * k).cos());
                let objective = of_graphs + weighted(&found.nodes, |k| (0.11 * k + 0.5).sin());
                let deviation = Deviation::of_number(values(objective.clone())[0], expected.objective);
                assert!(deviation.within(2.0 * precision.forward), "{place}: {deviation:?}");

                let gradients = objective.backward();
                let mut found = Found::new(&gradients);
                found.add_encoder(&encoder);
                let of_features = values(found.of(&input.features));
                found.by_name.insert("features".to_owned(), of_features);
                found.assert_equal(&place, &expected.gradients, precision, precision.gradient);
            }
        }
    }
}

#[test]
fn running_statistics_after_a_step_are_the_reference() {
    for precision in &PRECISIONS {
        let builder = Builder {
            precision,
            device: Device::flex().autodiff(),
        };
        for case in &GOLDEN.encoders {
            let encoder = builder.encoder(&case.encoder);
            let input = builder.input(GOLDEN.batch_of_encoder(case));
            let before = builder.encoder(&case.encoder);
            encoder.forward(&input, Mode::BatchStatistics);
            encoder.forward(&input, Mode::Eval);
            let all = |encoder: &Gin| -> Vec<_> {
                let norms = encoder
                    .layers
                    .iter()
                    .flat_map(|layer| layer.inner.iter().chain([&layer.norm]));
                norms
                    .map(|norm| [&norm.running_mean, &norm.running_var].map(|statistic| values(statistic.value())))
                    .collect()
            };
            assert_eq!(all(&encoder), all(&before), "{}: only train mode moves them", case.id);

            encoder.forward(&input, Mode::Train);
            let found = all(&encoder);
            assert_eq!(found.len(), case.train.norms.len());
            for ([mean, variance], expected) in found.iter().zip(&case.train.norms) {
                assert_close(&case.id, mean, &expected.mean, precision.forward);
                assert_close(&case.id, variance, &expected.variance, precision.forward);
            }
        }
    }
}

/// The losses are `bcl-core`'s; here, the scores and what they are made of.
#[test]
fn heads_and_scores_are_the_reference() {
    for precision in &PRECISIONS {
        let builder = Builder {
            precision,
            device: Device::flex().autodiff(),
        };
        for pipeline in &GOLDEN.pipelines {
            let encoder = builder.encoder(&pipeline.encoder);
            let [local, whole] = [&pipeline.local, &pipeline.whole].map(|head| builder.head(head));
            let input = builder.input(GOLDEN.batch_of_pipeline(pipeline));
            for expected in &pipeline.losses {
                let embeddings = encoder.forward(&input, Mode::BatchStatistics);
                let (nodes, graphs) = (local.forward(embeddings.nodes), whole.forward(embeddings.graphs));
                let tolerance = precision.pipeline;
                assert_close(&pipeline.id, &values(nodes.clone()), &expected.local.values, tolerance);
                assert_close(&pipeline.id, &values(graphs.clone()), &expected.whole.values, tolerance);
                if expected.loss.is_cosine || expected.loss.estimator.est != "simclr" {
                    continue;
                }
                let scores = nodes.matmul(graphs.transpose());
                assert_close(&pipeline.id, &values(scores.clone()), &expected.products.values, tolerance);

                // InfoGraph's own loss: softplus(-p) and the mean of softplus(q), whose derivatives are sigmoids.
                let batch = GOLDEN.batch_of_pipeline(pipeline);
                let (num_nodes, num_graphs) = (batch.num_nodes(), batch.num_graphs());
                let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
                let slope = |entry: usize, score: f64| {
                    let is_own = batch.node_graph[entry / num_graphs] == entry % num_graphs;
                    let slope = if is_own {
                        -sigmoid(-score)
                    } else {
                        sigmoid(score) / (num_graphs - 1) as f64
                    };
                    slope / num_nodes as f64
                };
                let slopes = values(scores.clone()).into_iter().enumerate();
                let slopes: Vec<f64> = slopes.map(|(entry, score)| slope(entry, score)).collect();
                let slopes = builder.tensor(&slopes, scores.dims());
                let gradients = (scores * slopes).sum().backward();
                let mut found = Found::new(&gradients);
                found.add_encoder(&encoder);
                found.add_head(&local, "local");
                found.add_head(&whole, "whole");
                found.assert_equal(&pipeline.id, &expected.gradients, precision, tolerance);
            }
        }
    }
}
