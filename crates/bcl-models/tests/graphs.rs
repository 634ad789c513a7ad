//! Properties of graph encoders: what their outputs depend on, sizes, and saved weights.

use bcl_models::graphs::{Gin, GinConfig, GinOrder, GraphInput, Mode, ResidualHead, TwoLayerHead, to_safetensors};
use burn::{
    module::{Module, ModuleVisitor, Param},
    tensor::{DType, Device, Tensor, TensorData},
};
use burn_store::{ModuleSnapshot, PyTorchToBurnAdapter, SafetensorsStore};

/// A graph: the number of nodes and the edges, each once.
type Edges = (usize, &'static [(usize, usize)]);

/// A triangle with a tail, a single node, and a path with a node apart.
const GRAPHS: [Edges; 3] = [(4, &[(0, 1), (0, 2), (1, 2), (2, 3)]), (1, &[]), (4, &[(0, 1), (1, 3)])];

/// Some of the graphs in a batch. The features of a node depend only on its graph and its number there.
fn batch(graphs: &[usize], device: &Device) -> GraphInput {
    let (mut node_offsets, mut edge_offsets) = (vec![0], vec![0]);
    let (mut neighbours, mut features) = (Vec::new(), Vec::new());
    for &graph in graphs {
        let (num_nodes, edges) = GRAPHS[graph];
        let first = node_offsets[node_offsets.len() - 1];
        for node in 0..num_nodes {
            let both = edges.iter().flat_map(|&(a, b)| [(a, b), (b, a)]);
            let mut others: Vec<_> = both
                .filter(|&(from, _)| from == node)
                .map(|(_, to)| (first + to) as u32)
                .collect();
            others.sort_unstable();
            neighbours.extend(others);
            edge_offsets.push(neighbours.len());
            features.extend((0..3).map(|column| ((7 * graph + 3 * node + column) as f64 * 0.9).sin()));
        }
        node_offsets.push(first + num_nodes);
    }
    let shape = [node_offsets[graphs.len()], 3];
    let features = Tensor::from_data(TensorData::new(features, shape), (device, DType::F32));
    GraphInput::new(features, &node_offsets, edge_offsets, neighbours)
}

fn configs() -> impl Iterator<Item = GinConfig> {
    let orders = [GinOrder::InfoGraph, GinOrder::Xu2019].into_iter();
    orders.flat_map(|order| {
        [false, true].map(|learn_epsilon| GinConfig {
            layers: 2,
            hidden: 5,
            learn_epsilon,
            order,
        })
    })
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}

fn assert_close(left: &[f32], right: &[f32]) {
    assert_eq!(left.len(), right.len());
    for (l, r) in left.iter().zip(right) {
        assert!((l - r).abs() <= 1e-5 * (1.0 + r.abs()), "{left:?}\n{right:?}");
    }
}

#[test]
fn the_order_of_the_graphs_in_a_batch_changes_nothing_else() {
    let device = Device::flex();
    for config in configs() {
        let encoder = config.init(3, 1, &device);
        for mode in [Mode::Eval, Mode::BatchStatistics] {
            let [first, second] = [[0, 1, 2], [2, 0, 1]].map(|order| encoder.forward(&batch(&order, &device), mode));
            let moved = |rows: Tensor<2>, order: &[i32]| values(rows.select(0, Tensor::from_ints(order, &device)));
            assert_close(&moved(first.graphs, &[2, 0, 1]), &values(second.graphs));
            assert_close(&moved(first.nodes, &[5, 6, 7, 8, 0, 1, 2, 3, 4]), &values(second.nodes));
        }
    }
}

#[test]
fn in_eval_mode_graphs_are_independent_of_each_other() {
    let device = Device::flex();
    for config in configs() {
        let encoder = config.init(3, 1, &device);
        let together = encoder.forward(&batch(&[0, 1, 2], &device), Mode::Eval);
        let alone = [0, 1, 2].map(|graph| encoder.forward(&batch(&[graph], &device), Mode::Eval));
        let graphs = alone.iter().flat_map(|embeddings| values(embeddings.graphs.clone()));
        assert_close(&graphs.collect::<Vec<_>>(), &values(together.graphs));
        let nodes = alone.iter().flat_map(|embeddings| values(embeddings.nodes.clone()));
        assert_close(&nodes.collect::<Vec<_>>(), &values(together.nodes));
    }
}

#[test]
fn a_node_without_neighbours_is_the_network_of_its_own_features() {
    let device = Device::flex();
    for config in configs() {
        let encoder = config.init(3, 1, &device);
        let input = batch(&[1], &device);
        let found = encoder.forward(&input, Mode::Eval);
        // The graph of a single node has the node's embedding.
        assert_eq!(values(found.graphs), values(found.nodes.clone()));

        // Within another graph, the same features give the same embedding.
        let (mut lonely, row) = (batch(&[2], &device), input.features);
        lonely.features = lonely.features.slice_assign([2..3, 0..3], row);
        let there = encoder.forward(&lonely, Mode::Eval).nodes.slice([2..3, 0..config.dim()]);
        assert_close(&values(there), &values(found.nodes));
    }
}

#[test]
fn the_embedding_of_a_graph_is_the_sum_of_its_nodes() {
    let device = Device::flex();
    let encoder = GinConfig::default().init(3, 1, &device);
    let found = encoder.forward(&batch(&[0, 1, 2], &device), Mode::Train);
    let sum = |range: std::ops::Range<usize>| values(found.nodes.clone().slice([range, 0..96]).sum_dim(0));
    let expected = [sum(0..4), sum(4..5), sum(5..9)].concat();
    assert_close(&values(found.graphs), &expected);
}

#[test]
fn only_the_default_order_gives_signed_embeddings() {
    let device = Device::flex();
    for config in configs() {
        let nodes = config
            .init(3, 1, &device)
            .forward(&batch(&[0, 2], &device), Mode::Train)
            .nodes;
        let has_negatives = values(nodes).iter().any(|&value| value < 0.0);
        assert_eq!(has_negatives, config.order == GinOrder::InfoGraph);
    }
}

/// All parameters and running statistics.
struct Values(Vec<(Vec<usize>, Vec<f32>)>);

impl ModuleVisitor for Values {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.0.push((param.val().dims().to_vec(), values(param.val())));
    }
}

