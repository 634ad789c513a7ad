//! From two views of a batch to a loss and its gradient, as the README shows it: `cargo run -p bcl-core --example two_views`

use bcl_core::{BayesianLossConfig, Reduction};
use burn::tensor::{Device, Distribution, Tensor};

fn main() {
    let device = Device::flex().autodiff();
    // The embeddings of two views of the same 128 samples: 128 rows of 64 values each.
    let [first, second] = [0, 1].map(|_| Tensor::<2>::random([128, 64], Distribution::Default, &device).require_grad());

    let loss = BayesianLossConfig::new().with_tau_plus(0.1).init();
    let value = loss.forward([first.clone(), second], Reduction::Mean);

    let gradients = value.backward();
    let gradient = first.grad(&gradients).expect("the loss depends on the first views");
    println!("loss {:.3}, gradient {:?}", value.into_scalar::<f32>(), gradient.dims());
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_runs() {
        super::main();
    }
}
