//! The weights of graph encoders and heads, and what they compute.

use super::{
    batch::GraphBatch,
    checks::{check_gradients, check_length, table},
};
use crate::{Array, Gradient};
use serde::Deserialize;
use std::collections::BTreeMap;

/// An encoder on a batch.
#[derive(Debug)]
pub struct GinCase {
    /// Its name.
    pub id: String,
    pub(super) batch: String,
    /// The encoder.
    pub encoder: Gin,
    /// With running statistics.
    pub eval: GinPass,
    /// With statistics of the batch.
    pub train: GinPass,
}

/// A graph isomorphism network.
#[derive(Debug, Clone)]
pub struct Gin {
    /// The order of a layer: `infograph` or `xu2019`.
    pub order: String,
    /// Size of all layers.
    pub hidden: usize,
    /// Whether epsilon has a gradient.
    pub learns_epsilon: bool,
    /// From the features on; at least one.
    pub layers: Vec<GinLayer>,
}

/// The weights of a layer.
#[derive(Debug, Clone)]
pub struct GinLayer {
    /// The additional weight of the node itself.
    pub epsilon: f64,
    /// `w1`, `b1`
    pub first: Affine,
    /// The norm after the first linear layer; order `xu2019` only.
    pub inner: Option<Norm>,
    /// `w2`, `b2`
    pub second: Affine,
    /// The last norm.
    pub norm: Norm,
}

/// A linear layer, `y = x weightᵀ + bias`.
#[derive(Debug, Clone)]
pub struct Affine {
    /// `[out, in]`
    pub weight: Array,
    /// `[out]`
    pub bias: Vec<f64>,
}

/// Weights and running statistics of batch normalisation, one per channel.
#[derive(Debug, Clone, Deserialize)]
#[allow(missing_docs)] // the fields of the file
pub struct Norm {
    pub gamma: Vec<f64>,
    pub beta: Vec<f64>,
    pub running_mean: Vec<f64>,
    pub running_var: Vec<f64>,
}

/// A head: `[Linear, ReLU] x 3 (x) + shortcut(x)`.
#[derive(Debug, Clone)]
pub struct Head {
    /// The layers that ReLU follows.
    pub hidden: Vec<Affine>,
    /// Around them.
    pub shortcut: Affine,
}

/// The output of an encoder, and gradients of the objective
/// `Σ graphs[k] cos(0.37 (k + 1)) + Σ nodes[k] sin(0.11 (k + 1) + 0.5)` over flattened arrays.
#[derive(Debug)]
pub struct GinPass {
    /// `[num_nodes, num_layers · hidden]`
    pub nodes: Array,
    /// `[num_graphs, num_layers · hidden]`
    pub graphs: Array,
    /// The objective.
    pub objective: f64,
    /// Gradients by the names of weights, such as `layers.0.w1` or `layers.0.norm.gamma`, and of `features`.
    pub gradients: BTreeMap<String, Gradient>,
    /// Every norm in the order it is applied, after a step in train mode; empty in eval mode.
    pub norms: Vec<RunningStatistics>,
}

/// The running statistics of a norm after a step.
#[derive(Debug, Deserialize)]
pub struct RunningStatistics {
    /// Running mean.
    #[serde(rename = "running_mean_after")]
    pub mean: Vec<f64>,
    /// Running unbiased variance.
    #[serde(rename = "running_var_after")]
    pub variance: Vec<f64>,
}

#[derive(Deserialize)]
pub(super) struct RawCase {
    id: String,
    batch: String,
    #[serde(flatten)]
    encoder: RawGin,
    eval: RawPass,
    train: RawPass,
}

#[derive(Deserialize)]
pub(super) struct RawGin {
    order: String,
    hidden: usize,
    learn_eps: bool,
    layers: Vec<RawLayer>,
}

#[derive(Deserialize)]
struct RawLayer {
    eps: f64,
    w1: Vec<Vec<f64>>,
    b1: Vec<f64>,
    inner: Option<Norm>,
    w2: Vec<Vec<f64>>,
    b2: Vec<f64>,
    norm: Norm,
}

#[derive(Deserialize)]
pub(super) struct RawHead {
    weights: Vec<Vec<Vec<f64>>>,
    biases: Vec<Vec<f64>>,
    shortcut_weight: Vec<Vec<f64>>,
    shortcut_bias: Vec<f64>,
}

#[derive(Deserialize)]
struct RawPass {
    nodes: Vec<Vec<f64>>,
    graphs: Vec<Vec<f64>>,
    objective: f64,
    gradients: BTreeMap<String, Gradient>,
    #[serde(default)]
    norms: Vec<RunningStatistics>,
}

impl GinCase {
    pub(super) fn new(raw: RawCase, batches: &BTreeMap<String, GraphBatch>) -> Result<Self, String> {
        let batch = batch(batches, &raw.batch)?;
        let encoder = Gin::new(raw.encoder, batch.features.shape[1])?;
        let mut lengths = encoder.lengths();
        lengths.insert("features".to_owned(), batch.features.values.len());
        let num_norms: usize = encoder
            .layers
            .iter()
            .map(|layer| 1 + usize::from(layer.inner.is_some()))
            .sum();
        let pass = |raw: RawPass| -> Result<GinPass, String> {
            check_gradients(&raw.gradients, &lengths)?;
            for norm in &raw.norms {
                check_length("running_mean_after", norm.mean.len(), encoder.hidden)?;
                check_length("running_var_after", norm.variance.len(), encoder.hidden)?;
            }
            Ok(GinPass {
                nodes: table("nodes", raw.nodes, [batch.num_nodes(), encoder.dim()])?,
                graphs: table("graphs", raw.graphs, [batch.num_graphs(), encoder.dim()])?,
                objective: raw.objective,
                gradients: raw.gradients,
                norms: raw.norms,
            })
        };
        let (eval, train) = (pass(raw.eval)?, pass(raw.train)?);
        check_length("norms", train.norms.len(), num_norms)?;
        Ok(Self {
            id: raw.id,
            batch: raw.batch,
            eval,
            train,
            encoder,
        })
    }
}

