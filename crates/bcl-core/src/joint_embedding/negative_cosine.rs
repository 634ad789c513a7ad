//! The loss of BYOL and SimSiam.

use crate::unit_rows;
use burn::tensor::Tensor;

/// Computes the negative cosine of each prediction with its target, without a gradient to the target:
///
/// ```text
/// loss_i = -cos(prediction_i, target_i.detach())
/// ```
///
/// BYOL prints `|unit(prediction) - unit(target)|² = 2 - 2 cos`, which is `2 + 2 · loss`: the same up to the learning rate. Both methods
/// predict each view from the other: stack `[p0; p1]` and `[z1; z0]`, and take the mean. BYOL adds the two directions instead.
///
/// A prediction of zeros has a loss of 0, with a gradient of 0.
///
/// # Shapes
/// - predictions, targets: `[num_anchors, dim]`, rows of any length
/// - output:               `[num_anchors]`, in [-1, 1]
///
/// # Panics
/// Panics if the shapes differ.
///
/// Source: Chen, He, [Exploring Simple Siamese Representation Learning](https://arxiv.org/abs/2011.10566), Eq. 1 to 4; Grill et al.,
/// [Bootstrap Your Own Latent](https://arxiv.org/abs/2006.07733), Eq. 2.
///
/// ```
/// use bcl_core::joint_embedding::negative_cosine;
/// use burn::tensor::{Device, Tensor};
///
/// let device = Device::flex();
/// let predictions = Tensor::from_data([[3.0, 4.0], [0.0, 2.0]], &device);
/// let targets = Tensor::from_data([[10.0, 0.0], [0.0, 1.0]], &device);
/// let losses: Vec<f32> = negative_cosine(predictions, targets).into_data().iter().collect();
/// assert!((losses[0] + 0.6).abs() < 1e-6 && (losses[1] + 1.0).abs() < 1e-6);
/// ```
pub fn negative_cosine(predictions: Tensor<2>, targets: Tensor<2>) -> Tensor<1> {
    assert_eq!(
        predictions.dims(),
        targets.dims(),
        "predictions and targets must have one shape"
    );
    let cosines = unit_rows(predictions) * unit_rows(targets.detach());
    cosines.sum_dim(1).neg().squeeze_dim(1)
}
