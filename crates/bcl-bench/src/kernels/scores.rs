//! Kernels over rows of scores: in-batch scores of growing batches, and a few long rows as from a queue of negatives.

use super::{Implementations, KernelCase, Pass, normal};
use bcl_kernels::{mass, portable, rank_weights, ranked_mass};
use burn::tensor::{Device, Tensor};

/// Number of rows and columns.
const SIZES: [[usize; 2]; 5] = [[512, 510], [2048, 2046], [64, 16_384], [16, 65_536], [8192, 8190]];

/// The temperature of the exponentials.
const TEMPERATURE: f64 = 0.5;

pub(super) fn cases() -> Vec<KernelCase> {
    SIZES.into_iter().flat_map(of_size).collect()
}

fn of_size(shape: [usize; 2]) -> [KernelCase; 5] {
    let case = |kernel, pass, prepare: fn(Pass, Scores) -> Implementations| {
        KernelCase::new(
            kernel,
            format!("{shape:?}"),
            pass,
            shape[0] * shape[1],
            move |pass, device| prepare(pass, Scores::new(shape, pass, device)),
        )
    };
    [
        case("rank_weights", Pass::Forward, weighted),
        case("mass", Pass::Forward, summed),
        case("mass", Pass::Gradients, summed),
        case("ranked_mass", Pass::Forward, weighted_and_summed),
        case("ranked_mass", Pass::Gradients, weighted_and_summed),
    ]
}

fn weighted(pass: Pass, Scores { inputs, table, .. }: Scores) -> Implementations {
    let (outer, same) = (inputs[0].clone(), table.clone());
    Implementations::new(
        pass,
        inputs,
        outer,
        move |inputs| rank_weights(inputs[0].clone(), table.clone()),
        move |inputs| portable::rank_weights(inputs[0].clone(), same.clone()),
    )
}

fn summed(pass: Pass, Scores { inputs, outer, .. }: Scores) -> Implementations {
    Implementations::new(
        pass,
        inputs,
        outer,
        |inputs| mass(inputs[0].clone(), inputs[1].clone(), TEMPERATURE),
        |inputs| terms(inputs).sum_dim(1),
    )
}

fn weighted_and_summed(pass: Pass, scores: Scores) -> Implementations {
    let Scores { inputs, table, outer } = scores;
    let same = table.clone();
    Implementations::new(
        pass,
        inputs,
        outer,
        move |inputs| ranked_mass(inputs[0].clone(), inputs[1].clone(), table.clone(), TEMPERATURE),
        move |inputs| (portable::rank_weights(inputs[0].clone(), same.clone()) * terms(inputs)).sum_dim(1),
    )
}

fn terms(inputs: &[Tensor<2>]) -> Tensor<2> {
    ((inputs[0].clone() - inputs[1].clone()) / TEMPERATURE).exp()
}

/// Scores and offsets, with the inputs of their sums of exponentials.
struct Scores {
    inputs: Vec<Tensor<2>>,
    table: Tensor<1>,
    outer: Tensor<2>,
}

impl Scores {
    fn new([rows, columns]: [usize; 2], pass: Pass, device: &Device) -> Self {
        let scores = normal([rows, columns], device) * 0.1;
        let offsets = Tensor::ones([rows, 1], device);
        Self {
            inputs: [scores, offsets].map(|values| pass.input(values)).to_vec(),
            table: normal([columns], device),
            outer: normal([rows, 1], device),
        }
    }
}
