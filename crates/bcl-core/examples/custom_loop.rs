//! A complete training loop with `bcl-core` and Burn alone: `cargo run -p bcl-core --example custom_loop`
//!
//! The data are points in eight clusters. A few coordinates carry the cluster; the others are noise, which is drawn anew for each view
//! of a point. From two views of each point, without labels, the encoder should learn to ignore the noise, so that points of a cluster
//! come close. The measure is the encoder's AUC: the probability that a point of the same cluster scores above a point of another one.

use bcl_core::{BayesianLossConfig, Pairs, Reduction, Scores, Similarity, auc::auc_of_classes, unit_rows};
use burn::{
    module::Module,
    nn::{Linear, LinearConfig},
    optim::{AdamConfig, GradientsParams},
    tensor::{Device, Distribution, Int, Tensor, activation::relu},
};

const CLUSTERS: usize = 8;
const BATCH: usize = 128;
const SIGNAL: usize = 8;
const NOISE: usize = 24;

/// Any module works: the loss sees embeddings only.
#[derive(Module, Debug)]
struct Encoder {
    hidden: Linear,
    output: Linear,
}

impl Encoder {
    fn new(device: &Device) -> Self {
        Self {
            hidden: LinearConfig::new(SIGNAL + NOISE, 64).init(device),
            output: LinearConfig::new(64, 16).init(device),
        }
    }

    /// `[batch, SIGNAL + NOISE]` to `[batch, 16]`.
    fn forward(&self, points: Tensor<2>) -> Tensor<2> {
        self.output.forward(relu(self.hidden.forward(points)))
    }
}

fn main() {
    let device = Device::flex().autodiff();
    device.seed(7);
    let centres = Tensor::<2>::random([CLUSTERS, SIGNAL], Distribution::Normal(0.0, 1.0), &device);
    let mut encoder = Encoder::new(&device);
    let mut optimizer = AdamConfig::new().init();
    // One of eight samples shares the anchor's cluster by chance, so the prior of a false negative is 1/8.
    let loss = BayesianLossConfig::new()
        .with_temperature(0.2)
        .with_tau_plus(1.0 / CLUSTERS as f64)
        .with_alpha(0.9)
        .with_beta(0.8)
        .init();

    let first_auc = measure(&encoder, &centres);
    for step in 0..=300 {
        // 1. Two views of the same points.
        let (points, _) = draw(&centres);
        let [first, second] = [0, 1].map(|_| encoder.forward(look(&points)));
        // 2. Pairs: every embedding against all others, and against its own other view.
        let pairs = Pairs::from_views(first, second, Similarity::Cosine);
        // 3. The loss: the weight of each negative grows with the probability that it is a true and a hard one.
        let value = loss.forward(pairs, Reduction::Mean);
        if step % 100 == 0 {
            println!("step {step:3}: loss {:.3}", value.clone().into_scalar::<f32>());
        }
        // 4. Backward pass and optimizer step.
        let gradients = GradientsParams::from_grads(value.backward(), &encoder);
        encoder = optimizer.step(3e-3, encoder, gradients);
    }
    println!(
        "AUC by labels: {first_auc:.3} before training, {:.3} after",
        measure(&encoder, &centres)
    );
}

/// Points of random clusters, `[BATCH, SIGNAL]`, and the cluster of each, `[BATCH]`.
fn draw(centres: &Tensor<2>) -> (Tensor<2>, Tensor<1, Int>) {
    let device = centres.device();
    let cluster = Tensor::<1>::random([BATCH], Distribution::Uniform(0.0, CLUSTERS as f64), &device).int();
    let spread = Tensor::random([BATCH, SIGNAL], Distribution::Normal(0.0, 0.2), &device);
    (centres.clone().select(0, cluster.clone()) + spread, cluster)
}

/// One noisy view of each point: `[BATCH, SIGNAL]` to `[BATCH, SIGNAL + NOISE]`.
fn look(points: &Tensor<2>) -> Tensor<2> {
    let noise = Tensor::random([BATCH, NOISE], Distribution::Normal(0.0, 1.0), &points.device());
    Tensor::cat(vec![points.clone(), noise], 1)
}

/// The probability that a point of the same cluster scores above a point of another one. Labels serve to measure, never to train.
fn measure(encoder: &Encoder, centres: &Tensor<2>) -> f64 {
    let [(points, cluster), (others, other_cluster)] = [0, 1].map(|_| draw(centres));
    let [anchors, positives, negatives] = [&points, &points, &others].map(|points| unit_rows(encoder.forward(look(points))));
    let same_class = cluster.unsqueeze_dim::<2>(1).equal(other_cluster.unsqueeze_dim(0));
    let scores = Scores::new(
        (anchors.clone() * positives).sum_dim(1).squeeze_dim(1),
        anchors.matmul(negatives.transpose()),
    );
    auc_of_classes(&scores, &same_class).expect("every cluster has members")
}