fn parameters(module: &impl Module) -> Vec<(Vec<usize>, Vec<f32>)> {
    let mut all = Values(Vec::new());
    module.visit(&mut all);
    all.0
}

#[test]
fn the_seed_alone_determines_the_start() {
    let device = Device::flex();
    for config in configs() {
        let encoder = |seed| parameters(&config.init(3, seed, &device));
        assert_eq!(encoder(1), encoder(1));
        assert_ne!(encoder(1), encoder(2));
    }
    let head = |seed| parameters(&ResidualHead::new(4, seed, &device));
    assert_eq!(head(1), head(1));
    assert_ne!(head(1), head(2));
    let head = |seed| parameters(&TwoLayerHead::new(4, seed, &device));
    assert_eq!(head(1), head(1));
    assert_ne!(head(1), head(2));
}

#[test]
fn weights_start_xavier_uniform_and_all_else_plain() {
    let device = Device::flex();
    let encoder = GinConfig {
        hidden: 64,
        learn_epsilon: true,
        ..GinConfig::default()
    }
    .init(10, 0, &device);
    let mut tables = 0;
    for (shape, values) in parameters(&encoder)
        .into_iter()
        .chain(parameters(&ResidualHead::new(50, 0, &device)))
        .chain(parameters(&TwoLayerHead::new(50, 0, &device)))
    {
        if let [size_in, size_out] = shape[..] {
            let bound = (6.0 / (size_in + size_out) as f32).sqrt();
            let largest = values.iter().fold(0.0f32, |most, value| most.max(value.abs()));
            assert!((0.97 * bound..=bound).contains(&largest), "{largest} of {bound}");
            let mean = values.iter().sum::<f32>() / values.len() as f32;
            assert!(mean.abs() < 0.1 * bound, "{mean}");
            tables += 1;
        } else {
            // Biases, shifts, means and ε are 0, scales and variances 1.
            assert!(values.iter().all(|&value| value == values[0]) && [0.0, 1.0].contains(&values[0]));
        }
    }
    assert_eq!(tables, 6 + 4 + 2);
}

/// Counts only parameters that get a gradient; the visitor also sees running statistics.
struct TrainableCount(u64);

impl ModuleVisitor for TrainableCount {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if param.val().is_require_grad() {
            self.0 += param.val().shape().num_elements() as u64;
        }
    }
}

fn trainable(module: &impl Module) -> u64 {
    let mut count = TrainableCount(0);
    module.visit(&mut count);
    count.0
}

#[test]
fn parameters_are_counted_without_building_the_encoder() {
    let device = Device::flex().autodiff();
    for config in configs().chain([GinConfig::default()]) {
        assert_eq!(config.num_parameters(7), trainable(&config.init(7, 0, &device)), "{config:?}");
    }
    // Of InfoGraph on MUTAG, with 7 features.
    let config = GinConfig::default();
    assert_eq!(config.num_parameters(7), 5_728);
    assert_eq!(2 * ResidualHead::num_parameters(config.dim()), 74_496);
    assert_eq!(2 * trainable(&ResidualHead::new(config.dim(), 0, &device)), 74_496);
    let head = TwoLayerHead::new(config.dim(), 0, &device);
    assert_eq!(TwoLayerHead::num_parameters(config.dim()), trainable(&head));
}

#[test]
fn saved_numbers_grow_with_layers_and_features() {
    let config = GinConfig::default();
    // Inputs 7 + 32 + 32, two outputs of ReLUs in each layer, and the embedding.
    assert_eq!(config.saved_per_node(7), 71 + 3 * 64 + 96);
    let longer = GinConfig {
        order: GinOrder::Xu2019,
        ..config
    };
    assert_eq!(longer.saved_per_node(7), 71 + 3 * 96 + 96);
    assert_eq!(ResidualHead::saved_per_row(96), 288);
}