impl Gin {
    pub(super) fn new(raw: RawGin, num_features: usize) -> Result<Self, String> {
        let hidden = raw.hidden;
        if hidden == 0 || raw.layers.is_empty() {
            return Err("it needs at least one layer of at least one number".to_owned());
        }
        let has_inner = match raw.order.as_str() {
            "infograph" => false,
            "xu2019" => true,
            other => return Err(format!("its order `{other}` is unknown; known are infograph, xu2019")),
        };
        let mut size_in = num_features;
        let mut layers = Vec::new();
        for (index, layer) in raw.layers.into_iter().enumerate() {
            if layer.inner.is_some() != has_inner {
                return Err(format!("`inner` of layer {index} contradicts the order `{}`", raw.order));
            }
            for norm in layer.inner.iter().chain([&layer.norm]) {
                for values in [&norm.gamma, &norm.beta, &norm.running_mean, &norm.running_var] {
                    check_length(&format!("a norm of layer {index}"), values.len(), hidden)?;
                }
            }
            let name = |part: &str| format!("layers.{index}.{part}");
            layers.push(GinLayer {
                epsilon: layer.eps,
                first: Affine::new(&name("w1"), layer.w1, layer.b1, [hidden, size_in])?,
                inner: layer.inner,
                second: Affine::new(&name("w2"), layer.w2, layer.b2, [hidden, hidden])?,
                norm: layer.norm,
            });
            size_in = hidden;
        }
        Ok(Self {
            order: raw.order,
            hidden,
            learns_epsilon: raw.learn_eps,
            layers,
        })
    }

    /// Size of the embedding of a node.
    pub fn dim(&self) -> usize {
        self.layers.len() * self.hidden
    }

    /// The number of values of each weight that has a gradient.
    pub(super) fn lengths(&self) -> BTreeMap<String, usize> {
        let mut lengths = BTreeMap::new();
        for (index, layer) in self.layers.iter().enumerate() {
            let mut add = |part: &str, length: usize| lengths.insert(format!("layers.{index}.{part}"), length);
            for (weight, bias, affine) in [("w1", "b1", &layer.first), ("w2", "b2", &layer.second)] {
                add(weight, affine.weight.values.len());
                add(bias, affine.bias.len());
            }
            let norms = [("norm", Some(&layer.norm)), ("inner", layer.inner.as_ref())];
            for (name, norm) in norms {
                let Some(norm) = norm else { continue };
                add(&format!("{name}.gamma"), norm.gamma.len());
                add(&format!("{name}.beta"), norm.beta.len());
            }
            if self.learns_epsilon {
                add("eps", 1);
            }
        }
        lengths
    }
}

impl Head {
    pub(super) fn new(raw: RawHead, name: &str, dim: usize) -> Result<Self, String> {
        check_length(&format!("{name}.weights"), raw.weights.len(), 3)?;
        check_length(&format!("{name}.biases"), raw.biases.len(), 3)?;
        let affine = |part: &str, weight, bias| Affine::new(&format!("{name}.{part}"), weight, bias, [dim; 2]);
        let hidden = raw.weights.into_iter().zip(raw.biases);
        Ok(Self {
            hidden: hidden
                .map(|(weight, bias)| affine("weights", weight, bias))
                .collect::<Result<_, _>>()?,
            shortcut: affine("shortcut_weight", raw.shortcut_weight, raw.shortcut_bias)?,
        })
    }

    /// The number of values of each weight.
    pub(super) fn lengths(&self, name: &str) -> BTreeMap<String, usize> {
        let mut lengths = BTreeMap::new();
        let mut add = |weight: String, bias: String, affine: &Affine| {
            lengths.insert(format!("{name}.{weight}"), affine.weight.values.len());
            lengths.insert(format!("{name}.{bias}"), affine.bias.len());
        };
        for (index, affine) in self.hidden.iter().enumerate() {
            add(format!("weights.{index}"), format!("biases.{index}"), affine);
        }
        add("shortcut_weight".to_owned(), "shortcut_bias".to_owned(), &self.shortcut);
        lengths
    }
}

impl Affine {
    fn new(name: &str, weight: Vec<Vec<f64>>, bias: Vec<f64>, shape: [usize; 2]) -> Result<Self, String> {
        check_length(&format!("the bias of {name}"), bias.len(), shape[0])?;
        Ok(Self {
            weight: table(name, weight, shape)?,
            bias,
        })
    }
}

pub(super) fn batch<'a>(batches: &'a BTreeMap<String, GraphBatch>, name: &str) -> Result<&'a GraphBatch, String> {
    batches
        .get(name)
        .ok_or_else(|| format!("its batch `{name}` is not among `batches`"))
}
