//! Losses that know the labels: `cargo run -p bcl-core --example labels`

use bcl_core::{InfoNceLossConfig, Pairs, Reduction, SideInformation, Similarity, SupervisedLossConfig, same_class};
use burn::tensor::{Device, Distribution, Int, Tensor};

const BATCH: usize = 128;

fn main() {
    let device = Device::flex().autodiff();
    let labels = Tensor::<1, Int>::arange(0..BATCH as i64, &device).remainder_scalar(10);
    let [first, second, embeddings] = [0, 1, 2].map(|_| Tensor::<2>::random([BATCH, 64], Distribution::Default, &device));

    // The positive is the other view of the sample; labels only leave out false negatives.
    let side = SideInformation::none().with_same_class(same_class(&labels, 0..2 * BATCH));
    let loss = SupervisedLossConfig::new().init();
    let value = loss.forward_with([first, second], &side, Reduction::Mean);
    println!("two views, true negatives: {:.3}", value.into_scalar::<f32>());

    // Positives are all other samples of the class, negatives all samples of other classes.
    let pairs = Pairs::from_labels(embeddings, labels, Similarity::Cosine);
    let value = InfoNceLossConfig::new().init().forward(pairs, Reduction::Mean);
    println!("positives and negatives by label: {:.3}", value.into_scalar::<f32>());
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_runs() {
        super::main();
    }
}
