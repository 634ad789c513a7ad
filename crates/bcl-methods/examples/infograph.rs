//! InfoGraph on generated graphs, for a number of steps: `cargo run -p bcl-methods --example infograph -- 200`
//!
//! The positive of a node is the graph that it belongs to; the other graphs of the batch are its negatives. No label is used until the end,
//! when the nearest graph of the first half tells the class of each graph of the second half.

use bcl_core::{InfoNceLossConfig, Reduction, SideInformation, matmul, unit_rows};
use bcl_data::{
    Seed,
    graphs::{GraphData, PlantedGraphsConfig},
};
use bcl_methods::{InfoGraphConfig, Method, batches::GraphBatch};
use bcl_models::graphs::{Gin, GinConfig, GraphInput, Mode};
use burn::{
    optim::{AdamConfig, GradientsParams},
    tensor::{Device, Tensor, TensorData},
};
use std::{env, error::Error};

const BATCH: usize = 64;

fn main() -> Result<(), Box<dyn Error>> {
    let num_steps = env::args().nth(1).map_or(Ok(200), |steps| steps.parse())?;
    train(num_steps);
    Ok(())
}

fn train(num_steps: u64) {
    let device = Device::flex().autodiff();
    let data = PlantedGraphsConfig {
        graphs: 240,
        ..PlantedGraphsConfig::default()
    }
    .generate();
    let mut method = InfoGraphConfig::default().init(&GinConfig::default(), data.num_features(), Seed(0), &device);
    let loss = InfoNceLossConfig::new().with_temperature(0.2).init();
    let mut optimizer = AdamConfig::new().init();

    let before = accuracy(&method.encoder, &data, &device);
    for step in 0..num_steps {
        let order = data.shuffled(Seed(0).named("order").index(step));
        let batch = batch(&data, &order[..BATCH], Mode::Train, &device);
        let embeddings = method.embed_batch(&batch, usize::MAX);
        let objective = method.objective(&batch, &embeddings, 0..method.num_anchors(&batch));
        let value = objective.losses(&loss, &SideInformation::none()).reduce(Reduction::Mean);
        if step % 20 == 0 {
            println!("step {step:3}: loss {:.3}", value.clone().into_scalar::<f32>());
        }
        let gradients = GradientsParams::from_grads(value.backward(), &method);
        method = optimizer.step(1e-3, method, gradients);
    }
    let after = accuracy(&method.encoder, &data, &device);
    println!("accuracy: {before:.3} before training, {after:.3} after");
}

/// Graphs as one large graph, each of whose nodes is an anchor.
fn batch(data: &GraphData, graphs: &[u32], mode: Mode, device: &Device) -> GraphBatch {
    let batch = data.batch(graphs);
    let shape = [batch.num_nodes(), batch.num_features];
    let features = Tensor::from_data(TensorData::new(batch.features, shape), device);
    GraphBatch {
        input: GraphInput::new(features, &batch.node_offsets, batch.edge_offsets, batch.neighbours),
        anchors: None,
        anchor_graphs: batch.node_graph.into(),
        graphs: graphs.into(),
        classes: None,
        mode,
    }
}

/// The share of the second half of the graphs whose nearest graph of the first half, by the cosine of embeddings, has their class.
fn accuracy(encoder: &Gin, data: &GraphData, device: &Device) -> f64 {
    let order = data.shuffled(Seed(0).named("halves"));
    let (known, asked) = order.split_at(order.len() / 2);
    let [of_known, of_asked] = [known, asked].map(|graphs| {
        let batch = batch(data, graphs, Mode::Eval, device);
        unit_rows(encoder.forward(&batch.input, batch.mode).graphs).detach()
    });
    let class = |graph: u32| data.labels()[graph as usize];
    let nearest = matmul(of_asked, of_known.transpose()).argmax(1).into_data();
    let found = nearest.iter::<i64>().map(|position| class(known[position as usize]));
    let correct = found.zip(asked).filter(|(found, asked)| *found == class(**asked)).count();
    correct as f64 / asked.len() as f64
}

#[cfg(test)]
mod tests {
    #[test]
    fn two_steps_run() {
        super::train(2);
    }
}
