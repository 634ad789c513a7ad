//! The smallest encoder of two views: one layer, so that a test can afford thousands of samples.

use bcl_collective::share;
use bcl_core::{Pairs, Similarity, gradient_cache::blocks};
use bcl_methods::batches::NamedTensors;
use bcl_methods::{Embeddings, Method, Objective};
use burn::{
    module::{Module, Param},
    tensor::{Device, FloatDType, Tensor, TensorData, activation::tanh},
};
use std::ops::Range;

const INPUTS: usize = 100;
pub(crate) const DIM: usize = 4;
pub(crate) const NUM_PARAMETERS: usize = INPUTS * DIM;
const TABLES: [&str; 2] = ["first", "second"];

#[derive(Module, Debug)]
pub(crate) struct TwoViews {
    weight: Param<Tensor<2>>,
}

impl TwoViews {
    pub(crate) fn new(device: &Device) -> Self {
        let weights: Vec<f32> = (0..NUM_PARAMETERS).map(|i| (2.3 * i as f32 + 0.4).sin() / 8.0).collect();
        Self {
            weight: Param::from_tensor(Tensor::from_data(TensorData::new(weights, [INPUTS, DIM]), device)),
        }
    }
}

/// The views of the samples that one process embeds.
#[derive(Debug, Clone)]
pub(crate) struct Samples {
    views: [Tensor<2>; 2],
    batch_size: usize,
}

impl Samples {
    /// The share of a process in a batch whose samples all differ.
    pub(crate) fn of_process(batch_size: usize, process: usize, size: usize, dtype: FloatDType, device: &Device) -> Self {
        let own = share(batch_size, process, size);
        let views = [0.0, 0.3].map(|shift: f64| {
            let numbers =
                (own.start * INPUTS..own.end * INPUTS).map(|i| (0.37 * i as f64).sin() + (shift * i as f64).cos() / 4.0);
            let data = TensorData::new(numbers.collect::<Vec<f64>>(), [own.len(), INPUTS]);
            Tensor::<2>::from_data(data, (device, dtype.into()))
        });
        Self { views, batch_size }
    }
}

impl Method for TwoViews {
    type Encoder = Self;
    type Batch = Samples;
    type Part = [Tensor<2>; 2];

    fn encoder(&self) -> &Self {
        self
    }

    fn parts(batch: &Samples, at_most: usize) -> impl Iterator<Item = Self::Part> {
        let [num_samples, _] = batch.views[0].dims();
        blocks(num_samples, at_most).map(|part| batch.views.clone().map(|view| view.slice_dim(0, part.clone())))
    }

    fn embed(&self, part: &Self::Part) -> Embeddings {
        let [first, second] = part.clone().map(|view| tanh(view.matmul(self.weight.val())));
        Embeddings::new().with(TABLES[0], first).with(TABLES[1], second)
    }

    fn num_anchors(&self, batch: &Samples) -> usize {
        2 * batch.batch_size
    }

    fn objective(&self, _: &Samples, embeddings: &Embeddings, anchors: Range<usize>) -> Objective {
        let [first, second] = TABLES.map(|name| embeddings.rows(name));
        Objective::Pairs(Pairs::from_views_of(first, second, Similarity::Cosine, anchors))
    }

    fn tensors(_: &Samples) -> NamedTensors {
        NamedTensors::default()
    }
}
