//! Builds a model node by node.
//!
//! Source: [`onnx.proto`](https://github.com/onnx/onnx/blob/main/onnx/onnx.proto), whose field numbers are below.

use bcl_files::wire::Message;

/// `TensorProto.DataType`.
const FLOAT: i64 = 1;
const INT64: i64 = 7;
/// Versions of the operators, and of the format that came with them.
const OPSET: i64 = 17;
const IR_VERSION: i64 = 8;

/// The input of every model.
pub(super) const INPUT: &str = "images";

/// The nodes, weights and outputs so far.
#[derive(Debug, Default)]
pub(super) struct Graph {
    nodes: Vec<Message>,
    weights: Vec<Message>,
    outputs: Vec<Message>,
}

/// An attribute of a node.
pub(super) enum Attribute<'a> {
    /// A number.
    Float(&'a str, f32),
    /// An integer.
    Int(&'a str, i64),
    /// Several integers.
    Ints(&'a str, Vec<i64>),
}

impl Attribute<'_> {
    fn message(&self) -> Message {
        match self {
            Self::Float(name, value) => Message::new().text(1, name).float(2, *value).int(20, 1),
            Self::Int(name, value) => Message::new().text(1, name).int(3, *value).int(20, 2),
            Self::Ints(name, values) => {
                let named = Message::new().text(1, name);
                values.iter().fold(named, |message, value| message.int(8, *value)).int(20, 7)
            }
        }
    }
}

impl Graph {
    /// Adds a node and returns the name of its output.
    pub(super) fn node(&mut self, operator: &str, inputs: &[&str], attributes: &[Attribute]) -> String {
        let output = format!("{}_{}", operator.to_lowercase(), self.nodes.len());
        self.named_node(operator, inputs, attributes, &output);
        output
    }

    fn named_node(&mut self, operator: &str, inputs: &[&str], attributes: &[Attribute], output: &str) {
        let node = inputs.iter().fold(Message::new(), |node, input| node.text(1, input));
        let node = node.text(2, output).text(3, output).text(4, operator);
        let node = attributes
            .iter()
            .fold(node, |node, attribute| node.message(5, &attribute.message()));
        self.nodes.push(node);
    }

    /// Adds weights and returns their name.
    pub(super) fn floats(&mut self, name: &str, shape: &[usize], values: impl IntoIterator<Item = f32>) -> String {
        let bytes: Vec<u8> = values.into_iter().flat_map(f32::to_le_bytes).collect();
        self.tensor(name, shape, FLOAT, &bytes)
    }

    /// Adds a list of integers and returns its name.
    pub(super) fn integers(&mut self, name: &str, values: &[i64]) -> String {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.tensor(name, &[values.len()], INT64, &bytes)
    }

    fn tensor(&mut self, name: &str, shape: &[usize], kind: i64, bytes: &[u8]) -> String {
        let tensor = shape.iter().fold(Message::new(), |tensor, size| tensor.int(1, *size as i64));
        self.weights.push(tensor.int(2, kind).text(8, name).bytes(9, bytes));
        name.to_owned()
    }

    /// Makes a value an output of the model, `[batch, size]`.
    pub(super) fn output(&mut self, name: &str, value: &str, size: usize) {
        self.named_node("Identity", &[value], &[], name);
        self.outputs.push(tensor_type(name, &[Size::Free("batch"), Size::Of(size)]));
    }

    /// The whole model.
    pub(super) fn into_model(self, metadata: &[(String, String)]) -> Vec<u8> {
        let graph = self.nodes.iter().fold(Message::new(), |graph, node| graph.message(1, node));
        let graph = self
            .weights
            .iter()
            .fold(graph.text(2, "encoder"), |graph, weights| graph.message(5, weights));
        let sizes = [Size::Free("batch"), Size::Of(3), Size::Free("height"), Size::Free("width")];
        let graph = graph.message(11, &tensor_type(INPUT, &sizes));
        let graph = self.outputs.iter().fold(graph, |graph, output| graph.message(12, output));
        let model = Message::new()
            .int(1, IR_VERSION)
            .text(2, env!("CARGO_PKG_NAME"))
            .text(3, env!("CARGO_PKG_VERSION"))
            .message(7, &graph)
            .message(8, &Message::new().text(1, "").int(2, OPSET));
        let entry = |(name, text): &(String, String)| Message::new().text(1, name).text(2, text);
        let model = metadata.iter().fold(model, |model, text| model.message(14, &entry(text)));
        model.into_bytes()
    }
}

/// The size of an axis.
enum Size<'a> {
    Of(usize),
    /// Decided by the caller of the model.
    Free(&'a str),
}

fn tensor_type(name: &str, sizes: &[Size]) -> Message {
    let shape = sizes.iter().fold(Message::new(), |shape, size| {
        let size = match size {
            Size::Of(size) => Message::new().int(1, *size as i64),
            Size::Free(name) => Message::new().text(2, name),
        };
        shape.message(1, &size)
    });
    let tensor = Message::new().int(1, FLOAT).message(2, &shape);
    Message::new().text(1, name).message(2, &Message::new().message(1, &tensor))
}