#[test]
fn bad_configurations_are_refused_by_name() {
    for (text, expected) in [
        (r#"{ "layers": 0 }"#, "layers is 0, but must be in [1, 64]"),
        (r#"{ "layers": 65 }"#, "layers is 65"),
        (r#"{ "hidden": 0 }"#, "hidden is 0, but must be in [1, 65536]"),
        (r#"{ "hidden": 65537 }"#, "hidden is 65537"),
    ] {
        let config: GinConfig = serde_json::from_str(text).expect("well-formed");
        assert!(config.check().expect_err("out of range").contains(expected), "{text}");
    }
    let config: GinConfig = serde_json::from_str(r#"{ "order": "xu2019", "learn_epsilon": true }"#).expect("well-formed");
    assert_eq!((config.order, config.layers, config.hidden), (GinOrder::Xu2019, 3, 32));
    assert_eq!(serde_json::to_value(GinConfig::default()).unwrap()["order"], "infograph");
    for text in [r#"{ "order": "other" }"#, r#"{ "dim": 3 }"#] {
        assert!(serde_json::from_str::<GinConfig>(text).is_err());
    }
}

#[test]
fn exported_weights_have_readable_names_and_the_layout_of_pytorch() {
    let device = Device::flex();
    for config in configs() {
        let encoder = config.init(3, 1, &device);
        let bytes = to_safetensors(&encoder).expect("a file");
        let length = u64::from_le_bytes(bytes[..8].try_into().expect("8 bytes")) as usize;
        let header: serde_json::Value = serde_json::from_slice(&bytes[8..8 + length]).expect("a header");
        let shape = |name: &str| header[name]["shape"].clone();
        assert_eq!(shape("layers.0.first.weight"), serde_json::json!([5, 3]));
        assert_eq!(shape("layers.1.second.bias"), serde_json::json!([5]));
        assert_eq!(shape("layers.1.norm.running_var"), serde_json::json!([5]));
        assert_eq!(shape("layers.0.norm.weight"), serde_json::json!([5]));
        assert_eq!(!shape("layers.0.inner.bias").is_null(), config.order == GinOrder::Xu2019);
        assert_eq!(!shape("layers.0.epsilon").is_null(), config.learn_epsilon);

        // Another encoder that reads it is the same.
        let mut other = config.init(3, 2, &device);
        let mut store = SafetensorsStore::from_bytes(Some(bytes)).with_from_adapter(PyTorchToBurnAdapter);
        let report = other.load_from(&mut store).expect("a readable file");
        assert!(
            report.errors.is_empty() && report.missing.is_empty() && report.unused.is_empty(),
            "{report:?}"
        );
        assert_eq!(parameters(&other), parameters(&encoder));
    }
}

#[test]
fn a_record_carries_running_statistics_into_another_encoder() {
    let device = Device::flex();
    for config in configs() {
        let encoder = config.init(3, 1, &device);
        let input = batch(&[0, 1, 2], &device);
        encoder.forward(&input, Mode::Train);
        let other = config.init(3, 2, &device).load_record(encoder.clone().into_record());
        let eval = |encoder: &Gin| values(encoder.forward(&input, Mode::Eval).graphs);
        assert_eq!(eval(&other), eval(&encoder));
    }
}

#[test]
fn learning_epsilon_starts_where_the_fixed_one_stays() {
    let device = Device::flex().autodiff();
    let fixed = GinConfig::default();
    let learned = GinConfig {
        learn_epsilon: true,
        ..fixed.clone()
    };
    let input = batch(&[0, 2], &device);
    let [fixed, learned] = [fixed, learned].map(|config| config.init(3, 4, &device));
    let output = learned.forward(&input, Mode::Train).graphs;
    assert_eq!(values(output.clone()), values(fixed.forward(&input, Mode::Train).graphs));
    let gradients = output.powi_scalar(2).sum().backward();
    for layer in &learned.layers {
        let epsilon = layer.epsilon.as_ref().expect("it is learned").val();
        assert_ne!(values(epsilon.grad(&gradients).expect("a gradient")), [0.0]);
    }
}

#[test]
#[should_panic(expected = "3 nodes need 4 edge offsets, but there are 3")]
fn each_node_needs_its_edges() {
    GraphInput::new(Tensor::zeros([3, 1], &Device::flex()), &[0, 3], vec![0, 0, 0], vec![]);
}

#[test]
#[should_panic(expected = "none at (1, 0), so it is not symmetric")]
fn neighbours_must_be_mutual() {
    GraphInput::new(Tensor::zeros([2, 1], &Device::flex()), &[0, 2], vec![0, 1, 1], vec![1]);
}

#[test]
#[should_panic(expected = "the rows end at 2, but there are 3 indices")]
fn all_nodes_belong_to_a_graph() {
    GraphInput::new(Tensor::zeros([3, 1], &Device::flex()), &[0, 2], vec![0; 4], vec![]);
}

#[test]
#[should_panic(expected = "nodes without features cannot be encoded")]
fn an_encoder_needs_features() {
    GinConfig::default().init(0, 0, &Device::flex());
}
