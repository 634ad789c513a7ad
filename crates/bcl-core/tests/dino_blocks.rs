//! The loss of DINO on a part of a batch.

use bcl_core::joint_embedding::DinoLossConfig;
use burn::tensor::{Device, Int, Tensor};

#[test]
fn blocks_of_samples_have_the_rows_of_the_whole_batch() {
    let device = Device::flex();
    let logits = |frequency: f64| {
        (Tensor::<1, Int>::arange(0..5 * 7, &device).float() * frequency)
            .sin()
            .reshape([5, 7])
    };
    let views = [0.3, 0.7, 1.1, 1.9].map(logits);
    let center = Tensor::<1>::ones([7], &device) * 0.1;
    let dino = DinoLossConfig::new().init();
    let rows = |rows: std::ops::Range<usize>| -> Vec<f64> {
        let some = views.clone().map(|view| view.slice([rows.clone()]));
        let (teacher, student) = some.split_at(2);
        let losses = dino.forward_no_reduction(teacher, student, center.clone());
        losses.into_data().iter::<f64>().collect()
    };
    let blocks = [rows(0..1), rows(1..5)].concat();
    for (block, whole) in blocks.iter().zip(rows(0..5)) {
        assert!((block - whole).abs() < 1e-6, "{block} is not {whole}");
    }
}
